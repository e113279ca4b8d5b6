package legacy

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
)

// Config is what one run fixes for all its pods.
type Config struct {
	// Template is the text of the injection config's `template`, exactly as the YAML reader gives it: its hash goes
	// into every pod's status annotation, and a final newline counts.
	Template string
	// TemplatePos is the place of the template's first line.
	TemplatePos policy.Position
	// Values are the Helm values of the injector, numbers as float64. Templates see them as .Values; the engine
	// itself reads global.proxy.holdApplicationUntilProxyStarts.
	Values map[string]any
	// Mesh is the effective mesh configuration; nil means the release's defaults.
	Mesh    *Mesh
	Version Version
	// Revision is written to the label istio.io/rev, also when it is empty.
	Revision string
	// InjectedAnnotations are put on each injected pod after everything else.
	InjectedAnnotations map[string]string
	// TemplateEnv answers the template function env; other names give the default of the call.
	TemplateEnv map[string]string
}

// Workload is one pod template and the object that it was found in. For a bare Pod, ObjectMeta is the pod's own.
type Workload struct {
	TypeMeta   metav1.TypeMeta
	ObjectMeta metav1.ObjectMeta
	Pod        corev1.PodTemplateSpec
}

// Engine injects with one configuration. It is safe for concurrent use.
type Engine struct {
	templates *renderings
	pos       policy.Position
	version   Version
	behaviour behaviour
	mesh      *Mesh
	values    map[string]any
	revision  string
	injected  map[string]string
	// hash is the version in the status annotation.
	hash   string
	checks map[string]func(string) error
}

// New parses the template. It gives no engine and an error where the template is empty or does not parse; an engine
// may come with warnings.
func New(cfg Config) (*Engine, []policy.Finding) {
	if strings.TrimSpace(cfg.Template) == "" {
		return nil, []policy.Finding{{
			Code: CodeConfig, Severity: policy.Error, Position: cfg.TemplatePos,
			Message: "the injection configuration has no template",
			Hint:    "give the whole value of the key config of Istio's ConfigMap istio-sidecar-injector",
		}}
	}
	templates, f := parse(cfg)
	if f != nil {
		return nil, []policy.Finding{*f}
	}
	sum := sha256.Sum256([]byte(cfg.Template))
	e := &Engine{
		templates: templates,
		pos:       cfg.TemplatePos,
		version:   cfg.Version,
		behaviour: cfg.Version.behaviour(),
		mesh:      cfg.Mesh,
		values:    cfg.Values,
		revision:  cfg.Revision,
		injected:  cfg.InjectedAnnotations,
		hash:      hex.EncodeToString(sum[:]),
		checks:    checks(),
	}
	if e.mesh == nil {
		e.mesh = DefaultMesh(cfg.Version)
	}
	e.checks[policy.AnnotationProxyConfig] = proxyConfig(cfg.Version)
	return e, e.holdInVain()
}

// Inject gives the injected pod. The workload is not changed. Findings with severity error mean that there is no
// result and the pod given back is the one that came; warnings and notices come along with a result. Fields are
// paths from the pod template; positions are set only where a finding is about the template.
//
// Nothing is injected, and Trace.Skipped says why, where the pod has no container or has an istio-proxy of its own.
func (e *Engine) Inject(w Workload) (corev1.PodTemplateSpec, []policy.Finding, Trace) {
	pod, notes := Strip(w.Pod, Stripping{Annotations: e.injected, KeepFSGroup: e.mesh.SdsUdsPath == ""})
	if reason, f := skip(pod); reason != "" {
		return w.Pod, []policy.Finding{f}, Trace{Skipped: reason}
	}
	if fs := e.checkAnnotations(pod.Annotations); len(fs) > 0 {
		return w.Pod, fs, Trace{}
	}
	spec, fs := e.render(w, &pod)
	if spec == nil {
		return w.Pod, fs, Trace{}
	}
	fs = append(notable(notes), fs...)
	if clashes := clashes(&pod, spec); len(clashes) > 0 {
		return w.Pod, append(fs, clashes...), Trace{}
	}
	r := &run{engine: e, spec: spec, pod: &pod, findings: fs, trace: traceOf(spec)}
	for _, s := range steps() {
		if s.apply(r) {
			r.trace.Steps = append(r.trace.Steps, s.name)
		}
	}
	return pod, r.findings, r.trace
}

// notable leaves out the notices of stripping: what they speak of is put back by the injection that follows.
func notable(notes []policy.Finding) []policy.Finding {
	var out []policy.Finding
	for _, f := range notes {
		if f.Severity > policy.Info {
			out = append(out, f)
		}
	}
	return out
}

// render gives the spec for one workload, nil where a finding is an error.
func (e *Engine) render(w Workload, pod *corev1.PodTemplateSpec) (*Spec, []policy.Finding) {
	data, err := e.data(w, pod)
	if err != nil {
		return nil, []policy.Finding{{
			Code: CodeAnnotation, Severity: policy.Error, Field: annotationField(policy.AnnotationProxyConfig),
			Message: err.Error(),
		}}
	}
	r := e.templates.get()
	text, fs := r.run(data)
	e.templates.put(r)
	if text == nil {
		return nil, fs
	}
	spec, more := parseSpec(text, e.pos)
	return spec, append(fs, more...)
}

// skip tells why a pod is left as it is, "" if it is not.
func skip(pod corev1.PodTemplateSpec) (reason string, f policy.Finding) {
	if len(pod.Spec.Containers) == 0 {
		return "no containers", policy.Finding{
			Code: CodeNoContainers, Severity: policy.Info, Field: "spec.containers",
			Message: "the pod has no containers; it is left as it is",
		}
	}
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"spec.containers", pod.Spec.Containers}, {"spec.initContainers", pod.Spec.InitContainers}} {
		if i := indexOf(list.containers, policy.ContainerProxy); i >= 0 {
			return "has an istio-proxy", policy.Finding{
				Code: CodeHasProxy, Severity: policy.Info, Field: item(list.field, i),
				Message: "the pod has an istio-proxy that no status annotation accounts for; it is left as it is",
				Hint:    "remove the container to have it injected",
			}
		}
	}
	return "", policy.Finding{}
}
