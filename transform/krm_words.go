package transform

import (
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/transform/typed"
)

// decode reads a node into the typed value that into points to. Orchestrators of functions read YAML 1.2, under which on,
// yes and n are text, where clusters read 1.1, under which they are booleans: in a ResourceList such a plain word is
// read as text where text must stand, as kustomize build quotes it on its way out.
func (w *documentWork) decode(node *yaml.Node, into any) []typed.Problem {
	problems := w.schema.Decode(node, into, false)
	if !w.opts.function || len(problems) == 0 {
		return problems
	}
	text := map[*yaml.Node]bool{}
	for _, p := range problems {
		if p.Node != nil && isOldWord(p.Node) {
			text[p.Node] = true
		}
	}
	if len(text) == 0 {
		return problems
	}
	reflect.ValueOf(into).Elem().SetZero()
	return w.schema.Decode(quoted(node, text), into, false)
}

// isOldWord tells whether a plain scalar is a boolean under YAML 1.1 alone.
func isOldWord(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || typed.ScalarKind(n) != typed.Bool || n.Style&yaml.TaggedStyle != 0 {
		return false
	}
	switch n.Value {
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return false
	}
	return true
}

// quoted gives a tree in which the scalars of text are quoted; it shares what has none of them.
func quoted(n *yaml.Node, text map[*yaml.Node]bool) *yaml.Node {
	if text[n] {
		cp := *n
		cp.Style, cp.Tag = yaml.DoubleQuotedStyle, "!!str"
		return &cp
	}
	if n.Kind == yaml.AliasNode {
		// kustomize and kyaml hand on lists without aliases.
		return n
	}
	var content []*yaml.Node
	for i, c := range n.Content {
		q := quoted(c, text)
		if q != c && content == nil {
			content = append(content, n.Content...)
		}
		if content != nil {
			content[i] = q
		}
	}
	if content == nil {
		return n
	}
	cp := *n
	cp.Content = content
	return &cp
}
