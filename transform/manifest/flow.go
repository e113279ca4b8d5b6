package manifest

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// flow edits a flow collection: text goes between the items that stay.
func (pl *planner) flow(n *yaml.Node, d *delta, s slot) {
	f := pl.flowItems(n)
	if f == nil {
		pl.fail("a flow collection without brackets")
		return
	}
	gone := make([]bool, len(f.items))
	news := make([][]*yaml.Node, len(f.items)+1) // [key, value] or [value] lists, flat
	for _, k := range d.kids {
		i := f.index(k.step)
		switch {
		case i < 0 && k.d.removed:
			pl.fail("a key that a merge key brings in is removed")
		case i < 0:
			at := len(f.items)
			if k.step.Key == "metadata" && !s.root {
				at = 0
			}
			news[at] = append(news[at], keyNode(k.step.Key), pl.addedValue(n, k))
		case k.d.removed || k.d.moved:
			gone[i] = true
		case f.width == 2 && k.d.set != nil && isEmptyScalar(f.value(i)) && pl.p.colonEnd(f.n.Content[2*i], -1) < 0:
			// A key alone, as in {a}, has no colon yet.
			end := pl.p.end(f.n.Content[2*i], -1)
			pl.edit(end, end, pl.flowValue([]byte(": "), k.d.set, pl.flowLook(f), pl.prefix(end)))
		default:
			pl.change(f.value(i), k.d, slot{flow: true})
		}
	}
	for _, ins := range d.inserts {
		v := ins.value
		if ins.from != nil {
			v = pl.cs.standIn(ins.from)
		}
		news[ins.at] = append(news[ins.at], v)
	}
	pl.flowSplice(f, gone, news, s)
}

func (pl *planner) flowItems(n *yaml.Node) *flowItems {
	f := &flowItems{pl: pl, n: n, width: 1, open: pl.p.content(n)}
	if n.Kind == yaml.MappingNode {
		f.width = 2
	}
	if f.open >= len(pl.raw) || pl.raw[f.open] != '{' && pl.raw[f.open] != '[' {
		return nil
	}
	f.items = make([]int, len(n.Content)/f.width)
	for i := range f.items {
		f.items[i] = pl.p.start(n.Content[i*f.width])
		if k := f.items[i]; f.width == 2 && k > 0 {
			for k > 0 && isBlank(pl.raw[k-1]) {
				k--
			}
			if k > 0 && pl.raw[k-1] == '?' {
				f.items[i] = k - 1
			}
		}
	}
	f.close = pl.p.flowEnd(n, f.open) - 1
	return f
}

// flowSplice removes the items that go and writes new ones: news[i] stands before item i.
func (pl *planner) flowSplice(f *flowItems, gone []bool, news [][]*yaml.Node, s slot) {
	count := len(f.items)
	kept := func(from, to, by int) int {
		for i := from; i != to; i += by {
			if !gone[i] {
				return i
			}
		}
		return -1
	}
	if kept(0, count, 1) < 0 {
		pl.flowFill(f, news, s)
		return
	}
	look := pl.flowLook(f)
	for at, nodes := range news {
		if len(nodes) == 0 {
			continue
		}
		if p := kept(at-1, -1, -1); p >= 0 {
			pl.flowAfter(f, p, gone, nodes, look)
		} else {
			q := kept(at, count, 1)
			pl.flowBefore(f, q, nodes, look)
		}
	}
	for i := 0; i < count; i++ {
		if !gone[i] {
			continue
		}
		j := i
		for j+1 < count && gone[j+1] {
			j++
		}
		pl.flowRemove(f, i, j)
		i = j
	}
}

// flowRemove deletes items i to j with the comma that goes with them.
func (pl *planner) flowRemove(f *flowItems, i, j int) {
	end := f.end(j)
	comma := skipToToken(pl.raw, end)
	hasComma := comma < len(pl.raw) && pl.raw[comma] == ','
	switch {
	case hasComma && f.own(i) && lineEnd(pl.raw, comma) < f.close && f.blankAfter(comma+1):
		// Whole lines of their own.
		pl.edit(pl.p.lineStart(f.items[i]), nextLine(pl.raw, comma), nil)
	case i > 0 && bytes.IndexByte(pl.raw[f.end(i-1):f.items[i]], '#') < 0:
		pl.edit(f.end(i-1), end, nil)
	case i > 0:
		// A comment stands between: take the comma before it, then the lines.
		c := skipToToken(pl.raw, f.end(i-1))
		pl.edit(c, c+1, nil)
		if f.own(i) && f.blankAfter(end) {
			pl.edit(pl.p.lineStart(f.items[i]), nextLine(pl.raw, end), nil)
		} else {
			pl.edit(f.items[i], end, nil)
		}
	case j+1 < len(f.items):
		pl.edit(f.items[i], f.items[j+1], nil)
	default:
		pl.edit(f.items[i], end, nil)
	}
}

// flowAfter writes items behind item p, which stays.
func (pl *planner) flowAfter(f *flowItems, p int, gone []bool, nodes []*yaml.Node, look flowLook) {
	end := f.end(p)
	if !f.own(p) {
		var b []byte
		for _, t := range pl.flowTexts(f, nodes, look, pl.prefix(f.items[p])) {
			b = append(append(b, ','), look.comma...)
			b = append(b, t...)
		}
		pl.edit(end, end, b)
		return
	}
	prefix := pl.prefix(f.items[p])
	texts := pl.flowTexts(f, nodes, look, prefix)
	comma := skipToToken(pl.raw, end)
	hasComma := comma < f.close && pl.raw[comma] == ','
	next := p+1 < len(f.items) && gone[p+1]
	switch {
	case hasComma && !next && f.blankAfter(comma+1):
		at := lineEnd(pl.raw, comma)
		var b []byte
		for _, t := range texts {
			b = append(append(b, look.eol+prefix...), t...)
			b = append(b, ',')
		}
		pl.edit(at, at, b)
	case !hasComma && f.blankAfter(end) && skipBlanks(pl.raw, end) < lineEnd(pl.raw, end):
		// A comment follows: the comma goes before it, the items behind it.
		pl.edit(end, end, []byte{','})
		at := lineEnd(pl.raw, end)
		pl.edit(at, at, []byte(look.eol+prefix+strings.Join(texts, ","+look.eol+prefix)))
	default:
		var b []byte
		for _, t := range texts {
			b = append(append(b, ","+look.eol+prefix...), t...)
		}
		pl.edit(end, end, b)
	}
}

// flowBefore writes items in front of item q, which stays and is the first one that does.
func (pl *planner) flowBefore(f *flowItems, q int, nodes []*yaml.Node, look flowLook) {
	start := f.items[q]
	sep := "," + look.comma
	prefix := pl.prefix(f.items[q])
	if f.own(q) {
		sep = "," + look.eol + prefix
	}
	var b []byte
	for _, t := range pl.flowTexts(f, nodes, look, prefix) {
		b = append(append(b, t...), sep...)
	}
	pl.edit(start, start, b)
}

// flowFill writes the new items as the only ones.
func (pl *planner) flowFill(f *flowItems, news [][]*yaml.Node, s slot) {
	var nodes []*yaml.Node
	for _, ns := range news {
		nodes = append(nodes, ns...)
	}
	if len(nodes) == 0 {
		pl.edit(f.open+1, f.close, nil)
		return
	}
	look := pl.flowLook(f)
	prefix := pl.prefix(f.open)
	// An empty collection says nothing of its layout: on a line of its own in expanded JSON it is expanded too.
	if look.json && len(f.items) == 0 {
		look.levels = pl.spreads(f.open)
	}
	if look.levels == 0 {
		pl.edit(f.open+1, f.close, []byte(strings.Join(pl.flowTexts(f, nodes, look, prefix), ","+look.comma)))
		return
	}
	look.levels--
	inner := look.eol + prefix + look.unit
	text := inner + strings.Join(pl.flowTexts(f, nodes, look, prefix+look.unit), ","+inner) + look.eol + prefix
	pl.edit(f.open+1, f.close, []byte(text))
}

// replaceFlow puts a value in the place of a node inside of flow text.
func (pl *planner) replaceFlow(n, v *yaml.Node, s slot) {
	start, end := pl.valueStart(n, v), pl.p.end(n, s.indent())
	if n.Kind == yaml.AliasNode {
		start = pl.p.start(n)
	}
	look := pl.documentFlow(start)
	if look.json {
		look.levels = pl.spreads(start)
	}
	var b []byte
	if start == end && start > 0 && !isBlank(pl.raw[start-1]) {
		b = append(b, ' ')
	}
	if n.Kind == yaml.ScalarNode && v.Kind == yaml.ScalarNode && scalarTag(v) == "!!str" && !look.json {
		switch {
		case n.Style&yaml.DoubleQuotedStyle != 0:
			pl.edit(start, end, appendDouble(b, v.Value))
			return
		case n.Style&yaml.SingleQuotedStyle != 0:
			pl.edit(start, end, appendQuoted(b, v.Value, '\''))
			return
		}
	}
	pl.edit(start, end, pl.flowValue(b, v, look, pl.prefix(start)))
}

// flowLook reads the look of a collection off its own text, where it says something, else off the document.
func (pl *planner) flowLook(f *flowItems) flowLook {
	look := pl.documentFlow(f.open)
	if k, v := firstEntry(f.n, 0); k != nil {
		pl.entryLook(&look, k, v)
	}
	look.comma = look.colon
	for i := 0; i+1 < len(f.items); i++ {
		e := f.end(i)
		c := skipToToken(pl.raw, e)
		if c < len(pl.raw) && pl.raw[c] == ',' && lineEnd(pl.raw, c) > f.items[i+1] {
			look.comma = string(pl.raw[c+1 : f.items[i+1]])
			break
		}
	}
	// Nested values follow the last sibling that is a collection with something in it.
	look.levels = 0
	if n := pl.spread(f.n, 0); n >= 0 {
		look.levels = n
	} else if look.json && len(f.items) > 0 && f.own(len(f.items)-1) {
		look.levels = allLevels
	}
	if len(f.items) > 0 && f.own(len(f.items)-1) {
		if unit, ok := strings.CutPrefix(pl.prefix(f.items[len(f.items)-1]), pl.prefix(f.open)); ok && unit != "" {
			look.unit = unit
		}
	}
	return look
}
