package lint

import (
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// Run is what is the same for all workloads of a run.
type Run struct {
	// Kubernetes and Istio are the versions that rules about versions assume.
	Kubernetes, Istio lifecycle.Version
	// Values is the values file as plain data, numbers as float64. ValueAt gives the place of a value in its file.
	Values  map[string]any
	ValueAt func(path ...string) policy.Position
	// Mesh is the effective mesh config. MeshAt gives the place of a field that a file sets, zero for a default.
	Mesh   *meshconfig.MeshConfig
	MeshAt func(path ...string) policy.Position
	// Templates are the names that inject.istio.io/templates may hold, aliases among them.
	Templates []string
	// Revisions are the revisions and tags of the mesh; nil where they are unknown.
	Revisions []string
	// Output says that the manifests are meant to hold an injected proxy.
	Output bool
}

// Span is a place in an input and where it ends; an end of zero is unknown.
type Span struct {
	policy.Position
	EndLine, EndColumn int
}

// Where names a field: the object it belongs to and the path below that object, list indexes in decimal.
type Where struct {
	Place policy.Place
	Path  []string
	// Key asks for the place of the key instead of its value's.
	Key bool
}

// Locator finds fields of one document.
type Locator struct {
	// Span gives the place of a field, or of the nearest one around it that exists.
	Span func(Where) Span
	// Base is the path from the document's root to the object of a place.
	Base func(policy.Place) []string
	// Field is the same path as people read it, from the workload on.
	Field func(policy.Place) string
	// InText gives the place of a span of the text of proxy.istio.io/config, line and column counted from 1.
	InText func(line, column, length int) Span
}

// Facts is all that a rule may know about one pod template.
type Facts struct {
	*Run
	Locator
	// Resource and Document name the workload.
	Resource policy.Resource
	Document int
	// Own is the workload's own metadata: labels, annotations, name and namespace. For a Pod it is empty, since what it
	// says stands in Template.
	Own metav1.ObjectMeta
	// Template is the pod template as written, Original the same without an earlier injection.
	Template, Original corev1.PodTemplateSpec
	// Unquoted holds labels and annotations whose value is no string, as written, by the map ("labels", "annotations")
	// and the key. The cluster refuses them, so Template does not hold them.
	Unquoted map[string]map[string]string
	// SidecarTypes are the containers with a field lifecycle.type, by list ("containers", "initContainers") and index,
	// with the field's value.
	SidecarTypes []SidecarType
	Decision     policy.Decision
	// After is the injected pod template; nil where the pod is not injected or that fails, and then Failure says why.
	After   *corev1.PodTemplateSpec
	Failure []policy.Finding
	// Added are the names of what the templates put in.
	Added Added
	// Hold tells that mesh, values or pod ask the application to wait for the proxy.
	Hold bool
	// Changed are the fields that differ between the pod as written and After, best first; only where Run.Output.
	Changed []Change
	// Proxy is the effective ProxyConfig: the mesh's with the pod's annotation over it.
	Proxy *meshconfig.ProxyConfig
	// Config is the text of proxy.istio.io/config taken apart; nil where there is none.
	Config *Text
	// ConfigProblems say what keeps that text from being a ProxyConfig; Field is the path in it.
	ConfigProblems []policy.Finding
	// Namespace is the one the pod will run in, where the input holds it; else nil.
	Namespace *Namespace
	// ProxyUID and ProxyGID are the user and group of the proxy in this namespace.
	ProxyUID, ProxyGID int64

	// model is worked out when a rule asks first.
	model *lifecycle.Facts
}

// SidecarType is a field lifecycle.type of a container.
type SidecarType struct {
	List  string
	Index int
	Value string
}

// Added names what the templates put into a pod.
type Added struct {
	InitContainers, Containers, Volumes []string
}

// Change is a field that another injection would change.
type Change struct {
	// Path is the field in the pod template.
	Path []string
	// Was and Becomes are the values where they are short scalars, else empty.
	Was, Becomes string
}

// Namespace is a Namespace object of the input.
type Namespace struct {
	*Run
	Locator
	Resource            policy.Resource
	Document            int
	Labels, Annotations map[string]string
}
