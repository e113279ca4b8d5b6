package cli

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/pod"
)

// trialPod is a built-in pod that config check renders templates for.
type trialPod struct {
	// what describes the pod in a message: "tried on …".
	what string
	kind metav1.TypeMeta
	// change makes the plain pod into this one.
	change func(*corev1.PodTemplateSpec)
}

func (tp trialPod) input() pod.Input {
	t := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "trial"}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
	}
	tp.change(&t)
	kind := tp.kind
	if kind.Kind == "" {
		kind = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
	}
	return pod.Input{
		Template: t, Namespace: "default", TypeMeta: kind, Owner: metav1.ObjectMeta{Name: "trial", Namespace: "default"},
	}
}

// trialPods are the pods, each for the branches of a template that the others do not reach.
func trialPods() []trialPod {
	annotated := func(kv ...string) func(*corev1.PodTemplateSpec) {
		return func(t *corev1.PodTemplateSpec) {
			for i := 0; i < len(kv); i += 2 {
				t.Annotations[kv[i]] = kv[i+1]
			}
		}
	}
	return []trialPod{
		{what: "a plain pod", change: func(*corev1.PodTemplateSpec) {}},
		{
			what: "a pod of a Job without labels", kind: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
			change: func(t *corev1.PodTemplateSpec) { t.Labels = nil },
		},
		{what: "a pod with ports, probes, an init container and a security context", change: fullPod},
		{
			what: "a pod that waits for the proxy",
			change: annotated(policy.AnnotationProxyConfig,
				"holdApplicationUntilProxyStarts: true\nconcurrency: 2\nproxyMetadata: {A: b}\ntracing: {zipkin: {address: 'zipkin:9411'}}\n"),
		},
		{what: "a pod with a native sidecar", change: annotated(policy.AnnotationNativeSidecar, "true")},
		{
			what: "a pod with traffic annotations",
			change: annotated(
				"sidecar.istio.io/interceptionMode", "TPROXY",
				"traffic.sidecar.istio.io/includeInboundPorts", "8080",
				"traffic.sidecar.istio.io/excludeInboundPorts", "9090",
				"traffic.sidecar.istio.io/includeOutboundPorts", "443",
				"traffic.sidecar.istio.io/excludeOutboundPorts", "3306",
				"traffic.sidecar.istio.io/includeOutboundIPRanges", "10.0.0.0/8",
				"traffic.sidecar.istio.io/excludeOutboundIPRanges", "169.254.169.254/32",
				"traffic.sidecar.istio.io/kubevirtInterfaces", "net1",
			),
		},
		{
			what: "a pod with proxy settings",
			change: annotated(
				"sidecar.istio.io/proxyImage", "proxy:1",
				"sidecar.istio.io/proxyCPU", "100m", "sidecar.istio.io/proxyCPULimit", "1",
				"sidecar.istio.io/proxyMemory", "128Mi", "sidecar.istio.io/proxyMemoryLimit", "256Mi",
				"sidecar.istio.io/logLevel", "debug", "sidecar.istio.io/componentLogLevel", "misc:error",
				"sidecar.istio.io/enableCoreDump", "true",
				"sidecar.istio.io/userVolume", `[{"name":"own","emptyDir":{}}]`,
				"sidecar.istio.io/userVolumeMount", `[{"name":"own","mountPath":"/own"}]`,
				"status.sidecar.istio.io/port", "15020",
				"readiness.status.sidecar.istio.io/periodSeconds", "5",
			),
		},
		{what: "a pod with its own istio-proxy container", change: func(t *corev1.PodTemplateSpec) {
			t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: policy.ContainerProxy, Image: "auto"})
		}},
	}
}

func fullPod(t *corev1.PodTemplateSpec) {
	user, yes := int64(1000), true
	t.Annotations["prometheus.io/scrape"] = "true"
	t.Annotations["prometheus.io/port"] = "9090"
	t.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user, RunAsNonRoot: &yes, FSGroup: &user}
	t.Spec.InitContainers = []corev1.Container{{Name: "prepare", Image: "prepare:1"}}
	t.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	app := &t.Spec.Containers[0]
	app.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {ContainerPort: 9090, Protocol: corev1.ProtocolUDP}}
	app.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")}}
	app.ReadinessProbe = &corev1.Probe{ProbeHandler: get}
	app.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}}
	app.StartupProbe = &corev1.Probe{ProbeHandler: get}
}
