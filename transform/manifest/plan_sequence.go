package manifest

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"
)

// sequence edits a block sequence.
func (pl *planner) sequence(n *yaml.Node, d *delta, s slot) {
	start := pl.p.content(n)
	col := pl.p.column(start)
	count := len(n.Content)
	gone := make([]bool, count)
	left := count
	for _, k := range d.kids {
		i := k.step.Index
		if i >= count {
			continue
		}
		if k.d.removed || k.d.moved {
			gone[i] = true
			left--
			continue
		}
		dash := pl.dash(n, i)
		if dash < 0 {
			pl.fail("a list item without its dash")
			return
		}
		pl.change(n.Content[i], k.d, slot{after: dash + 1, item: true, col: col, step: s.step})
	}
	if left == 0 && (len(d.inserts) == 0 || !pl.ownLine(start)) {
		pl.replace(n, pl.written(n, d), s)
		return
	}
	for i := range gone {
		if gone[i] {
			pl.removeItem(n, d, i, col)
		}
	}
	for i, ins := range d.inserts {
		if slices.ContainsFunc(d.inserts[:i], func(o insertion) bool { return o.at == ins.at }) {
			continue
		}
		// One insertion for all elements at one place.
		var group []insertion
		for _, o := range d.inserts[i:] {
			if o.at == ins.at {
				group = append(group, o)
			}
		}
		pl.insertItems(n, group, ins.at, col, s)
	}
}

// dash finds the dash of an element.
func (pl *planner) dash(n *yaml.Node, i int) int {
	if i == 0 {
		return pl.p.content(n)
	}
	col := pl.p.column(pl.p.content(n))
	k := pl.p.start(n.Content[i])
	for k > 0 && isBlank(pl.raw[k-1]) {
		k--
	}
	if k > 0 && pl.raw[k-1] == '-' && pl.p.column(k-1) == col {
		return k - 1
	}
	k = skipToToken(pl.raw, pl.p.end(n.Content[i-1], col))
	if k < len(pl.raw) && pl.raw[k] == '-' {
		return k
	}
	return -1
}

// removeItem deletes an element; one that moves takes its comments along.
func (pl *planner) removeItem(n *yaml.Node, d *delta, i, col int) {
	dash := pl.dash(n, i)
	if dash < 0 {
		pl.fail("a list item without its dash")
		return
	}
	if k := d.kid(At(i)); k.moved {
		from, to := pl.owned(n, i, dash, col)
		if !pl.ownLine(dash) {
			pl.fail("a list item that shares its line is moved")
			return
		}
		pl.edit(from, to, nil)
		return
	}
	end := pl.p.end(n.Content[i], col)
	if pl.ownLine(dash) {
		pl.deleteLines(dash, end)
		return
	}
	if i+1 >= len(n.Content) || pl.dash(n, i+1) < 0 || d.kid(At(i+1)) != nil {
		pl.fail("a list item that shares its line is removed")
		return
	}
	pl.edit(dash, pl.dash(n, i+1), nil)
}

// insertItems puts new elements before the element at index at.
func (pl *planner) insertItems(n *yaml.Node, group []insertion, at, col int, s slot) {
	seq := pl.look.seq
	if !s.root && !s.item {
		seq = max(col-s.col, 0)
	}
	width := pl.dashWidth(n, col)
	text := func(w *writer) {
		w.seq = seq
		if s.step > 0 {
			w.step = s.step
		}
		for _, ins := range group {
			if ins.from != nil {
				t, ok := pl.movedText(ins.from, col)
				if !ok {
					return
				}
				w.buf = append(w.buf, t...)
				w.last = 0
				continue
			}
			w.spaces(col)
			w.item(ins.value, col, width)
		}
	}
	if at > 0 {
		pl.insertLines(pl.extend(pl.p.end(n.Content[at-1], col), col), text, n.Content[at-1])
		return
	}
	dash := pl.p.content(n)
	switch {
	case !s.root && lineEnd(pl.raw, s.after) < dash && pl.ownLine(dash):
		// Directly below the key, or below the anchor or tag on a line of its own.
		below := nextLine(pl.raw, s.after)
		if start := pl.p.start(n); start < dash && start >= below {
			below = nextLine(pl.raw, start)
		}
		pl.insertLines(below, text, nil)
	case pl.ownLine(dash):
		pl.insertLines(pl.p.lineStart(dash), text, nil)
	default:
		w := pl.writer(pl.eolBefore(nextLine(pl.raw, dash)))
		text(w)
		b := bytes.TrimLeft(w.buf, " ")
		for range col {
			b = append(b, ' ')
		}
		pl.edit(dash, dash, b)
	}
}

// dashWidth copies the distance from dash to text of the last element on the line of its dash.
func (pl *planner) dashWidth(n *yaml.Node, col int) int {
	last := len(n.Content) - 1
	if last < 0 || isEmptyScalar(n.Content[last]) {
		return 2
	}
	dash := pl.dash(n, last)
	start := pl.p.start(n.Content[last])
	if dash < 0 || lineEnd(pl.raw, dash) < start {
		return 2
	}
	return max(start-dash, 2)
}
