package manifest

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// owned gives the lines of an element with its comments: those directly above its dash that stand no deeper, and
// deeper ones behind it.
func (pl *planner) owned(n *yaml.Node, i, dash, col int) (from, to int) {
	from = pl.p.lineStart(dash)
	for from > 0 {
		prev := pl.p.lineStart(from - 1)
		first := skipBlanks(pl.raw, prev)
		if first >= len(pl.raw) || pl.raw[first] != '#' || first-prev > col || prev == from {
			break
		}
		from = prev
	}
	return from, pl.extend(pl.p.end(n.Content[i], col), col)
}

// movedText gives the lines of a moved element, edited and indented for a dash in column col.
func (pl *planner) movedText(m *movedNode, col int) ([]byte, bool) {
	if m.node.Kind == yaml.AliasNode || m.seq.Style&yaml.FlowStyle != 0 {
		w := pl.writer("\n")
		w.eol = pl.eolBefore(len(pl.raw))
		v := pl.written(m.node, m.d)
		w.moved = nil
		w.spaces(col)
		w.item(v, col, 2)
		return w.buf, true
	}
	old := pl.p.column(pl.p.content(m.seq))
	dash := pl.dash(m.seq, m.slot)
	if dash < 0 || !pl.ownLine(dash) {
		pl.fail("a list item that shares its line is moved")
		return nil, false
	}
	from, to := pl.owned(m.seq, m.slot, dash, old)
	saved := pl.edits
	pl.edits = nil
	pl.change(m.node, &delta{set: m.d.set, kids: m.d.kids, inserts: m.d.inserts},
		slot{after: dash + 1, item: true, col: old})
	atEnd := to == len(pl.raw) && breakBefore(pl.raw, to) == 0
	inner := pl.edits
	pl.edits = saved
	if last := lastLeaf(m.node); atEnd && last.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		inner = pl.clipEdit(last, inner)
	}
	text, err := splice(pl.raw, inner, from, to)
	if err != nil {
		pl.fail(err.Error())
		return nil, false
	}
	if atEnd {
		text = append(text, pl.eolBefore(to)...)
	}
	return reindent(text, col-old), true
}

// reindent shifts all lines with text by some columns.
func reindent(text []byte, by int) []byte {
	if by == 0 {
		return text
	}
	out := make([]byte, 0, len(text)+max(by, 0)*8)
	for i := 0; i < len(text); {
		n := nextLine(text, i)
		first := skipBlanks(text, i)
		switch {
		case first >= n || breakAt(text, first) > 0:
		case by > 0:
			out = append(out, bytes.Repeat([]byte{' '}, by)...)
		default:
			i += min(-by, first-i)
		}
		out = append(out, text[i:n]...)
		i = n
	}
	return out
}
