package manifest

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// movedFlow gives the text of a moved element of a flow list, edited; its later lines are indented for prefix.
func (pl *planner) movedFlow(m *movedNode, prefix string) []byte {
	saved := pl.edits
	pl.edits = nil
	pl.change(m.node, &delta{set: m.d.set, kids: m.d.kids, inserts: m.d.inserts}, slot{flow: true})
	inner := pl.edits
	pl.edits = saved
	start, end := pl.p.start(m.node), pl.p.end(m.node, -1)
	text, err := splice(pl.raw, inner, start, end)
	if err != nil {
		pl.fail(err.Error())
		return nil
	}
	old := pl.prefix(start)
	if old == prefix {
		return text
	}
	var out []byte
	for i := 0; i < len(text); {
		n := nextLine(text, i)
		line := text[i:n]
		if rest, ok := bytes.CutPrefix(line, []byte(old)); ok && i > 0 {
			out = append(out, prefix...)
			line = rest
		}
		out = append(out, line...)
		i = n
	}
	return out
}

// flowTexts renders items; nodes are values, or keys and values in turn for a mapping.
func (pl *planner) flowTexts(f *flowItems, nodes []*yaml.Node, look flowLook, prefix string) []string {
	var out []string
	for i := 0; i < len(nodes); i += f.width {
		var b []byte
		if f.width == 2 {
			b = pl.flowKey(b, nodes[i], look)
			b = append(append(b, ':'), look.colon...)
		}
		out = append(out, string(pl.flowValue(b, nodes[i+f.width-1], look, prefix)))
	}
	return out
}

func (pl *planner) flowKey(b []byte, k *yaml.Node, look flowLook) []byte {
	k = Resolve(k)
	switch {
	case look.json, look.quoted:
		return appendDouble(b, k.Value)
	case isMerge(k) || plainSafe(k.Value, true):
		return append(b, k.Value...)
	}
	return appendQuoted(b, k.Value, pl.look.quote)
}

// flowValue renders a value as flow text. prefix is the indentation of the line it starts on.
func (pl *planner) flowValue(b []byte, v *yaml.Node, look flowLook, prefix string) []byte {
	if m := pl.cs.moved[v]; m != nil {
		if m.seq.Style&yaml.FlowStyle != 0 && m.node.Kind != yaml.AliasNode {
			return append(b, pl.movedFlow(m, prefix)...)
		}
		v = pl.written(m.node, m.d)
	}
	v = Resolve(v)
	if v.Kind == yaml.ScalarNode {
		return pl.flowScalar(b, v, look)
	}
	open, closing, width := byte('['), byte(']'), 1
	if v.Kind == yaml.MappingNode {
		open, closing, width = '{', '}', 2
	}
	b = append(b, open)
	multi := look.levels > 0
	look.levels = max(look.levels-1, 0)
	inner := prefix + look.unit
	for i := 0; i+width <= len(v.Content); i += width {
		if i > 0 {
			b = append(b, ',')
			if !multi {
				b = append(b, look.comma...)
			}
		}
		if multi {
			b = append(append(b, look.eol...), inner...)
		}
		if width == 2 {
			b = pl.flowKey(b, v.Content[i], look)
			b = append(append(b, ':'), look.colon...)
		}
		b = pl.flowValue(b, v.Content[i+width-1], look, inner)
	}
	if multi && len(v.Content) > 0 {
		b = append(append(b, look.eol...), prefix...)
	}
	return append(b, closing)
}

func (pl *planner) flowScalar(b []byte, v *yaml.Node, look flowLook) []byte {
	tag := scalarTag(v)
	if !look.json && v.Style == 0 && pl.keeps(v) && plainText(v.Value, true) {
		return append(b, v.Value...)
	}
	switch tag {
	case "!!null":
		return append(b, "null"...)
	case "!!bool":
		return append(b, strings.ToLower(v.Value)...)
	case "!!int", "!!float":
		if look.json {
			return append(b, jsonNumber(v.Value)...)
		}
		return append(b, v.Value...)
	case "!!str", "!!merge":
		if !look.json && !look.quoted && plainSafe(v.Value, true) {
			return append(b, v.Value...)
		}
		if look.json || look.quoted {
			return appendDouble(b, v.Value)
		}
		return appendQuoted(b, v.Value, pl.look.quote)
	}
	if look.json {
		return appendDouble(b, v.Value)
	}
	b = append(append(b, tagText(v.Tag)...), ' ')
	return appendQuoted(b, v.Value, pl.look.quote)
}

// jsonNumber spells a YAML number as JSON does.
func jsonNumber(s string) string {
	if end, state := skipJSON([]byte(s), 0); state == jsonOK && end == len(s) {
		return s
	}
	var i int64
	var f float64
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	if n.Decode(&i) == nil {
		return strconv.FormatInt(i, 10)
	}
	if n.Decode(&f) == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return s
}
