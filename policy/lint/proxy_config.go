package lint

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/kube-inject/inject/policy"
)

func proxyConfigUnknownField() Rule {
	return Rule{
		ID: "proxy-config-unknown-field", Category: ProxyConfig, Severity: policy.Error, Link: linkProxyConfig, Fixes: true,
		Summary: "a field in proxy.istio.io/config or the mesh's defaultConfig that ProxyConfig does not have",
		Why:     "Istio reads what it knows and drops the rest without a word, so the setting has no effect.",
		Remedy:  "correct the name or remove the field",
		Bad:     "annotations:\n  proxy.istio.io/config: |\n    terminationDrainDuraton: 20s",
		Good:    "annotations:\n  proxy.istio.io/config: |\n    terminationDrainDuration: 20s",
		check: func(f *Facts, r *Report) {
			if f.Config == nil || f.Config.Root == nil {
				return
			}
			unknownFields(f, r, f.Config.Root, (&meshconfig.ProxyConfig{}).ProtoReflect().Descriptor(), nil)
		},
	}
}

// unknownFields walks a value beside the description of its message.
func unknownFields(f *Facts, r *Report, v *Value, m protoreflect.MessageDescriptor, path []string) {
	if v == nil || v.Kind != Map || strings.HasPrefix(string(m.FullName()), "google.protobuf.") {
		return
	}
	for i := range v.Fields {
		field := &v.Fields[i]
		p := append(path[:len(path):len(path)], field.Name)
		fd := m.Fields().ByJSONName(field.Name)
		if fd == nil {
			fd = m.Fields().ByName(protoreflect.Name(field.Name))
		}
		switch {
		case fd == nil:
			unknownField(f, r, v, field, m, p)
		case fd.IsMap() || fd.Message() == nil:
		case fd.IsList():
			for _, item := range field.Items {
				unknownFields(f, r, item, fd.Message(), p)
			}
		default:
			unknownFields(f, r, field.Value, fd.Message(), p)
		}
	}
}

func unknownField(f *Facts, r *Report, in *Value, field *Field, m protoreflect.MessageDescriptor, path []string) {
	d := r.inText(field.Key, path, "ProxyConfig has no field %s: it is left out in silence", joinField("", path))
	if len(path) == 1 {
		switch field.Name {
		case "parentShutdownDuration", "parent_shutdown_duration":
			d.hint("remove it: Envoy is not restarted hot any more, and the field went with that")
			return
		}
	}
	var names []string
	for i := range m.Fields().Len() {
		names = append(names, m.Fields().Get(i).JSONName())
	}
	near := nearest(field.Name, names, max(2, len(field.Name)/5))
	if len(near) == 0 {
		return
	}
	d.hint("did you mean %s?", strings.Join(near, " or "))
	if len(near) == 1 && in.field(near[0]) == nil {
		if text, ok := replace(f.Config.Text, field.Key.unquoted(field.Name), near[0]); ok {
			d.fix("rename to "+near[0], r.set(annotation(policy.AnnotationProxyConfig), text))
		}
	}
}

func proxyConfigInvalid() Rule {
	return Rule{
		ID: "proxy-config-invalid", Category: ProxyConfig, Severity: policy.Error, Link: linkProxyConfig,
		Summary: "a ProxyConfig that does not parse or is refused",
		Why:     "Injection of the pod fails, and the agent would refuse the text too.",
		Remedy:  "write the value in the form that the field takes",
		Bad:     "annotations:\n  proxy.istio.io/config: |\n    drainDuration: 500ms",
		Good:    "annotations:\n  proxy.istio.io/config: |\n    drainDuration: 1s",
		check: func(f *Facts, r *Report) {
			for _, p := range f.ConfigProblems {
				spot, path, ok := find(f.Config, p.Field)
				if ok && notString(f.Config.Root, path) {
					continue // proxy-metadata-not-string
				}
				d := r.inText(spot, path, "%s", p.Message)
				if p.Hint != "" {
					d.hint("%s", p.Hint)
				}
			}
		},
	}
}

// find gives the place of a dotted field in the text: its value, or the first line where the path is unknown.
func find(t *Text, dotted string) (Spot, []string, bool) {
	if t == nil {
		return Spot{}, nil, false
	}
	if t.Root == nil {
		return Spot{Line: max(1, t.Line), Column: 1}, nil, false
	}
	at := Spot{Line: 1, Column: 1}
	var path []string
	v := t.Root
	for rest := dotted; rest != "" && v != nil; {
		var best *Field
		for i := range v.Fields {
			f := &v.Fields[i]
			if (rest == f.Name || strings.HasPrefix(rest, f.Name+".") || strings.HasPrefix(rest, f.Name+"[")) &&
				(best == nil || len(f.Name) > len(best.Name)) {
				best = f
			}
		}
		if best == nil {
			if len(path) == 0 {
				return at, nil, false
			}
			break
		}
		path = append(path, best.Name)
		at, v = best.Spot, best.Value
		if v.Kind == Map || v.Kind == List {
			at = best.Key
		}
		rest = strings.TrimPrefix(rest[len(best.Name):], ".")
	}
	return at, path, len(path) > 0
}

// stringMaps are the fields of ProxyConfig that map strings to strings (istio/api, mesh/v1alpha1/proxy.proto, 1.30).
func stringMaps() []string {
	return []string{"proxyMetadata", "proxy_metadata", "runtimeValues", "runtime_values"}
}

// notString tells whether path leads to a value of a string map that is no string.
func notString(root *Value, path []string) bool {
	if len(path) != 2 {
		return false
	}
	for _, name := range stringMaps() {
		if m := root.field(name); m != nil && name == path[0] {
			v := m.field(path[1])
			return v != nil && v.Kind != String && v.Kind != Map && v.Kind != List
		}
	}
	return false
}

func proxyMetadataNotString() Rule {
	return Rule{
		ID: "proxy-metadata-not-string", Category: ProxyConfig, Severity: policy.Error, Link: linkProxyConfig, Fixes: true,
		Summary: "a value of proxyMetadata or runtimeValues that is no string",
		Why:     "Both map strings to strings; a bare true or 5 does not parse, and then the pod is not injected.",
		Remedy:  "put the value in quotes",
		Bad: "annotations:\n  proxy.istio.io/config: |\n    proxyMetadata:\n" +
			"      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: true",
		Good: "annotations:\n  proxy.istio.io/config: |\n    proxyMetadata:\n" +
			"      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"",
		check: func(f *Facts, r *Report) {
			if f.Config == nil {
				return
			}
			// One edit mends all of them, since each fix replaces the whole text.
			text := f.Config.Text
			var found []*draft
			for _, name := range stringMaps() {
				m := f.Config.Root.field(name)
				if m == nil {
					continue
				}
				for i := len(m.Fields) - 1; i >= 0; i-- {
					v := &m.Fields[i]
					if !notString(f.Config.Root, []string{name, v.Name}) {
						continue
					}
					found = append(found, r.inText(v.Spot, []string{name, v.Name}, "%s is %s, but %s takes strings only",
						v.Name, v.Kind, name).hint("write %s: %q", v.Name, v.Text))
					if next, ok := replace(text, v.Spot, `"`+v.Text+`"`); ok && !strings.ContainsAny(v.Text, `"\`) {
						text = next
					}
				}
			}
			for _, d := range found {
				if text != f.Config.Text {
					d.fix("quote it", r.set(annotation(policy.AnnotationProxyConfig), text))
				}
			}
		},
	}
}

// replace puts other text in the place of a spot; false where the spot's end is unknown.
func replace(text string, s Spot, with string) (string, bool) {
	if s.Length == 0 {
		return "", false
	}
	lines := strings.SplitAfter(text, "\n")
	if s.Line < 1 || s.Line > len(lines) {
		return "", false
	}
	line := []rune(lines[s.Line-1])
	from, to := s.Column-1, s.Column-1+s.Length
	if from < 0 || to > len(line) {
		return "", false
	}
	lines[s.Line-1] = string(line[:from]) + with + string(line[to:])
	return strings.Join(lines, ""), true
}
