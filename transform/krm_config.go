package transform

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Names of the functionConfig.
const (
	// FunctionAPIVersion and FunctionKind head a functionConfig of our own.
	FunctionAPIVersion = policy.Prefix + "/v1alpha1"
	FunctionKind       = "Injector"

	modeTransform = "Transform"
	modeValidate  = "Validate"
)

// functionSpec is what a functionConfig says.
type functionSpec struct {
	validate, passItems, quiet  bool
	seal, strict, ignorePolicy  bool
	profile                     string
	config, values, mesh        part
	maps                        *configMaps
	set, setMesh                []config.Set
	revision, istioVersion      string
	namespace, cluster, network string
	kubeVersion                 string
	native                      Native
	namespaceLabels             map[string]string
	namespacesFromInput         bool
	kinds                       []string
}

// part is one of the three files: its text, or where it is.
type part struct {
	given        bool
	inline, path string
}

// configMaps says under which names the mesh's own ConfigMaps stand among the items.
type configMaps struct {
	namespace, injector, mesh, revision string
}

// specField is one field of the spec. set takes its value and gives what is wrong with it.
type specField struct {
	name string
	set  func(n *yaml.Node, at string) []policy.Finding
}

// readFunctionConfig reads our own kind, or a ConfigMap with the same words flat under data. None at all, and one with
// metadata only, as kustomize fn run --exec-path sends it, mean the embedded profile.
func readFunctionConfig(n *yaml.Node) (functionSpec, []policy.Finding) {
	spec := functionSpec{passItems: true}
	if n == nil {
		return spec, nil
	}
	id := objectOf(n)
	switch {
	case id.APIVersion == "v1" && id.Kind == "ConfigMap":
		return spec, spec.fromData(n)
	case workload.Group(id.APIVersion) != policy.Prefix:
		if typed.IsNull(typed.Get(n, "spec")) && typed.IsNull(typed.Get(n, "data")) {
			return spec, nil
		}
		return spec, []policy.Finding{misuse(fmt.Sprintf("functionConfig is %s %s", id.APIVersion, id.Kind),
			"write apiVersion: "+FunctionAPIVersion+" and kind: "+FunctionKind+", or a v1 ConfigMap")}
	case id.APIVersion != FunctionAPIVersion || id.Kind != FunctionKind:
		return spec, []policy.Finding{misuse(fmt.Sprintf("functionConfig is %s %s", id.APIVersion, id.Kind),
			"this version of inject reads "+FunctionAPIVersion+" "+FunctionKind)}
	}
	var fs []policy.Finding
	eachEntry(n, func(key string, _ *yaml.Node) {
		switch key {
		case "apiVersion", "kind", "metadata", "spec", "status":
		default:
			fs = append(fs, unknownField("", key, []string{"spec", "metadata"}))
		}
	})
	if body := typed.Deref(typed.Get(n, "spec")); !typed.IsNull(body) {
		fs = append(fs, readFields(body, "spec", spec.fields())...)
	}
	return spec, append(fs, spec.contradictions("spec.")...)
}

// fields are all that a spec may hold.
func (s *functionSpec) fields() []specField {
	return []specField{
		{"mode", s.readMode},
		{"passItems", boolField(&s.passItems)},
		{"quiet", boolField(&s.quiet)},
		{"profile", textField(&s.profile)},
		{"config", s.config.read},
		{"values", s.values.read},
		{"mesh", s.mesh.read},
		{"fromConfigMaps", s.readMaps},
		{"set", setField(&s.set)},
		{"setMesh", setField(&s.setMesh)},
		{"revision", textField(&s.revision)},
		{"istioVersion", textField(&s.istioVersion)},
		{"kubeVersion", textField(&s.kubeVersion)},
		{"nativeSidecar", s.readNative},
		{"namespace", textField(&s.namespace)},
		{"namespaceLabels", s.readLabels},
		{"namespacesFromInput", boolField(&s.namespacesFromInput)},
		{"cluster", textField(&s.cluster)},
		{"network", textField(&s.network)},
		{"kinds", listField(&s.kinds)},
		{"seal", boolField(&s.seal)},
		{"strict", boolField(&s.strict)},
		{"ignorePolicy", boolField(&s.ignorePolicy)},
	}
}

// contradictions are combinations that cannot be meant.
func (s *functionSpec) contradictions(prefix string) []policy.Finding {
	if !s.passItems && !s.validate {
		return []policy.Finding{atField(prefix+"passItems", "passItems: false would delete every object of the build",
			"it is for mode: Validate under validators: alone")}
	}
	if s.profile != "" && s.maps != nil {
		return []policy.Finding{atField(prefix+"fromConfigMaps", "profile and fromConfigMaps are both given", "give one of them")}
	}
	return nil
}

// readFields walks a mapping by a table of its fields.
func readFields(n *yaml.Node, at string, fields []specField) []policy.Finding {
	if n.Kind != yaml.MappingNode {
		return []policy.Finding{atField(at, at+" is no mapping", "")}
	}
	var fs []policy.Finding
	eachEntry(n, func(key string, value *yaml.Node) {
		for _, f := range fields {
			if f.name == key {
				if !typed.IsNull(value) {
					fs = append(fs, f.set(value, at+"."+key)...)
				}
				return
			}
		}
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.name
		}
		fs = append(fs, unknownField(at, key, names))
	})
	return fs
}

// eachEntry calls do for the entries of a mapping.
func eachEntry(n *yaml.Node, do func(key string, value *yaml.Node)) {
	if n = typed.Deref(n); n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		do(n.Content[i].Value, typed.Deref(n.Content[i+1]))
	}
}

// unknownField names the field that was probably meant, or all there are.
func unknownField(at, key string, known []string) policy.Finding {
	field := joinField(at, key)
	hint, best := "known are "+strings.Join(known, ", "), max(1, len(key)/3)+1
	for _, k := range known {
		if d := policy.Distance(key, k, best); d < best {
			hint, best = "did you mean "+joinField(at, k)+"?", d
		}
	}
	return atField(field, "unknown field "+field, hint)
}

// atField is an error about a field of the functionConfig.
func atField(field, message, hint string) policy.Finding {
	f := misuse(message, hint)
	f.Field = field
	return f
}

func textField(into *string) func(*yaml.Node, string) []policy.Finding {
	return func(n *yaml.Node, at string) []policy.Finding {
		if n.Kind != yaml.ScalarNode {
			return []policy.Finding{atField(at, at+" is no text", "")}
		}
		*into = n.Value
		return nil
	}
}

func boolField(into *bool) func(*yaml.Node, string) []policy.Finding {
	return func(n *yaml.Node, at string) []policy.Finding {
		switch {
		case n.Kind == yaml.ScalarNode && n.Value == "true":
			*into = true
		case n.Kind == yaml.ScalarNode && n.Value == "false":
			*into = false
		default:
			return []policy.Finding{atField(at, at+" is neither true nor false", "")}
		}
		return nil
	}
}

func listField(into *[]string) func(*yaml.Node, string) []policy.Finding {
	return func(n *yaml.Node, at string) []policy.Finding {
		if n.Kind != yaml.SequenceNode {
			return []policy.Finding{atField(at, at+" is no list", "")}
		}
		for i, c := range n.Content {
			if c = typed.Deref(c); c.Kind != yaml.ScalarNode {
				return []policy.Finding{atField(fmt.Sprintf("%s[%d]", at, i), "this entry is no text", "")}
			}
			*into = append(*into, c.Value)
		}
		return nil
	}
}

// setField reads path: value, as --set path=value would; the value may be anything.
func setField(into *[]config.Set) func(*yaml.Node, string) []policy.Finding {
	return func(n *yaml.Node, at string) []policy.Finding {
		if n.Kind != yaml.MappingNode {
			return []policy.Finding{atField(at, at+" is no mapping of paths to values", "write {global.hub: registry.example}")}
		}
		var fs []policy.Finding
		eachEntry(n, func(key string, value *yaml.Node) {
			text, err := json.Marshal(typed.Generic(value))
			if err != nil {
				fs = append(fs, atField(at+"."+key, "this value cannot be set: "+err.Error(), ""))
				return
			}
			*into = append(*into, config.Set{Kind: config.SetJSON, Text: key + "=" + string(text)})
		})
		return fs
	}
}

func (s *functionSpec) readMode(n *yaml.Node, at string) []policy.Finding {
	switch n.Value {
	case modeTransform:
		s.validate = false
	case modeValidate:
		s.validate = true
	default:
		return []policy.Finding{atField(at, fmt.Sprintf("%s %q is no mode", at, n.Value), "write Transform or Validate")}
	}
	return nil
}

func (s *functionSpec) readNative(n *yaml.Node, at string) []policy.Finding {
	switch n.Value {
	case "auto":
		s.native = NativeAuto
	case "true":
		s.native = NativeTrue
	case "false":
		s.native = NativeFalse
	default:
		return []policy.Finding{atField(at, fmt.Sprintf("%s %q is not auto, true or false", at, n.Value), "")}
	}
	return nil
}

func (s *functionSpec) readLabels(n *yaml.Node, at string) []policy.Finding {
	if n.Kind != yaml.MappingNode {
		return []policy.Finding{atField(at, at+" is no mapping of labels", "write {istio-injection: enabled}")}
	}
	s.namespaceLabels = map[string]string{}
	eachEntry(n, func(key string, value *yaml.Node) { s.namespaceLabels[key] = scalarText(value) })
	return nil
}

func (s *functionSpec) readMaps(n *yaml.Node, at string) []policy.Finding {
	s.maps = &configMaps{}
	return readFields(n, at, []specField{
		{"namespace", textField(&s.maps.namespace)},
		{"injector", textField(&s.maps.injector)},
		{"mesh", textField(&s.maps.mesh)},
		{"revision", textField(&s.maps.revision)},
	})
}

// read takes {inline: TEXT} or {path: FILE}.
func (p *part) read(n *yaml.Node, at string) []policy.Finding {
	p.given = true
	fs := readFields(n, at, []specField{{"inline", textField(&p.inline)}, {"path", textField(&p.path)}})
	if p.inline != "" && p.path != "" {
		fs = append(fs, atField(at, at+" has inline and path", "give one of them"))
	}
	return fs
}

// fromData reads the flat form. Booleans and lists are text there.
func (s *functionSpec) fromData(n *yaml.Node) []policy.Finding {
	data := typed.Deref(typed.Get(n, "data"))
	if typed.IsNull(data) {
		return nil
	}
	fields := []specField{
		{"config", s.config.inlineText},
		{"values", s.values.inlineText},
		{"mesh", s.mesh.inlineText},
		{"configPath", s.config.pathText},
		{"valuesPath", s.values.pathText},
		{"meshPath", s.mesh.pathText},
		{"kinds", func(n *yaml.Node, at string) []policy.Finding {
			s.kinds = strings.FieldsFunc(n.Value, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' })
			return nil
		}},
	}
	for _, f := range s.fields() {
		switch f.name {
		case "config", "values", "mesh", "kinds", "fromConfigMaps", "set", "setMesh", "namespaceLabels":
		default:
			fields = append(fields, f)
		}
	}
	return append(readFields(data, "data", fields), s.contradictions("data.")...)
}

func (p *part) inlineText(n *yaml.Node, at string) []policy.Finding { return p.flat(&p.inline, n, at) }

func (p *part) pathText(n *yaml.Node, at string) []policy.Finding { return p.flat(&p.path, n, at) }

func (p *part) flat(into *string, n *yaml.Node, at string) []policy.Finding {
	if p.given {
		return []policy.Finding{atField(at, at+" is given twice, as text and as a path", "give one of them")}
	}
	p.given = true
	return textField(into)(n, at)
}

// setup is what the spec says besides the three parts.
func (s *functionSpec) setup(reg workload.Registry) (Setup, []policy.Finding) {
	out := Setup{
		Registry: reg, Namespace: s.namespace, Native: s.native, KubeVersion: s.kubeVersion, Cluster: s.cluster,
		Network: s.network, IgnorePolicy: s.ignorePolicy, Seal: s.seal, Strict: s.strict,
		NamespacesDecide: s.namespacesFromInput || s.namespaceLabels != nil,
		// A comment at the end of the ResourceList would belong to no item.
		NoRecord: true,
	}
	var fs []policy.Finding
	for i, k := range s.kinds {
		more, err := out.Registry.With(k)
		if err != nil {
			fs = append(fs, atField("spec.kinds["+strconv.Itoa(i)+"]", k+": "+err.Error(), "write group/Kind=path.to.template"))
			continue
		}
		out.Registry = more
	}
	if s.namespaceLabels != nil {
		labels := s.namespaceLabels
		out.NamespaceLabels = func(string) (map[string]string, bool) { return labels, true }
	}
	return out, fs
}
