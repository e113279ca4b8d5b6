package manifest

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// ownLine: nothing but blanks stands before offset on its line.
func (pl *planner) ownLine(offset int) bool {
	start := pl.p.lineStart(offset)
	return skipBlanks(pl.raw, start) >= offset
}

// deleteLines deletes the lines from the one that holds start to the one that holds end.
func (pl *planner) deleteLines(start, end int) {
	pl.edit(pl.p.lineStart(start), nextLine(pl.raw, end), nil)
}

// extend gives the insertion point behind text that ends at offset: the line after it, and behind comments that stand
// deeper than column col.
func (pl *planner) extend(end, col int) int {
	at := nextLine(pl.raw, end)
	for i := at; i < len(pl.raw); {
		first := skipBlanks(pl.raw, i)
		if first < len(pl.raw) && pl.raw[first] == '#' && first > i {
			if first-i <= col {
				break
			}
			i = nextLine(pl.raw, first)
			at = i
			continue
		}
		if first >= len(pl.raw) || breakAt(pl.raw, first) == 0 {
			break
		}
		i = first + breakAt(pl.raw, first)
	}
	return at
}

// behind gives the insertion point at the end of a block collection.
func (pl *planner) behind(n *yaml.Node, s slot, col int) int {
	return pl.extend(pl.p.end(n, s.indent()), col)
}

// eolBefore gives the line end of the line before an offset.
func (pl *planner) eolBefore(offset int) string {
	n := breakBefore(pl.raw, offset)
	if n == 0 {
		i := offset
		for i > 0 && breakBefore(pl.raw, i) == 0 {
			i--
		}
		offset, n = i, breakBefore(pl.raw, i)
	}
	switch eol := string(pl.raw[offset-n : offset]); eol {
	case "\r\n", "\r":
		return eol
	}
	return "\n"
}

// insertLines puts whole lines at an insertion point. before is the node whose text may end the file right there: a
// block scalar without its last line break must not gain one.
func (pl *planner) insertLines(at int, text func(*writer), before *yaml.Node) {
	if pl.err != nil {
		return
	}
	w := pl.render(text, pl.eolBefore(at), func(w *writer) bool {
		return pl.swallows(at, len(w.buf)-len(bytes.TrimLeft(w.buf, " ")), w.last)
	})
	if at < len(pl.raw) || breakBefore(pl.raw, at) > 0 || at == 0 {
		pl.edit(at, at, w.buf)
		return
	}
	pl.stripLast(before)
	pl.edit(at, at, append([]byte(w.eol), bytes.TrimSuffix(w.buf, []byte(w.eol))...))
}

// render prints text, and once more with quotes for the block scalar at its end where that would take in what follows.
func (pl *planner) render(text func(*writer), eol string, swallows func(*writer) bool) *writer {
	w := pl.writer(eol)
	text(w)
	if w.last != 0 && swallows(w) {
		last := w.literals
		w = pl.writer(eol)
		w.without = last
		text(w)
	}
	return w
}

// swallows tells whether a block scalar that ends before offset at, around column col, would change by what stands
// there: deeper comments become text, kept blank lines too, and without a last line end it loses its own.
func (pl *planner) swallows(at, col int, last byte) bool {
	if last == 0 {
		return false
	}
	if at >= len(pl.raw) {
		return last != '-' && breakBefore(pl.raw, at) == 0
	}
	for i := at; i < len(pl.raw); i = nextLine(pl.raw, i) {
		first := skipBlanks(pl.raw, i)
		if first < len(pl.raw) && breakAt(pl.raw, first) == 0 {
			return pl.raw[first] == '#' && first-i > col
		}
		if last == '+' || first-i > col {
			return true
		}
		if first >= len(pl.raw) {
			break
		}
	}
	return false
}

// stripLast notes the block scalar that ends the text without a line break, where n is the last node: once text
// follows, it needs the indicator that says so.
func (pl *planner) stripLast(n *yaml.Node) {
	if n == nil {
		return
	}
	if n = lastLeaf(n); n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		pl.clip = n
	}
}

// lastLeaf is the last node in the text of n.
func lastLeaf(n *yaml.Node) *yaml.Node {
	for n.Kind != yaml.AliasNode && len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n
}

// clipEdit gives the edit that strips a block scalar, unless another edit replaces its header.
func (pl *planner) clipEdit(n *yaml.Node, edits []Edit) []Edit {
	start := pl.p.content(n)
	for _, e := range edits {
		if e.Start <= start && start < e.End {
			return edits
		}
	}
	end, chomp, _ := blockHeader(pl.raw, start)
	switch chomp {
	case 0:
		return append(edits, Edit{start + 1, start + 1, []byte{'-'}})
	case '+':
		i := start + bytes.IndexByte(pl.raw[start:end], '+')
		return append(edits, Edit{i, i + 1, []byte{'-'}})
	}
	return edits
}

// finish settles what happens at the end of a text without a last line end: lines deleted there take the line end before
// them along, so that the text still ends without one; keep leaves it in.
func (pl *planner) finish(keep bool) {
	if pl.clip != nil {
		pl.edits = pl.clipEdit(pl.clip, pl.edits)
	}
	sortEdits(pl.edits)
	n := len(pl.raw)
	if n == 0 || breakBefore(pl.raw, n) > 0 {
		return
	}
	last := len(pl.edits) - 1
	for last >= 0 && pl.edits[last].Start == n {
		last--
	}
	if last < 0 || pl.edits[last].End != n || len(pl.edits[last].Text) > 0 || breakBefore(pl.raw, pl.edits[last].Start) == 0 {
		return
	}
	if last+1 < len(pl.edits) {
		text := pl.edits[last+1].Text
		pl.edits[last+1].Text = text[breakAt(text, 0):]
		return
	}
	if keep {
		return
	}
	start := pl.edits[last].Start
	for k := last - 1; k >= 0 && pl.edits[k].End == start; k-- {
		if text := pl.edits[k].Text; len(text) > 0 {
			pl.edits[k].Text = text[:len(text)-breakBefore(text, len(text))]
			return
		}
		start = pl.edits[k].Start
	}
	w := breakBefore(pl.raw, start)
	for k := 0; k <= last; k++ {
		if pl.edits[k].Start == start && pl.edits[k].End > start {
			pl.edits[k].Start -= w
		}
	}
}
