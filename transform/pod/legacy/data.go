package legacy

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
)

// Data is what a template sees, by the names of 1.6 and 1.7 (istio/istio, pkg/kube/inject/inject.go,
// SidecarTemplateData, 1.7.8).
type Data struct {
	TypeMeta *metav1.TypeMeta
	// DeploymentMeta is the workload's whole metadata, of whatever kind the workload is.
	DeploymentMeta *metav1.ObjectMeta
	// ObjectMeta is the pod template's.
	ObjectMeta *metav1.ObjectMeta
	// Spec is the pod before injection.
	Spec        *corev1.PodSpec
	ProxyConfig *ProxyConfig
	MeshConfig  *Mesh
	Values      map[string]any
}

// data gives the template's view of a workload whose pod has been stripped. A proxy.istio.io/config applies here
// and nowhere else; it has been checked.
func (e *Engine) data(w Workload, pod *corev1.PodTemplateSpec) (*Data, error) {
	mesh := *e.mesh
	if text, ok := pod.Annotations[policy.AnnotationProxyConfig]; ok {
		pc, err := withProxyConfig(mesh.DefaultConfig, text)
		if err != nil {
			return nil, err
		}
		mesh.DefaultConfig = pc
	}
	return &Data{
		TypeMeta: &w.TypeMeta, DeploymentMeta: &w.ObjectMeta, ObjectMeta: &pod.ObjectMeta, Spec: &pod.Spec,
		ProxyConfig: mesh.DefaultConfig, MeshConfig: &mesh, Values: e.values,
	}, nil
}
