package transform

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/config/profile"
)

// The layers that a value can come from.
const (
	// LayerDefault is what is built in: Istio's default mesh config, or the values of the embedded profile.
	LayerDefault = "default"
	LayerMesh    = "mesh"
	LayerValues  = "values"
	LayerConfig  = "config"
	// LayerSet is --set and its kin, LayerFlag another flag.
	LayerSet  = "set"
	LayerFlag = "flag"
	// LayerRoot, LayerNamespace and LayerWorkload are ProxyConfig resources.
	LayerRoot       = "proxyconfig-root"
	LayerNamespace  = "proxyconfig-namespace"
	LayerWorkload   = "proxyconfig-workload"
	LayerAnnotation = "annotation"
	LayerLabel      = "label"
	// LayerOverride is the pod's own container of the injected name.
	LayerOverride = "override"
	// LayerTemplate is a text of the template itself, LayerDerived what follows from other facts.
	LayerTemplate = "template"
	LayerDerived  = "derived"
)

// Layered is a value in one layer.
type Layered struct {
	Value  string
	Layer  string
	Source policy.Position
}

// Value is one setting of the proxy as it ends up in the pod, and where it came from.
type Value struct {
	Name string
	Layered
	// Note says more where layer and place do not tell it all.
	Note string
	// Overridden are the layers below that also have the value, highest first.
	Overridden []Layered
	// Runtime is what the agent makes of it when the pod starts; nil where that is the same.
	Runtime *Layered
	// Fields are the paths in the pod template where the value ends.
	Fields []string
	// Rules are the lint rules that object to the value.
	Rules []string
}

// explaining is the explanation of one pod template in the making.
type explaining struct {
	watch    *watch
	doc      *documentWork
	view     view
	facts    policy.Facts
	workload *Workload
	// firstFinding is where the template's findings begin among the document's.
	firstFinding int
	// original is the pod that the templates saw.
	original corev1.PodTemplateSpec
	layers   ProxyConfigLayers
	// proxy and init are the injected containers, nil where there is none; env, args and redirect what they are given.
	proxy, init         *corev1.Container
	proxyPath, initPath string
	env                 map[string]corev1.EnvVar
	values              []Value
	// annotationTree is proxy.istio.io/config as data, with the line of each path in it.
	annotationTree  map[string]any
	annotationLines map[string]int
	// effective is the pod's ProxyConfig as data.
	effective map[string]any
}

// hasErrors tells whether findings from an index on hold an error.
func (w *documentWork) hasErrors(from int) bool {
	return from <= len(w.result.Findings) && policy.HasErrors(w.result.Findings[from:])
}

func (x *explaining) surroundings() *Surroundings {
	if s := x.watch.explainer.src.Setup.Surroundings; s != nil {
		return s()
	}
	return nil
}

func (x *explaining) run() *Explanation {
	x.firstFinding = min(x.watch.seen, len(x.doc.result.Findings))
	defer func() { x.watch.seen = len(x.doc.result.Findings) }()
	out := &Explanation{}
	if x.watch.out != nil && x.workload.Decision.Inject && x.workload.Action != Failed {
		x.prepare()
		x.collect()
		out.Values = x.values
		out.Shutdown = x.shutdown()
		out.Changes = x.changes()
		out.Bootstrap = x.bootstrap()
		x.settle(out)
	}
	out.Trail = x.trail()
	return out
}

// prepare finds what the values are read from.
func (x *explaining) prepare() {
	x.original = x.view.template
	if x.watch.recorder != nil && len(x.watch.recorder.Steps) > 0 {
		x.original = x.watch.recorder.Original
	}
	src := x.watch.explainer.src
	x.layers = x.surroundings().ProxyConfigs(src.Bundle.Mesh.Config.GetRootNamespace(), x.facts.Namespace, x.original.Labels)
	spec := &x.watch.out.Template.Spec
	x.proxy, x.proxyPath = containerAt(spec, policy.ContainerProxy)
	if x.init, x.initPath = containerAt(spec, policy.ContainerInit); x.init == nil {
		x.init, x.initPath = containerAt(spec, policy.ContainerValidation)
	}
	x.env = map[string]corev1.EnvVar{}
	if x.proxy != nil {
		for _, e := range x.proxy.Env {
			x.env[e.Name] = e
		}
	}
	x.annotationTree, x.annotationLines = yamlTree(x.original.Annotations[policy.AnnotationProxyConfig])
	pc := cmp.Or(x.watch.out.Trace.ProxyConfig, src.Bundle.Mesh.Config.GetDefaultConfig())
	if text, err := pc.MarshalJSON(); err == nil {
		_ = json.Unmarshal(text, &x.effective)
	}
	if x.watch.out.Trace.ProxyConfig == nil {
		// The legacy engine renders what differs from the mesh's own.
		_ = json.Unmarshal([]byte(x.env["PROXY_CONFIG"].Value), &x.effective)
	}
}

// native tells whether the proxy ended as a native sidecar.
func (x *explaining) native() bool { return strings.HasPrefix(x.proxyPath, "spec.initContainers") }

func containerAt(spec *corev1.PodSpec, name string) (*corev1.Container, string) {
	for list, cs := range map[string][]corev1.Container{"containers": spec.Containers, "initContainers": spec.InitContainers} {
		if i := slices.IndexFunc(cs, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
			return &cs[i], "spec." + list + "[" + name + "]"
		}
	}
	return nil, ""
}

// yamlTree reads a text as plain data, keys in camel case, with the line of each dotted path.
func yamlTree(text string) (map[string]any, map[string]int) {
	lines := map[string]int{}
	var doc yaml.Node
	if text == "" || yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return nil, lines
	}
	tree, _ := plain(doc.Content[0], "", lines, 0).(map[string]any)
	return tree, lines
}

func plain(n *yaml.Node, path string, lines map[string]int, depth int) any {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if depth > 50 {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if !strings.Contains(path, "proxyMetadata") && !strings.Contains(path, "runtimeValues") {
				key = camel(key)
			}
			p := strings.TrimPrefix(path+"."+key, ".")
			lines[p] = n.Content[i].Line
			out[key] = plain(n.Content[i+1], p, lines, depth+1)
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			out = append(out, plain(c, path+"."+strconv.Itoa(i), lines, depth+1))
		}
		return out
	}
	var v any
	if n.Decode(&v) != nil {
		return n.Value
	}
	if i, ok := v.(int); ok {
		return float64(i)
	}
	return v
}

// camel writes a proto field's name as JSON does.
func camel(key string) string {
	parts := strings.Split(key, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}

// dig gives the value at a path of mappings, nil where it ends early.
func dig(root map[string]any, path ...string) any {
	var v any = root
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

// has tells a value that is there and null from none.
func has(root map[string]any, path ...string) bool {
	parent, ok := dig(root, path[:len(path)-1]...).(map[string]any)
	if !ok {
		return false
	}
	_, ok = parent[path[len(path)-1]]
	return ok
}

// show prints plain data as one line.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any, []any:
		text, err := json.Marshal(v)
		if err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(v)
}

// annotationPlace is where an annotation of the template stands.
func (x *explaining) annotationPlace(key string) policy.Position {
	if n := walkField(x.view.place.Node, "metadata.annotations["+key+"]"); n != nil {
		return x.doc.parsed.Position(n)
	}
	return policy.Position{}
}

func (x *explaining) labelPlace(key string) policy.Position {
	if n := walkField(x.view.place.Node, "metadata.labels["+key+"]"); n != nil {
		return x.doc.parsed.Position(n)
	}
	return policy.Position{}
}

// annotation is an annotation as a layer, none where it is absent.
func (x *explaining) annotation(key string) []Layered {
	if v, ok := x.original.Annotations[key]; ok {
		return []Layered{{v, LayerAnnotation, x.annotationPlace(key)}}
	}
	return nil
}

func (x *explaining) label(key string) []Layered {
	if v, ok := x.original.Labels[key]; ok {
		return []Layered{{v, LayerLabel, x.labelPlace(key)}}
	}
	return nil
}

// flag is a flag as a layer, none where it is empty.
func flag(name, value string) []Layered {
	if value == "" {
		return nil
	}
	return []Layered{{value, LayerFlag, policy.Position{File: name}}}
}

func literal(layer, value string) []Layered {
	return []Layered{{value, layer, policy.Position{}}}
}

// setting gives a value of the values file in all layers that have it: set flags, the file, the built-in values.
func (x *explaining) setting(path ...string) []Layered {
	src := x.watch.explainer.src
	out := valueLayer(src.Bundle, path)
	if len(out) > 0 && out[0].Layer == LayerSet && src.Unset != nil {
		out = append(out, valueLayer(src.Unset, path)...)
	}
	if src.Bundle.EmbeddedTemplates && (len(out) == 0 || out[len(out)-1].Layer != LayerDefault) {
		if v := profile.Values(); has(v, path...) {
			out = append(out, Layered{show(dig(v, path...)), LayerDefault, policy.Position{File: embeddedValues}})
		}
	}
	return out
}

// embeddedValues is the name of the built-in values file, as [Embedded] gives it.
const embeddedValues = "embedded profile/values.json"

func valueLayer(b *config.Bundle, path []string) []Layered {
	if !has(b.Values.Tree, path...) {
		return nil
	}
	at := b.Values.Origin(path...)
	layer := LayerValues
	switch {
	case strings.HasPrefix(at.File, "--set"):
		layer = LayerSet
	case at.File == embeddedValues:
		layer, at = LayerDefault, policy.Position{File: embeddedValues}
	}
	return []Layered{{show(dig(b.Values.Tree, path...)), layer, at}}
}

// proxyField gives a field of ProxyConfig in all layers that have it, highest first (explain layers 6 to 1).
func (x *explaining) proxyField(path ...string) []Layered {
	src := x.watch.explainer.src
	var out []Layered
	out = append(out, resourceLayer(x.layers.Workload, LayerWorkload, path)...)
	if has(x.annotationTree, path...) {
		out = append(out, Layered{show(dig(x.annotationTree, path...)), LayerAnnotation, x.configLine(path)})
	}
	out = append(out, resourceLayer(x.layers.Namespace, LayerNamespace, path)...)
	out = append(out, resourceLayer(x.layers.Root, LayerRoot, path)...)
	mesh := meshLayer(src.Bundle, path)
	if len(mesh) > 0 && mesh[0].Layer == LayerSet && src.Unset != nil {
		mesh = append(mesh, meshLayer(src.Unset, path)...)
	}
	out = append(out, mesh...)
	return append(out, codeLayer(src.Bundle.Istio.Engine, path)...)
}

// configLine is the place of a field in the text of proxy.istio.io/config.
func (x *explaining) configLine(path []string) policy.Position {
	n := walkField(x.view.place.Node, "metadata.annotations["+policy.AnnotationProxyConfig+"]")
	if n == nil {
		return policy.Position{}
	}
	return inText(x.doc.parsed, n, x.annotationLines[strings.Join(path, ".")], 1, 0).Position
}

// resourceLayer gives what a ProxyConfig resource says about a field.
func resourceLayer(r *ProxyConfigResource, layer string, path []string) []Layered {
	if r == nil {
		return nil
	}
	dotted := strings.Join(path, ".")
	switch {
	case dotted == "concurrency" && r.Concurrency != nil:
		return []Layered{{strconv.Itoa(int(*r.Concurrency)), layer, r.Places[dotted]}}
	case dotted == "image.imageType" && r.HasImage:
		return []Layered{{r.ImageType, layer, r.Places[dotted]}}
	case len(path) == 2 && path[0] == "proxyMetadata":
		if v, ok := r.Env[path[1]]; ok {
			return []Layered{{v, layer, r.Places["environmentVariables."+path[1]]}}
		}
	}
	return nil
}

// meshLayer gives what the mesh config says about a field of its defaultConfig.
func meshLayer(b *config.Bundle, path []string) []Layered {
	return meshField(b, append([]string{"defaultConfig"}, path...))
}

// meshField gives what the mesh config says about a field.
func meshField(b *config.Bundle, path []string) []Layered {
	var root map[string]any
	text := b.Mesh.Document()
	if text == nil || json.Unmarshal(text, &root) != nil || !has(root, path...) || dig(root, path...) == nil {
		return nil
	}
	at := b.Mesh.Origin(path...)
	layer := LayerMesh
	if strings.HasPrefix(at.File, "--set") {
		layer = LayerSet
	}
	return []Layered{{show(dig(root, path...)), layer, at}}
}

// codeLayer gives Istio's default of a field.
func codeLayer(e config.Engine, path []string) []Layered {
	var tree map[string]any
	text, err := config.DefaultProxyConfig(e).MarshalJSON()
	if err != nil || json.Unmarshal(text, &tree) != nil || !has(tree, path...) {
		return nil
	}
	return []Layered{{show(dig(tree, path...)), LayerDefault, policy.Position{}}}
}
