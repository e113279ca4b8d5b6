package transform

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// locator finds fields of an object and of its pod template.
func (l *Linter) locator(p *manifest.Parsed, o workload.Object, t *workload.Template) lint.Locator {
	base := func(place policy.Place) []string {
		if place == policy.InTemplate && t != nil {
			return stepNames(t.Path)
		}
		return stepNames(o.Path)
	}
	root := func(place policy.Place) *yaml.Node {
		if place == policy.InTemplate && t != nil {
			return t.Node
		}
		return o.Node
	}
	return lint.Locator{
		Span: func(w lint.Where) lint.Span { return spanOf(p, root(w.Place), w) },
		Base: base,
		Field: func(place policy.Place) string {
			if place == policy.InTemplate && t != nil {
				return t.Field(o)
			}
			return ""
		},
		InText: func(line, column, length int) lint.Span {
			n := typed.Get(typed.Get(typed.Get(root(policy.InTemplate), "metadata"), "annotations"), policy.AnnotationProxyConfig)
			return inText(p, n, line, column, length)
		},
	}
}

func stepNames(steps []workload.Step) []string {
	out := make([]string, 0, len(steps))
	for _, s := range steps {
		if s.IsIndex {
			out = append(out, itoa(s.Index))
		} else {
			out = append(out, s.Key)
		}
	}
	return out
}

// spanOf walks from a mapping as far as the path exists and gives the place there: that of a scalar, or of the key of
// anything larger or asked for.
func spanOf(p *manifest.Parsed, n *yaml.Node, w lint.Where) lint.Span {
	at := n
	for i, key := range w.Path {
		k, v := step(n, key)
		if v == nil {
			break
		}
		at, n = v, v
		whole := i == len(w.Path)-1 && manifest.Resolve(v).Kind == yaml.ScalarNode && !w.Key
		if k != nil && !whole {
			at = k
		}
	}
	return spanOfNode(p, at)
}

// step goes to a key or an index; k is the key's node, nil for an element of a list.
func step(n *yaml.Node, key string) (k, v *yaml.Node) {
	n = manifest.Resolve(n)
	if n == nil {
		return nil, nil
	}
	if n.Kind == yaml.SequenceNode {
		return nil, child(n, key)
	}
	return manifest.KeyNode(n, key), manifest.Lookup(n, key)
}

// spanOfNode is the place of a node, with its end where the node is a scalar on one line.
func spanOfNode(p *manifest.Parsed, n *yaml.Node) lint.Span {
	s := lint.Span{Position: p.Position(n)}
	if width := scalarWidth(n); width > 0 && s.Column > 0 {
		s.EndLine, s.EndColumn = s.Line, s.Column+width
	}
	return s
}

// scalarWidth is the number of characters of a scalar as written; zero where that is not certain.
func scalarWidth(n *yaml.Node) int {
	if n == nil || n.Kind != yaml.ScalarNode || n.Anchor != "" || strings.ContainsAny(n.Value, "\n\\\"'") {
		return 0
	}
	width := utf8.RuneCountInString(n.Value)
	switch n.Style &^ yaml.FlowStyle {
	case 0:
		return width
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		return width + 2
	}
	return 0
}

// locate finds an annotation of an object.
func locate(p *manifest.Parsed, root *yaml.Node) func(key string) policy.Position {
	return func(key string) policy.Position {
		return spanOf(p, root, lint.Where{Path: []string{"metadata", "annotations", key}}).Position
	}
}

// inText gives the place of a span of an annotation's text, where the text stands in the document as it is; otherwise
// the annotation itself.
func inText(p *manifest.Parsed, n *yaml.Node, line, column, length int) lint.Span {
	whole := spanOfNode(p, n)
	if n == nil || n.Line == 0 || line < 1 || p.JSON {
		return whole
	}
	at := policy.Position{File: whole.File}
	switch {
	case n.Style&yaml.LiteralStyle != 0 && n.Tag != "" && n.Anchor == "":
		raw := strings.Split(string(p.Doc.Raw), "\n")
		if n.Line+line-1 >= len(raw) {
			return whole
		}
		indent := -1
		for i, text := range strings.Split(n.Value, "\n") {
			if strings.TrimSpace(text) != "" && n.Line+i < len(raw) {
				indent = leading(raw[n.Line+i]) - leading(text)
				break
			}
		}
		if indent < 0 {
			return whole
		}
		at.Line, at.Column = whole.Line+line, indent+column
	case line == 1 && n.Style&yaml.FoldedStyle == 0 && scalarWidthLoose(p, n):
		at.Line, at.Column = whole.Line, whole.Column+column-1
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			at.Column++
		}
	default:
		return whole
	}
	s := lint.Span{Position: at}
	if length > 0 {
		s.EndLine, s.EndColumn = at.Line, at.Column+length
	}
	return s
}

// scalarWidthLoose tells whether a scalar stands in its line as its value says.
func scalarWidthLoose(p *manifest.Parsed, n *yaml.Node) bool {
	if n.Anchor != "" {
		return false
	}
	raw := strings.Split(string(p.Doc.Raw), "\n")
	return n.Line <= len(raw) && strings.Contains(raw[n.Line-1], strings.TrimSuffix(n.Value, "\n"))
}

func leading(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
