package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// document is one document of a source.
type document struct {
	text text
	// kind is the Kubernetes kind as a line of its own says, without parsing; empty for a plain file.
	kind string
}

// split cuts a YAML stream at its markers and drops documents that hold nothing. JSON is never cut.
func split(s Source) []document {
	whole := newText(s)
	data := whole.data
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' && !bytes.HasPrefix(trimmed, []byte("{{")) {
		return []document{{text: whole, kind: jsonKind(data)}}
	}
	var docs []document
	start, startLine, line, count := 0, 0, 0, 0
	flush := func(end int) {
		body := data[start:end]
		if !blank(body) {
			count++
			docs = append(docs, document{
				text: text{file: s.Name, data: body, line: startLine, document: count}, kind: lineKind(body),
			})
		}
	}
	for at := 0; at < len(data); {
		end := len(data)
		if k := bytes.IndexByte(data[at:], '\n'); k >= 0 {
			end = at + k + 1
		}
		if marker(data[at:end]) {
			flush(at)
			start, startLine = end, line+1
			// What follows a marker on its line ("--- {a: b}", a comment) is content; leave the marker to the parser then.
			if rest := bytes.TrimSpace(data[at+3 : end]); data[at] == '-' && len(rest) > 0 && rest[0] != '#' {
				start, startLine = at, line
			}
		}
		at = end
		line++
	}
	flush(len(data))
	if len(docs) == 1 {
		docs[0].text.document = 0
	}
	return docs
}

// marker says whether a line is a document marker: --- or ... in the first column, then the end or a space.
func marker(line []byte) bool {
	if len(line) < 3 || string(line[:3]) != "---" && string(line[:3]) != "..." {
		return false
	}
	return len(line) == 3 || line[3] == '\n' || line[3] == '\r' || line[3] == ' ' || line[3] == '\t'
}

// blank says whether a document has only comments and empty lines.
func blank(body []byte) bool {
	for line := range bytes.Lines(body) {
		if l := bytes.TrimSpace(line); len(l) > 0 && l[0] != '#' {
			return false
		}
	}
	return true
}

// lineKind finds the kind of a block style object. Big streams hold hundreds of documents, most of them of no interest
// here and some (custom resource definitions) long, so only those that may hold a part are parsed.
func lineKind(body []byte) string {
	for line := range bytes.Lines(body) {
		if v, ok := bytes.CutPrefix(line, []byte("kind:")); ok {
			v, _, _ = bytes.Cut(v, []byte(" #"))
			return string(bytes.Trim(bytes.TrimSpace(v), `"'`))
		}
	}
	if trimmed := bytes.TrimLeft(body, " \t\r\n-"); len(trimmed) > 0 && trimmed[0] == '{' {
		return jsonKind(body)
	}
	return ""
}

// jsonKind guesses the kind of a JSON document; the parser decides.
func jsonKind(body []byte) string {
	for _, kind := range []string{"List", "ConfigMapList", "ConfigMap", "IstioOperator", "Istio"} {
		if bytes.Contains(body, []byte(`"kind": "`+kind+`"`)) || bytes.Contains(body, []byte(`"kind":"`+kind+`"`)) {
			return kind
		}
	}
	return ""
}

// mayHold says whether an object of this kind can hold injection settings.
func mayHold(kind string) bool {
	return slices.Contains([]string{"ConfigMap", "List", "ConfigMapList", "IstioOperator", "Istio", "IstioRevision"}, kind)
}

// which of the three parts.
type which int

const (
	partInjection which = iota
	partValues
	partMesh
)

// flag is the flag that takes the part.
func (w which) flag() string {
	return [...]string{"--inject-config-file", "--values-file", "--mesh-config-file"}[w]
}

func (w which) String() string {
	return [...]string{"injection config", "values", "mesh config"}[w]
}

// holder is the ConfigMap that has the part in a cluster, and its data key.
func (w which) holder() (name, key string) {
	switch w {
	case partInjection:
		return "istio-sidecar-injector", "config"
	case partValues:
		return "istio-sidecar-injector", "values"
	default:
		return "istio", "mesh"
	}
}

// object is a Kubernetes object that may hold parts.
type object struct {
	text            text
	node            *yaml.Node
	kind            string
	namespace, name string
	// revision is the suffix of the name, else the label istio.io/rev.
	revision string
}

func (o object) String() string {
	name := o.name
	if o.namespace != "" {
		name = o.namespace + "/" + name
	}
	return o.kind + " " + name
}

func (o object) at() policy.Position { return o.text.at(o.node.Line, 0) }

// objects finds the ConfigMaps and operators of a document, in the items of a List too.
func objects(t text, n *yaml.Node) []object {
	switch shapeOf(n) {
	case shapeList:
		var out []object
		if items := lookup(n, "items"); items != nil && items.Kind == yaml.SequenceNode {
			for _, item := range items.Content {
				out = append(out, objects(t, dealias(item))...)
			}
		}
		return out
	case shapeConfigMap, shapeOperator:
		o := object{text: t, node: n, kind: lookup(n, "kind").Value}
		meta := lookup(n, "metadata")
		if v := lookup(meta, "name"); isString(v) {
			o.name = v.Value
		}
		if v := lookup(meta, "namespace"); isString(v) {
			o.namespace = v.Value
		}
		for _, base := range []string{"istio-sidecar-injector", "istio"} {
			if rest, ok := strings.CutPrefix(o.name, base); ok {
				o.revision = strings.TrimPrefix(rest, "-")
				break
			}
		}
		if v := lookup(lookup(meta, "labels"), "istio.io/rev"); o.revision == "" && isString(v) && v.Value != "default" {
			o.revision = v.Value
		}
		return []object{o}
	}
	return nil
}

// part finds a part in an object; nil where it has none of it.
func (o object) holds(w which) *yaml.Node {
	if o.kind != "ConfigMap" {
		spec := lookup(o.node, "spec")
		switch w {
		case partValues:
			for _, k := range []string{"values", "hub", "tag", "revision", "namespace"} {
				if v := lookup(spec, k); v != nil {
					return spec
				}
			}
		case partMesh:
			if lookup(spec, "meshConfig") != nil || lookup(lookup(spec, "values"), "meshConfig") != nil {
				return spec
			}
		}
		return nil
	}
	_, key := w.holder()
	v := lookup(lookup(o.node, "data"), key)
	if v == nil || v.Kind != yaml.ScalarNode {
		return nil
	}
	// Any ConfigMap may have a key named config or values; the mesh's own carry both, or their well-known name.
	if w != partMesh && !strings.HasPrefix(o.name, "istio-sidecar-injector") {
		data := lookup(o.node, "data")
		if lookup(data, "config") == nil || !hasConfigKeys([]byte(lookup(data, "config").Value)) {
			return nil
		}
	}
	return v
}
