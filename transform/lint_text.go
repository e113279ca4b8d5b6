package transform

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/typed"
)

func itoa(i int) string { return strconv.Itoa(i) }

// readText takes the YAML text of an annotation apart.
func readText(text string) *lint.Text {
	out := &lint.Text{Text: text}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		out.Problem = err.Error()
		if rest, ok := strings.CutPrefix(out.Problem, "yaml: line "); ok {
			number, _, _ := strings.Cut(rest, ":")
			out.Line, _ = strconv.Atoi(number)
		}
		return out
	}
	if len(doc.Content) > 0 {
		out.Root = textValue(doc.Content[0], maxTextDepth)
	}
	return out
}

// maxTextDepth bounds what aliases may unfold a text to.
const maxTextDepth = 32

func textValue(n *yaml.Node, depth int) *lint.Value {
	v := &lint.Value{Spot: spot(n)}
	n = typed.Deref(n)
	if depth == 0 || n == nil {
		return v
	}
	switch n.Kind {
	case yaml.MappingNode:
		v.Kind = lint.Map
		for i := 0; i+1 < len(n.Content); i += 2 {
			v.Fields = append(v.Fields, lint.Field{
				Name: n.Content[i].Value, Key: spot(n.Content[i]), Value: textValue(n.Content[i+1], depth-1),
			})
		}
	case yaml.SequenceNode:
		v.Kind = lint.List
		for _, e := range n.Content {
			v.Items = append(v.Items, textValue(e, depth-1))
		}
	default:
		v.Text = n.Value
		switch typed.ScalarKind(n) {
		case typed.Bool:
			v.Kind = lint.Bool
		case typed.Int:
			v.Kind = lint.Int
		case typed.Float:
			v.Kind = lint.Float
		case typed.Null:
			v.Kind = lint.Null
		default:
			v.Kind = lint.String
		}
	}
	return v
}

func spot(n *yaml.Node) lint.Spot {
	return lint.Spot{Line: n.Line, Column: n.Column, Length: scalarWidth(n)}
}
