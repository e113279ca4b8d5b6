package transform

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

func typedGet(n *yaml.Node, key string) *yaml.Node { return typed.Get(n, key) }

func isString(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && typed.ScalarKind(n) == typed.String
}

// template lints one pod template.
func (l *Linter) template(p *manifest.Parsed, o workload.Object, t workload.Template,
	spaces map[string]*lint.Namespace, s *suppressions,
) []policy.Finding {
	w := &documentWork{Injector: l.Injector, parsed: p, result: &Result{}}
	v := w.view(o, t)
	f := l.facts(w, v, spaces)
	l.inject(w, v, f)
	s.annotation(o.Resource, f.Own.Annotations, locate(p, o.Node))
	s.annotation(o.Resource, f.Template.Annotations, locate(p, t.Node))
	defer s.leave()
	out := lint.Workload(l.opts.Rules, f)
	failed := policy.HasErrors(out)
	for _, problem := range v.problems {
		if l.covered(f, problem) {
			continue
		}
		failed = true
		out = append(out, policy.Finding{
			Code: problem.Code, Severity: policy.Error, Message: problem.Message, Hint: problem.Hint,
			Field: joinField(t.Field(o), problem.Path), Position: p.Position(problem.Node),
			Resource: o.Resource, Document: p.Doc.Index,
		})
	}
	if !failed && len(f.Failure) > 0 {
		// What no rule explains is said in the engine's words.
		w.warnings(v, f.Failure)
		out = append(out, w.result.Findings...)
	}
	return s.apply(out)
}

// covered tells whether a rule speaks of a value of the wrong type.
func (l *Linter) covered(f *lint.Facts, p typed.Problem) bool {
	_, on := l.active["inject-value-invalid"]
	return on && strings.HasSuffix(p.Path, "["+policy.LabelInject+"]") && len(f.Unquoted) > 0
}

// facts gathers what rules may know before injection.
func (l *Linter) facts(w *documentWork, v view, spaces map[string]*lint.Namespace) *lint.Facts {
	p, o, t := w.parsed, v.object, v.place
	f := &lint.Facts{
		Run: l.run, Locator: l.locator(p, o, &t), Resource: o.Resource, Document: p.Doc.Index,
		Template: v.template, Original: v.template, Proxy: l.bundle.Mesh.Config.GetDefaultConfig(),
		ProxyUID: policy.ProxyUserID, ProxyGID: policy.ProxyUserID,
	}
	if len(t.Path) != len(o.Path) {
		f.Own = metav1.ObjectMeta{
			Name: o.Resource.Name, Namespace: o.Resource.Namespace,
			Labels: stringMap(o.Metadata, "labels"), Annotations: stringMap(o.Metadata, "annotations"),
		}
	}
	decision := w.facts(v)
	f.Decision = policy.Decide(decision)
	f.Namespace = spaces[decision.Namespace]
	for _, problem := range v.problems {
		unquoted(f, problem)
	}
	f.SidecarTypes = sidecarTypes(t.Spec)
	if text, ok := v.template.Annotations[policy.AnnotationProxyConfig]; ok {
		f.Config = readText(text)
		pc, _, fs := l.bundle.Mesh.ProxyConfig(text, policy.Position{})
		if pc != nil && !policy.HasErrors(fs) {
			f.Proxy = pc
		}
		f.ConfigProblems = policy.Errors(fs)
	}
	return f
}

// unquoted files a label or annotation that is no string.
func unquoted(f *lint.Facts, p typed.Problem) {
	for _, m := range []string{"labels", "annotations"} {
		key, ok := strings.CutPrefix(p.Path, "metadata."+m)
		if !ok || p.Node == nil || p.Node.Kind != yaml.ScalarNode {
			continue
		}
		key = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(key, "["), "]"), ".")
		if f.Unquoted == nil {
			f.Unquoted = map[string]map[string]string{}
		}
		if f.Unquoted[m] == nil {
			f.Unquoted[m] = map[string]string{}
		}
		f.Unquoted[m][key] = p.Node.Value
	}
}

// sidecarTypes finds the fields lifecycle.type, which the API does not have.
func sidecarTypes(spec *yaml.Node) []lint.SidecarType {
	var out []lint.SidecarType
	for _, list := range []string{"initContainers", "containers"} {
		cs := typed.Get(spec, list)
		if cs == nil || cs.Kind != yaml.SequenceNode {
			continue
		}
		for i, c := range cs.Content {
			if n := typed.Get(typed.Get(c, "lifecycle"), "type"); n != nil && n.Kind == yaml.ScalarNode {
				out = append(out, lint.SidecarType{List: list, Index: i, Value: n.Value})
			}
		}
	}
	return out
}

// inject adds what injection makes of the pod, in memory.
func (l *Linter) inject(w *documentWork, v view, f *lint.Facts) {
	stripped, _ := pod.Strip(v.template)
	f.Original = stripped.Template
	f.Hold = f.Proxy.GetHoldApplicationUntilProxyStarts().GetValue() || l.valuesHold()
	if !f.Decision.Inject || len(v.problems) > 0 {
		return
	}
	for _, n := range v.place.CheckNames(v.object) {
		if n.Severity == policy.Error {
			f.Failure = append(f.Failure, n.Finding)
		}
	}
	if len(f.Failure) > 0 {
		return
	}
	facts := w.facts(v)
	out, fs := l.Injector.opts.Engine.Inject(w.input(v, facts.Namespace))
	if out == nil || policy.HasErrors(fs) {
		f.Failure = fs
		return
	}
	f.After = &out.Template
	f.Added = lint.Added{
		InitContainers: l.literal(out.Trace.Injected.InitContainers),
		Containers:     l.literal(out.Trace.Injected.Containers), Volumes: out.Trace.Injected.Volumes,
	}
	f.Hold = f.Hold || out.Trace.Hold
	if out.Trace.ProxyConfig != nil {
		f.Proxy = out.Trace.ProxyConfig
	}
	for _, c := range slices.Concat(out.Template.Spec.Containers, out.Template.Spec.InitContainers) {
		if c.Name == policy.ContainerProxy && c.SecurityContext != nil {
			f.ProxyUID = proxyID(c.SecurityContext.RunAsUser)
			f.ProxyGID = proxyID(c.SecurityContext.RunAsGroup)
		}
	}
	if l.opts.Output && f.AlreadyInjected() {
		f.Changed = l.changed(v, out)
	}
}

// literal leaves only the names that stand in the text of a template. Some templates go through the pod's own
// containers to add to them, and then those are among what they render.
func (l *Linter) literal(names []string) []string {
	var out []string
	for _, n := range names {
		for _, t := range l.bundle.Injection.Templates {
			if strings.Contains(t.Text, "name: "+n) {
				out = append(out, n)
				break
			}
		}
	}
	return out
}

// proxyID is the id that redirection leaves out. A proxy that runs as root for its capabilities is told by group only.
func proxyID(id *int64) int64 {
	if id == nil || *id == 0 {
		return policy.ProxyUserID
	}
	return *id
}

func (l *Linter) valuesHold() bool {
	global, _ := l.bundle.Values.Tree["global"].(map[string]any)
	proxy, _ := global["proxy"].(map[string]any)
	hold, _ := proxy["holdApplicationUntilProxyStarts"].(bool)
	return hold
}

// changed lists the fields that another injection would change: image and revision first.
func (l *Linter) changed(v view, out *pod.Output) []lint.Change {
	if _, sealed := v.template.Annotations[policy.AnnotationSealed]; sealed {
		if f := seal(&out.Template); f != nil {
			return nil
		}
	}
	if v.place.Shape == workload.PodSpec {
		return nil
	}
	d := l.schema.Diff(&v.template, &out.Template, nil, v.place.Node, mergedOrder(out.Overlays))
	var first, rest []lint.Change
	for _, c := range d.Changes {
		change := lint.Change{}
		n := v.place.Node
		for _, s := range c.Path {
			key := s.Key
			if s.IsIndex {
				key = strconv.Itoa(s.Index)
			}
			change.Path = append(change.Path, key)
			n = child(n, key)
		}
		change.Was, change.Becomes = shortScalar(n), shortScalar(c.Value)
		last := ""
		if len(change.Path) > 0 {
			last = change.Path[len(change.Path)-1]
		}
		if last == "image" || last == policy.AnnotationRevision {
			first = append(first, change)
		} else {
			rest = append(rest, change)
		}
	}
	return append(first, rest...)
}

// shortScalar is a scalar that fits into a message.
func shortScalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || len(n.Value) > 60 || strings.Contains(n.Value, "\n") {
		return ""
	}
	return n.Value
}
