package manifest

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"
)

// planner turns changes into edits of the bytes. It gives up with an error where splicing has no good form; the
// document is then encoded anew.
type planner struct {
	p     *Parsed
	cs    *changeSet
	raw   []byte
	look  look
	edits []Edit
	err   error
	// direct holds what happens to anchored nodes at their own place.
	direct map[*yaml.Node]*delta
	// fresh holds the nodes of new values, once values are printed that also have nodes of the document.
	fresh map[*yaml.Node]bool
	// clip is the block scalar that ends the text without a line break and must not gain one, nil for none.
	clip *yaml.Node
}

// slot is the place of a node: what surrounds its value.
type slot struct {
	// flow: inside of a flow collection, where everything is flow.
	flow bool
	// root: the top of the document.
	root bool
	// after is the offset behind the colon or dash in front of the value.
	after int
	// item: an element of a block sequence; otherwise the value of a block mapping's key.
	item bool
	// col is the column of the key or dash; it is also the indentation around the value.
	col int
	// step is the last distance of a mapping from the mapping around it on the way here, 0 where none was seen.
	step int
	// in is the mapping that holds the key, nil elsewhere.
	in *yaml.Node
}

// indent is the column that block scalars in the slot count from.
func (s slot) indent() int {
	if s.root || s.flow {
		return -1
	}
	return s.col
}

func (pl *planner) fail(reason string) {
	if pl.err == nil {
		pl.err = errors.New(reason)
	}
}

// edit notes one replacement. Edits at one place keep the order in which they are noted.
func (pl *planner) edit(start, end int, text []byte) {
	if start == end && len(text) == 0 {
		return
	}
	pl.edits = append(pl.edits, Edit{start, end, text})
}

// change works the changes below n into its text.
func (pl *planner) change(n *yaml.Node, d *delta, s slot) {
	if pl.err != nil || d == nil || d.empty() {
		return
	}
	if d.set != nil {
		pl.replace(n, d.set, s)
		return
	}
	if len(d.kids) == 0 && len(d.inserts) == 0 {
		return
	}
	if n.Kind == yaml.AliasNode {
		if at := pl.direct[n.Alias]; at != nil && equalDelta(at, d) {
			return
		}
		pl.replace(n, pl.written(n, d), s)
		return
	}
	switch {
	case n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode:
		pl.fail("a change leads through a value that is no collection")
	case n.Style&yaml.FlowStyle != 0:
		if len(n.Content) == 0 && !s.flow && !s.root {
			pl.replace(n, pl.written(n, d), s)
			return
		}
		pl.flow(n, d, s)
	case n.Kind == yaml.MappingNode:
		pl.mapping(n, d, s)
	default:
		pl.sequence(n, d, s)
	}
}

// written gives the changed value of an alias, of something merged in or of a moved element, to be printed anew. What
// it takes from the document keeps its spelling.
func (pl *planner) written(n *yaml.Node, d *delta) *yaml.Node {
	pl.mixed()
	v := pl.cs.intended(n, &delta{set: d.set, kids: d.kids, inserts: d.inserts})
	return Resolve(v)
}

// mixed prepares for printing values in which new nodes and nodes of the document meet.
func (pl *planner) mixed() {
	if pl.fresh != nil {
		return
	}
	pl.fresh = map[*yaml.Node]bool{}
	pl.cs.each(func(n *yaml.Node) { pl.fresh[n] = true })
}

// keeps tells whether a scalar comes from the document.
func (pl *planner) keeps(v *yaml.Node) bool { return pl.fresh != nil && v.Line > 0 && !pl.fresh[v] }

// equalDelta tells whether two places want the same.
func equalDelta(a, b *delta) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || (a.set == nil) != (b.set == nil) || a.removed != b.removed || a.moved != b.moved ||
		len(a.kids) != len(b.kids) || len(a.inserts) != len(b.inserts) {
		return false
	}
	if a.set != nil && !equalTree(a.set, b.set) {
		return false
	}
	for _, k := range a.kids {
		if !equalDelta(k.d, b.kid(k.step)) {
			return false
		}
	}
	for i := range a.inserts {
		x, y := a.inserts[i], b.inserts[i]
		if x.at != y.at || (x.from == nil) != (y.from == nil) {
			return false
		}
		if x.from != nil {
			if x.from.slot != y.from.slot || x.from.seq != y.from.seq {
				return false
			}
		} else if !equalTree(x.value, y.value) {
			return false
		}
	}
	return true
}

// anchored notes which anchored nodes are changed at their own place.
func (pl *planner) anchored(n *yaml.Node, d *delta) {
	if n == nil || n.Kind == yaml.AliasNode {
		return
	}
	if n.Anchor != "" {
		if pl.direct == nil {
			pl.direct = map[*yaml.Node]*delta{}
		}
		pl.direct[n] = d
	}
	for _, k := range d.kids {
		var c *yaml.Node
		switch {
		case k.step.IsIndex && k.step.Index < len(n.Content):
			c = n.Content[k.step.Index]
		case !k.step.IsIndex:
			if i := entry(n, k.step.Key); i >= 0 {
				c = n.Content[i+1]
			}
		}
		pl.anchored(c, k.d)
	}
}

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

// ownLine: nothing but blanks stands before offset on its line.
func (pl *planner) ownLine(offset int) bool {
	start := pl.p.lineStart(offset)
	return skipBlanks(pl.raw, start) >= offset
}

// deleteLines deletes the lines from the one that holds start to the one that holds end.
func (pl *planner) deleteLines(start, end int) {
	pl.edit(pl.p.lineStart(start), nextLine(pl.raw, end), nil)
}

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
	for i := 0; i < len(d.inserts); {
		// One insertion for all elements at one place.
		at := d.inserts[i].at
		var group []insertion
		done := true
		for _, o := range d.inserts {
			if o.at == at {
				group = append(group, o)
			}
		}
		for _, o := range d.inserts[:i] {
			done = done && o.at != at
		}
		if done {
			pl.insertItems(n, group, at, col, s)
		}
		i++
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

// writer makes a printer in the style of the document.
func (pl *planner) writer(eol string) *writer {
	w := &writer{look: pl.look, eol: eol, keeps: pl.keeps}
	if len(pl.cs.moved) > 0 {
		w.moved = func(stand *yaml.Node, col int) ([]byte, bool) {
			m := pl.cs.moved[stand]
			if m == nil {
				return nil, false
			}
			return pl.movedText(m, col)
		}
	}
	return w
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
