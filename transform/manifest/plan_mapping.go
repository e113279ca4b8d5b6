package manifest

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// mapping edits a block mapping.
func (pl *planner) mapping(n *yaml.Node, d *delta, s slot) {
	col := pl.p.column(pl.p.content(n))
	step := s.step
	if !s.root && !s.item && col > s.col {
		step = col - s.col
	}
	count := len(n.Content) / 2
	removed := make([]bool, count)
	left := count
	var adds []kid
	for _, k := range d.kids {
		i := entry(n, k.step.Key)
		switch {
		case i < 0 && k.d.removed:
			pl.fail("a key that a merge key brings in is removed")
		case i < 0:
			adds = append(adds, k)
		case k.d.removed:
			if !removed[i/2] {
				left--
			}
			removed[i/2] = true
		default:
			after := pl.p.colonEnd(n.Content[i], col)
			if after < 0 {
				pl.fail("a key without a colon")
				return
			}
			pl.change(n.Content[i+1], k.d, slot{after: after, col: col, step: step, in: n})
		}
	}
	if left == 0 {
		pl.replace(n, pl.newMapping(adds), s)
		return
	}
	pl.removeEntries(n, removed, col)
	var first, rest []kid
	for _, k := range adds {
		if k.step.Key == "metadata" && pl.canGoFirst(n, s) {
			first = append(first, k)
		} else {
			rest = append(rest, k)
		}
	}
	if len(first) > 0 {
		pl.insertLines(nextLine(pl.raw, s.after), pl.entries(n, first, col, step), nil)
	}
	if len(rest) > 0 {
		pl.insertLines(pl.behind(n, s, col), pl.entries(n, rest, col, step), n)
	}
}

// canGoFirst: the mapping stands below the line of its key, so a line can be put between them.
func (pl *planner) canGoFirst(n *yaml.Node, s slot) bool {
	return !s.root && !s.item && lineEnd(pl.raw, s.after) < pl.p.start(n)
}

// newMapping is the value of the added keys alone.
func (pl *planner) newMapping(adds []kid) *yaml.Node {
	pl.mixed()
	m := newFor(Step{})
	for _, k := range adds {
		m.Content = append(m.Content, keyNode(k.step.Key), pl.cs.intended(nil, k.d))
	}
	return m
}

// addedValue is the value of a key that the mapping does not have itself: new, or merged in and changed.
func (pl *planner) addedValue(n *yaml.Node, k kid) *yaml.Node {
	if k.d.set != nil {
		return k.d.set
	}
	return pl.written(Lookup(n, k.step.Key), k.d)
}

// entries renders new keys as lines at column col.
func (pl *planner) entries(n *yaml.Node, adds []kid, col, step int) func(*writer) {
	seq := pl.siblingOffset(n, col)
	return func(w *writer) {
		w.seq = seq
		if step > 0 {
			w.step = step
		}
		for _, k := range adds {
			w.spaces(col)
			w.entry(keyNode(k.step.Key), pl.addedValue(n, k), col)
		}
	}
}

// siblingOffset is how far the nearest block sequence in the mapping stands from its key, else the commonest of the
// document.
func (pl *planner) siblingOffset(n *yaml.Node, col int) int {
	for i := len(n.Content) - 1; i > 0; i -= 2 {
		if v := n.Content[i]; v.Kind == yaml.SequenceNode && v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0 {
			return max(pl.p.column(pl.p.content(v))-col, 0)
		}
	}
	return pl.look.seq
}

// removeEntries deletes the lines of removed keys.
func (pl *planner) removeEntries(n *yaml.Node, removed []bool, col int) {
	count := len(removed)
	for i := 0; i < count; i++ {
		if !removed[i] {
			continue
		}
		start := pl.entryStart(n, i)
		end := pl.p.entryEnd(n.Content[2*i], n.Content[2*i+1], col)
		if pl.ownLine(start) {
			pl.deleteLines(start, end)
			continue
		}
		// The key shares its line with the dash of its list: the next key that stays moves up.
		next := i + 1
		for next < count && removed[next] {
			next++
		}
		if next == count {
			pl.fail("keys removed around a shared line")
			return
		}
		to := pl.entryStart(n, next)
		if bytes.IndexByte(pl.raw[nextLine(pl.raw, end):to], '#') >= 0 {
			pl.edit(start, lineEnd(pl.raw, end), nil)
		} else {
			pl.edit(start, to, nil)
		}
		i = next - 1
	}
}

// entryStart is where the text of a key starts, its question mark included.
func (pl *planner) entryStart(n *yaml.Node, i int) int {
	if i == 0 {
		return pl.p.content(n)
	}
	start := pl.p.start(n.Content[2*i])
	k := start
	for k > 0 && isBlank(pl.raw[k-1]) {
		k--
	}
	if k > 0 && pl.raw[k-1] == '?' && pl.ownLine(k-1) {
		return k - 1
	}
	return start
}
