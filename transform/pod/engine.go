package pod

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/template"
	"github.com/kube-inject/inject/transform/typed"
)

// Text is a template as the injection config holds it.
type Text struct {
	Text string
	// Position is the place of the text's first line in its file.
	Position policy.Position
}

// Options is one configuration of the engine; the maps in it are only read.
type Options struct {
	// Templates, Aliases, DefaultTemplates and InjectedAnnotations are those of the injection config.
	Templates           map[string]Text
	Aliases             map[string][]string
	DefaultTemplates    []string
	InjectedAnnotations map[string]string
	// DefaultsPosition is where DefaultTemplates stands.
	DefaultsPosition policy.Position
	// Values is the values file as a tree, numbers as float64.
	Values map[string]any
	// Mesh is the effective mesh config, defaults filled in.
	Mesh *meshconfig.MeshConfig
	// ProxyConfig merges the text of proxy.istio.io/config over the mesh's defaultConfig.
	ProxyConfig func(annotation string) (*meshconfig.ProxyConfig, error)
	// ProxyConfigs gives the proxy config of a pod where ProxyConfig resources have a say in it, with the text of the
	// annotation, empty for none, in its place among them. It gives nil where no resource does; nil means there is none.
	ProxyConfigs func(namespace string, labels map[string]string, annotation string) (*meshconfig.ProxyConfig, error)
	// ProxyDefaults are the defaults that protoToJSON leaves out.
	ProxyDefaults *meshconfig.ProxyConfig
	// Revision is that of the control plane; "" and "default" are the same.
	Revision string
	// Native says whether the sidecar runs as a native sidecar where the pod does not say.
	Native bool
	// Proxy holds the environment variables that the webhook's URL sets: policy.EnvClusterID, policy.EnvNetwork, others.
	Proxy map[string]string
	// Env answers the template function env.
	Env map[string]string
	// ProxyIDs gives the user and group of the proxy for a namespace; nil means 1337 everywhere.
	ProxyIDs func(namespace string) (uid, gid int64)
	// CompliancePolicy is what templates see under this name.
	CompliancePolicy string
	// Behaviour is what differs between Istio's versions.
	Behaviour Behaviour
}

// Behaviour is what differs between the engines of Istio's minor versions, as far as a pod shows it
// (conformance/versions.md); the zero value is 1.24.
type Behaviour struct {
	// RewriteLifecycle sends HTTP and TCP lifecycle handlers through the agent (1.25).
	RewriteLifecycle bool
	// ProxyInitImage gives the init containers the image of global.proxy_init (1.31).
	ProxyInitImage bool
	// ScrapeTargets reads prometheus.istio.io/scrape-targets, checks the prometheus port and sets the secure port (1.31).
	ScrapeTargets bool
}

// Engine injects pods by one configuration. It is safe for concurrent use.
type Engine struct {
	opts     Options
	schema   *typed.Schema
	values   values
	parsed   map[string]*lazyTemplate
	defaults []string
}

// New checks the options and gives the engine. Templates are parsed when they are first used, so that a config may
// hold templates that this engine does not know; Check parses them all.
func New(opts Options) *Engine {
	e := &Engine{opts: opts, schema: &typed.Schema{}, values: values{opts.Values}, parsed: map[string]*lazyTemplate{}}
	if opts.Revision == policy.DefaultRevision {
		e.opts.Revision = ""
	}
	funcs := lazyFunctions(template.Environment{
		Env: opts.Env, ProxyDefaults: opts.ProxyDefaults, MeshProxy: opts.Mesh.GetDefaultConfig(),
	})
	for name, text := range opts.Templates {
		e.parsed[name] = &lazyTemplate{name: name, text: text, funcs: funcs}
	}
	e.defaults = opts.DefaultTemplates
	if len(e.defaults) == 0 {
		e.defaults = []string{"sidecar"}
	}
	return e
}

// Schema gives the field tables that the engine has read, for use beside it.
func (e *Engine) Schema() *typed.Schema { return e.schema }

// TemplateNames gives the names of the templates, sorted.
func (e *Engine) TemplateNames() []string { return slices.Sorted(maps.Keys(e.parsed)) }

// Check parses every template and gives what is wrong with them.
func (e *Engine) Check() []policy.Finding {
	var out []policy.Finding
	for _, name := range e.TemplateNames() {
		if _, f := e.parsed[name].get(); f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// Input is one pod template and what it belongs to.
type Input struct {
	// Template is the pod template, or the metadata and spec of a Pod. It is only read.
	Template corev1.PodTemplateSpec
	// TypeMeta and Owner are the workload that templates see as .TypeMeta and .DeploymentMeta.
	TypeMeta metav1.TypeMeta
	Owner    metav1.ObjectMeta
	// Namespace is where the pod will run, from its own metadata, the workload's or a flag.
	Namespace string
	// Recorder is told of every step; nil for none.
	Recorder *Recorder
}

// Output is the injected pod and what was done.
type Output struct {
	Template corev1.PodTemplateSpec
	// Overlays are the rendered templates in order; the writer takes the order of keys from them.
	Overlays []Overlay
	Trace    Trace
	Warnings []policy.Finding
}

// Trace is what injection did, as data.
type Trace struct {
	Templates []string
	// Native tells where istio-proxy went; NativeBy names what said so: annotation or flag.
	Native   bool
	NativeBy string
	// Hold tells that the application waits for the proxy, HoldBy which layer asked for it.
	Hold   bool
	HoldBy string
	// Image is the template data .ProxyImage.
	Image string
	// Stripped tells that an earlier injection was taken out first.
	Stripped bool
	// Overridden names the injected containers that the user's pod sets fields of.
	Overridden []string
	// Probes are the paths of rewritten probes and handlers; Prometheus tells that scraping goes to the agent.
	Probes     []string
	Prometheus bool
	Cluster    string
	Network    string
	// Skipped says why the engine left the pod alone although the rules said yes; empty otherwise.
	Skipped string
	// Injected is what the templates added, by name.
	Injected Status
	// ProxyConfig is the effective one of this pod.
	ProxyConfig *meshconfig.ProxyConfig
}

// work is one pod on its way through the steps.
type work struct {
	*Engine
	in Input
	// original is the pod without an earlier injection; what the templates see.
	original corev1.PodTemplateSpec
	// pod is the result so far, injected the same overlays over an empty pod: what is ours.
	pod      corev1.PodTemplateSpec
	injected corev1.PodTemplateSpec
	mesh     *meshconfig.MeshConfig
	proxy    map[string]string
	data     *Data
	out      *Output
}

// step changes w.pod; an error ends the pod.
type step struct {
	name string
	run  func(*work) []policy.Finding
}

// steps are in the order of Istio's injector (pkg/kube/inject/webhook.go, injectPod, 1.30). Environment variables are
// appended in this order, so it shows in the result.
func steps() []step {
	return []step{
		{"render", (*work).render},
		{"overrides", (*work).reapplyOverrides},
		{"proxy-user", (*work).adjustProxyUser},
		{"cluster", (*work).setCluster},
		{"prometheus", (*work).mergePrometheus},
		{"probes", (*work).rewriteProbes},
		{"status", (*work).writeStatus},
		{"order", (*work).order},
		{"check", (*work).check},
	}
}

// Inject gives the injected pod. Findings of severity error mean that there is none; their Field is a path in the pod
// template, their position, where it is set, a place in the configuration.
func (e *Engine) Inject(in Input) (*Output, []policy.Finding) {
	w := &work{Engine: e, in: in, out: &Output{}}
	stripped, notes := Strip(in.Template)
	if !stripped.Stripped {
		own, more := WithOverrides(stripped.Template)
		stripped.Template, notes = own, append(notes, more...)
	}
	w.original = stripped.Template
	in.Recorder.begin(&w.original)
	w.out.Trace.Stripped = stripped.Stripped
	for _, n := range notes {
		if n.Severity > policy.Info {
			w.out.Warnings = append(w.out.Warnings, n)
		}
	}
	if fs := w.effective(); len(fs) > 0 {
		return nil, fs
	}
	for _, s := range steps() {
		if fs := s.run(w); len(fs) > 0 {
			return nil, fs
		}
		in.Recorder.keep(s.name, "", &w.pod)
	}
	w.out.Template = w.pod
	return w.out, nil
}

// effective works out the mesh and proxy config of this pod.
func (w *work) effective() []policy.Finding {
	w.mesh = w.opts.Mesh
	pc := w.mesh.GetDefaultConfig()
	text, annotated := w.original.Annotations[policy.AnnotationProxyConfig]
	own, err := w.resources(text)
	if own == nil && err == nil && annotated {
		own, err = w.opts.ProxyConfig(text)
	}
	if err != nil {
		return []policy.Finding{annotationError(policy.AnnotationProxyConfig, err.Error(),
			"write YAML with fields of Istio's ProxyConfig")}
	}
	if own != nil {
		pc = own
		w.mesh = shallowMesh(w.opts.Mesh)
		w.mesh.DefaultConfig = pc
	}
	w.out.Trace.ProxyConfig = pc
	return nil
}

// resources gives the proxy config where ProxyConfig resources count, else nil.
func (w *work) resources(annotation string) (*meshconfig.ProxyConfig, error) {
	if w.opts.ProxyConfigs == nil {
		return nil, nil
	}
	return w.opts.ProxyConfigs(w.in.Namespace, w.original.Labels, annotation)
}

func annotationError(name, message, hint string) policy.Finding {
	return policy.Finding{
		Code: "E_ANNOTATION", Severity: policy.Error, Field: "metadata.annotations[" + name + "]",
		Message: message, Hint: hint,
	}
}

func failure(code, field, message, hint string) []policy.Finding {
	return []policy.Finding{{Code: code, Severity: policy.Error, Field: field, Message: message, Hint: hint}}
}

func (w *work) warn(code, field, message, hint string) {
	w.out.Warnings = append(w.out.Warnings, policy.Finding{
		Code: code, Severity: policy.Warning, Field: field, Message: message, Hint: hint,
	})
}

// selected gives the names of the templates to run: those of the annotation, else the defaults, aliases expanded once.
func (w *work) selected() ([]string, []policy.Finding) {
	names := w.defaults
	field := ""
	if text, ok := w.original.Annotations[policy.AnnotationTemplates]; ok {
		names = nil
		field = "metadata.annotations[" + policy.AnnotationTemplates + "]"
		for n := range strings.SplitSeq(text, ",") {
			names = append(names, strings.TrimSpace(n))
		}
	}
	var out []string
	for _, n := range names {
		if more, ok := w.opts.Aliases[n]; ok {
			out = append(out, more...)
		} else {
			out = append(out, n)
		}
	}
	for _, n := range out {
		if w.parsed[n] == nil {
			known := slices.Sorted(maps.Keys(w.opts.Aliases))
			known = append(known, w.TemplateNames()...)
			slices.Sort(known)
			fs := failure("E_TEMPLATE_UNKNOWN", field,
				fmt.Sprintf("template %q is not known; the config has %s", n, cmp.Or(strings.Join(known, ", "), "none")),
				"correct the name, or give the config file that has it: --inject-config-file")
			if field == "" {
				fs[0].Position, fs[0].Hint = w.opts.DefaultsPosition, "correct defaultTemplates, or add the template"
			}
			return nil, fs
		}
	}
	return out, nil
}
