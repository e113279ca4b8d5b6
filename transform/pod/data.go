package pod

import (
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
)

// Data is what a template sees. Users have templates of their own written against these names and types
// (istio/istio, pkg/kube/inject/inject.go, SidecarTemplateData, union of 1.24 to 1.31).
type Data struct {
	TypeMeta                 metav1.TypeMeta
	DeploymentMeta           metav1.ObjectMeta
	ObjectMeta               metav1.ObjectMeta
	Spec                     corev1.PodSpec
	ProxyConfig              *meshconfig.ProxyConfig
	MeshConfig               *meshconfig.MeshConfig
	Values                   map[string]any
	Revision                 string
	NativeSidecars           bool
	ProxyImage               string
	ProxyInitImage           string
	ProxyUID                 int64
	ProxyGID                 int64
	InboundTrafficPolicyMode string
	CompliancePolicy         string
}

// newData fills the template data of this pod.
func (w *work) newData() *Data {
	uid, gid := int64(policy.ProxyUserID), int64(policy.ProxyUserID)
	if w.opts.ProxyIDs != nil {
		uid, gid = w.opts.ProxyIDs(w.in.Namespace)
	}
	pc := w.mesh.GetDefaultConfig()
	image := w.image(pc, "proxy")
	initImage := image
	if w.opts.Behaviour.ProxyInitImage {
		initImage = w.image(pc, "proxy_init")
	}
	return &Data{
		TypeMeta: w.in.TypeMeta, DeploymentMeta: w.in.Owner,
		ObjectMeta: w.original.ObjectMeta, Spec: w.original.Spec,
		ProxyConfig: pc, MeshConfig: w.mesh, Values: w.opts.Values,
		Revision: w.revision(), NativeSidecars: w.opts.Native,
		ProxyImage: image, ProxyInitImage: initImage, ProxyUID: uid, ProxyGID: gid,
		InboundTrafficPolicyMode: inboundMode(w.mesh), CompliancePolicy: w.opts.CompliancePolicy,
	}
}

// revision is --revision, else the values' own; "default" counts as none.
func (e *Engine) revision() string {
	r := e.opts.Revision
	if r == "" {
		r = e.values.text("revision")
	}
	if r == policy.DefaultRevision {
		return ""
	}
	return r
}

func inboundMode(mesh *meshconfig.MeshConfig) string {
	if mesh.GetInboundTrafficPolicy().GetMode() == meshconfig.MeshConfig_InboundTrafficPolicy_LOCALHOST {
		return "localhost"
	}
	return "passthrough"
}

// image gives hub/image:tag with the variant of the annotation, else of the proxy config, else of the values
// (istio/istio, pkg/kube/inject/webhook.go, ProxyImage, 1.30). Part is the values key below global: proxy, proxy_init.
func (w *work) image(pc *meshconfig.ProxyConfig, part string) string {
	name := w.values.text("global", part, "image")
	if name == "" {
		name = "proxyv2"
	}
	variant := w.values.text("global", "variant")
	if img := pc.GetImage(); img != nil {
		variant = img.GetImageType()
	}
	if v, ok := w.original.Annotations[policy.AnnotationProxyImageType]; ok {
		variant = v
	}
	tag := w.values.text("global", "tag")
	if variant != "" {
		tag = withVariant(tag, variant)
	}
	return w.values.text("global", "hub") + "/" + name + ":" + tag
}

// withVariant puts a variant behind the tag, in the place of one that is there; "default" takes it away.
func withVariant(tag, variant string) string {
	for _, known := range []string{"-distroless", "-debug"} {
		tag = strings.TrimSuffix(tag, known)
	}
	if variant == "default" {
		return tag
	}
	return tag + "-" + variant
}
