package pod

import (
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/template"
	"github.com/kube-inject/inject/transform/typed"
)

// Overlay is a rendered template.
type Overlay struct {
	Template string
	// Node is the mapping with metadata and spec.
	Node *yaml.Node
}

// lazyTemplate parses its text when it is first asked for.
type lazyTemplate struct {
	name  string
	text  Text
	funcs func() template.FuncMap

	once    sync.Once
	parsed  *template.Template
	finding *policy.Finding
}

func (t *lazyTemplate) get() (*template.Template, *policy.Finding) {
	t.once.Do(func() {
		t.parsed, t.finding = template.Parse(t.name, t.text.Text, t.text.Position, t.funcs())
	})
	return t.parsed, t.finding
}

// lazyFunctions makes the function map once, when the first template is parsed.
func lazyFunctions(env template.Environment) func() template.FuncMap {
	return sync.OnceValue(func() template.FuncMap { return template.Functions(env) })
}

// render runs the selected templates and lays each over the pod, and over an empty pod, which is then what was
// injected.
func (w *work) render() []policy.Finding {
	names, fs := w.selected()
	if len(fs) > 0 {
		return fs
	}
	w.data = w.newData()
	w.out.Trace.Templates = names
	w.out.Trace.Image = w.data.ProxyImage
	w.out.Trace.Native, w.out.Trace.NativeBy = w.wantsNative()
	w.pod = *w.original.DeepCopy()
	for _, name := range names {
		t, f := w.parsed[name].get()
		if f != nil {
			return []policy.Finding{*f}
		}
		if t.Mutates() {
			w.data.Values, _ = clone(w.opts.Values).(map[string]any)
		}
		text, f := t.Render(w.data)
		if f != nil {
			return []policy.Finding{*f}
		}
		node, f := parseOverlay(w.opts.Templates[name], name, text)
		if f != nil {
			return []policy.Finding{*f}
		}
		if node == nil {
			w.warn("W_TEMPLATE_EMPTY", "", fmt.Sprintf("template %q renders nothing for this pod", name), "")
			continue
		}
		w.out.Overlays = append(w.out.Overlays, Overlay{name, node})
		if fs := w.lay(name, node); len(fs) > 0 {
			return fs
		}
		w.in.Recorder.keep("template", name, &w.pod)
	}
	return nil
}

// lay merges one overlay. A proxy that one side has among the containers and the other among the init containers
// would end up in both: the user's moves to where the template has it, a later template's to where an earlier one put
// it. Istio does the first only where flag or annotation say exactly true.
func (w *work) lay(name string, node *yaml.Node) []policy.Finding {
	spec := typed.Get(node, "spec")
	if hasProxy(w.injected.Spec.InitContainers) {
		node = moveProxy(node)
		spec = typed.Get(node, "spec")
	}
	if listHas(typed.Get(spec, "initContainers"), policy.ContainerProxy) {
		moveContainer(&w.pod.Spec.Containers, &w.pod.Spec.InitContainers)
	}
	if ps := w.schema.Merge(&w.injected, node); len(ps) > 0 {
		return w.overlayProblems(name, ps)
	}
	if ps := w.schema.Merge(&w.pod, node); len(ps) > 0 {
		return w.overlayProblems(name, ps)
	}
	return nil
}

// wantsNative tells whether the proxy is to be a native sidecar, and what says so. The template decides by the same
// rule: an annotation that is not empty and not "false" is a yes.
func (w *work) wantsNative() (bool, string) {
	if v := w.original.Annotations[policy.AnnotationNativeSidecar]; v != "" {
		return v != "false", "annotation"
	}
	return w.opts.Native, "flag"
}

func hasProxy(cs []corev1.Container) bool { return find(cs, policy.ContainerProxy) != nil }

// find gives the container of that name; nil where there is none.
func find(cs []corev1.Container, name string) *corev1.Container {
	for i := range cs {
		if cs[i].Name == name {
			return &cs[i]
		}
	}
	return nil
}

// moveContainer moves istio-proxy from one list to the end of the other.
func moveContainer(from, to *[]corev1.Container) {
	for i := range *from {
		if (*from)[i].Name != policy.ContainerProxy {
			continue
		}
		c := (*from)[i]
		rest := append([]corev1.Container(nil), (*from)[:i]...)
		*from = append(rest, (*from)[i+1:]...)
		*to = append((*to)[:len(*to):len(*to)], c)
		return
	}
}

func listHas(list *yaml.Node, name string) bool {
	if list == nil {
		return false
	}
	for _, c := range list.Content {
		if n := typed.Get(c, "name"); n != nil && n.Value == name {
			return true
		}
	}
	return false
}

// moveProxy gives an overlay whose istio-proxy stands in initContainers instead of containers.
func moveProxy(node *yaml.Node) *yaml.Node {
	spec := typed.Get(node, "spec")
	containers := typed.Get(spec, "containers")
	if !listHas(containers, policy.ContainerProxy) {
		return node
	}
	var proxy *yaml.Node
	rest := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, c := range containers.Content {
		if n := typed.Get(c, "name"); n != nil && n.Value == policy.ContainerProxy {
			proxy = c
		} else {
			rest.Content = append(rest.Content, c)
		}
	}
	inits := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if have := typed.Get(spec, "initContainers"); have != nil && have.Kind == yaml.SequenceNode {
		inits.Content = append(inits.Content, have.Content...)
	}
	inits.Content = append(inits.Content, proxy)
	return with(node, "spec", with(with(spec, "containers", rest), "initContainers", inits))
}

// with gives a copy of a mapping in which key has the value v; an empty list takes the key out.
func with(m *yaml.Node, key string, v *yaml.Node) *yaml.Node {
	out := *m
	out.Content = nil
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != key {
			out.Content = append(out.Content, m.Content[i], m.Content[i+1])
		}
	}
	if v.Kind != yaml.SequenceNode || len(v.Content) > 0 {
		out.Content = append(out.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v)
	}
	return &out
}

// parseOverlay reads rendered text: a mapping, or nil where it holds nothing.
func parseOverlay(source Text, name string, text []byte) (*yaml.Node, *policy.Finding) {
	root, ok := readBlocks(text)
	if !ok {
		var doc yaml.Node
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return nil, notYAML(source, name, text, err)
		}
		if len(doc.Content) > 0 {
			root = typed.Deref(doc.Content[0])
		}
	}
	if typed.IsNull(root) {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &policy.Finding{
			Code: "E_TEMPLATE_YAML", Severity: policy.Error, Position: source.Position,
			Message: fmt.Sprintf("template %q does not render a mapping", name),
			Hint:    "a template renders the metadata and spec of a Pod",
		}
	}
	return root, nil
}

// notYAML explains rendered text that does not parse, by the line that it broke at.
func notYAML(source Text, name string, text []byte, err error) *policy.Finding {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if _, after, ok := strings.Cut(rest, ": "); ok {
			message = after
		}
	}
	if message == "did not find expected key" || message == "mapping values are not allowed in this context" {
		message = "bad indentation, or a value that needs quotes"
	}
	line, rendered := brokenLine(text)
	return &policy.Finding{
		Code: "E_TEMPLATE_YAML", Severity: policy.Error, Position: locate(source, rendered),
		Message: fmt.Sprintf("template %q renders text that is not YAML: %s, at rendered line %d: %s", name, message, line, clip(rendered)),
		Hint:    "look for a value that needs quotes, or for indentation",
	}
}

// brokenLine finds where text stops to be YAML: the line behind the longest part, in whole lines, that can be read. The
// library names the line where the broken block starts, which is often far above.
func brokenLine(text []byte) (line int, rendered string) {
	lines := strings.SplitAfter(string(text), "\n")
	for n := min(len(lines), 500) - 1; n > 0; n-- {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(strings.Join(lines[:n], "")), &doc) == nil {
			return n + 1, strings.TrimSpace(lines[n])
		}
	}
	return 1, strings.TrimSpace(lines[0])
}

// locate finds the line of the template that a rendered line came from: the only one that starts with the same key.
func locate(source Text, rendered string) policy.Position {
	key, _, found := strings.Cut(strings.TrimPrefix(rendered, "- "), ":")
	at := source.Position
	if !found || key == "" {
		return at
	}
	hits := 0
	for i, line := range strings.Split(source.Text, "\n") {
		if strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(line), "- "), key+":") {
			at.Line = source.Position.Line + i
			hits++
		}
	}
	if hits != 1 {
		return source.Position
	}
	return at
}

// clip shortens text for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// overlayProblems words what the rendered text holds that a Pod does not have.
func (w *work) overlayProblems(name string, problems []typed.Problem) []policy.Finding {
	source := w.opts.Templates[name]
	var out []policy.Finding
	for _, p := range problems {
		f := policy.Finding{
			Code: "E_TEMPLATE_FIELD", Severity: policy.Error, Position: source.Position,
			Message: fmt.Sprintf("template %q renders %s: %s", name, p.Path, p.Message), Hint: p.Hint,
		}
		if p.Node != nil && p.Node.Kind == yaml.ScalarNode && p.Code == typed.CodeUnknown {
			f.Position = locate(source, p.Node.Value+":")
		}
		out = append(out, f)
	}
	return out
}

// shallowMesh copies the top level of a mesh config, so that its defaultConfig can be another one.
func shallowMesh(m *meshconfig.MeshConfig) *meshconfig.MeshConfig {
	out := &meshconfig.MeshConfig{}
	from, to := m.ProtoReflect(), out.ProtoReflect()
	from.Range(func(fd fieldDescriptor, v value) bool { to.Set(fd, v); return true })
	return out
}
