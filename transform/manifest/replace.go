package manifest

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// replace gives the slot a new value in place of n.
func (pl *planner) replace(n *yaml.Node, v *yaml.Node, s slot) {
	if pl.err != nil {
		return
	}
	switch {
	case pl.p.JSON || s.flow || s.root && n.Style&yaml.FlowStyle != 0:
		pl.replaceFlow(n, v, s)
	case n.Kind == yaml.ScalarNode && v.Kind == yaml.ScalarNode:
		pl.replaceScalar(n, v, s)
	case s.root || s.item:
		pl.replaceInline(n, v, s)
	default:
		pl.replaceValue(n, v, s)
	}
}

// valueStart is where the text to replace starts: behind anchor and tag, unless a core tag would contradict the value.
func (pl *planner) valueStart(n, v *yaml.Node) int {
	if n.Style&yaml.TaggedStyle != 0 && !isLocal(n) && (n.Kind != v.Kind || n.Kind == yaml.ScalarNode && scalarTag(n) != scalarTag(v)) {
		return pl.p.start(n)
	}
	if n.Kind != v.Kind && isLocal(n) {
		return pl.p.start(n)
	}
	return pl.p.content(n)
}

// replaceScalar changes the text of a scalar and nothing around it.
func (pl *planner) replaceScalar(n, v *yaml.Node, s slot) {
	start, end := pl.valueStart(n, v), pl.p.end(n, s.indent())
	if isEmptyScalar(n) && start == pl.p.content(n) {
		at := max(start, s.after)
		if n.Anchor == "" && n.Style == 0 {
			at = s.after
		}
		start, end = at, at
	}
	block := n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	str := scalarTag(v) == "!!str"
	w := pl.writer(pl.eolBefore(nextLine(pl.raw, start)))
	if s.step > 0 {
		w.step = s.step
	}
	lines := str && literalSafe(v.Value) && n.Style&yaml.DoubleQuotedStyle == 0 && !s.root &&
		!pl.swallows(nextLine(pl.raw, end), s.col, chomping(v.Value))
	switch {
	case lines:
		pl.scalarToLiteral(v.Value, start, end, block, w, s)
		return
	case str && n.Style&yaml.DoubleQuotedStyle != 0:
		w.buf = appendDouble(w.buf, v.Value)
	case str && n.Style&yaml.SingleQuotedStyle != 0:
		w.buf = appendQuoted(w.buf, v.Value, '\'')
	default:
		w.scalar(v)
	}
	text := w.buf
	if start == end && start > 0 && !isBlank(pl.raw[start-1]) {
		text = append([]byte{' '}, text...)
	}
	if block {
		head, _, _ := blockHeader(pl.raw, pl.p.content(n))
		pl.edit(start, head, text)
		if below := nextLine(pl.raw, head); below <= end && below > head {
			pl.deleteLines(below, end)
		}
		return
	}
	pl.edit(start, end, text)
}

// chomping tells how a literal block scalar with this text ends, see writer.last.
func chomping(text string) byte {
	switch {
	case !strings.HasSuffix(text, "\n"):
		return '-'
	case strings.HasSuffix(text, "\n\n"):
		return '+'
	}
	return '|'
}

// scalarToLiteral replaces a scalar by a literal block scalar: indicator in its place, lines below its line.
func (pl *planner) scalarToLiteral(text string, start, end int, block bool, w *writer, s slot) {
	w.literal(text, s.col, max(w.step, 1))
	head, lines, _ := bytes.Cut(w.buf, []byte(w.eol))
	head = append([]byte(nil), head...)
	if start == end && start > 0 && !isBlank(pl.raw[start-1]) {
		head = append([]byte{' '}, head...)
	}
	if block {
		e, _, _ := blockHeader(pl.raw, start)
		pl.edit(start, e, head)
		from, to := nextLine(pl.raw, e), nextLine(pl.raw, end)
		if to == len(pl.raw) && breakBefore(pl.raw, to) == 0 {
			lines = bytes.TrimSuffix(lines, []byte(w.eol))
		}
		if from > end {
			to = from
		}
		pl.edit(from, to, lines)
		return
	}
	pl.edit(start, end, head)
	at := nextLine(pl.raw, end)
	if at == len(pl.raw) && breakBefore(pl.raw, at) == 0 {
		lines = append([]byte(w.eol), bytes.TrimSuffix(lines, []byte(w.eol))...)
	}
	pl.edit(at, at, lines)
}

// replaceInline replaces the value of a list item, or the root: the first line goes on where the old value started.
func (pl *planner) replaceInline(n, v *yaml.Node, s slot) {
	start, end := pl.p.start(n), pl.p.end(n, s.indent())
	if pl.p.content(n) != start && n.Kind == v.Kind && n.Kind != yaml.AliasNode {
		start = pl.p.content(n)
	}
	if isEmptyScalar(n) && n.Anchor == "" && n.Style == 0 {
		start, end = s.after, s.after
	}
	at := pl.p.column(start)
	w := pl.writer(pl.eolBefore(nextLine(pl.raw, start)))
	if s.step > 0 {
		w.step = s.step
	}
	if s.root {
		start, at = pl.p.content(n), pl.p.column(pl.p.content(n))
	}
	if start == end && !s.root && !isBlank(pl.raw[start-1]) {
		w.buf = append(w.buf, ' ')
		at++
	}
	from := len(w.buf)
	w.element(v, s.col, at)
	if pl.swallows(nextLine(pl.raw, end), s.col, w.last) {
		w.buf, w.without, w.literals = w.buf[:from], w.literals, 0
		w.element(v, s.col, at)
	}
	// A comment behind a value of one line stays behind the first line of the new one.
	text := bytes.TrimSuffix(w.buf, []byte(w.eol))
	if i := bytes.Index(text, []byte(w.eol)); i >= 0 && skipBlanks(pl.raw, end) < lineEnd(pl.raw, end) {
		pl.edit(start, end, text[:i])
		to := nextLine(pl.raw, end)
		pl.edit(to, to, append(append([]byte(nil), text[i+len(w.eol):]...), w.eol...))
		return
	}
	pl.edit(start, end, text)
}

// replaceValue replaces the value of a key in a block mapping where one of the two is a collection. What follows the
// old value on the line of the key, a comment, stays there.
func (pl *planner) replaceValue(n, v *yaml.Node, s slot) {
	from, end := pl.valueStart(n, v), pl.p.end(n, s.indent())
	key := s.after // up to here the line of the key stays
	if props := pl.propsEnd(n); props > 0 && from == pl.p.content(n) && n.Kind != yaml.AliasNode {
		key = props
	}
	seqOff := pl.look.seq
	if n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0 {
		seqOff = max(pl.p.column(pl.p.content(n))-s.col, 0)
	} else if s.in != nil {
		seqOff = pl.siblingOffset(s.in, s.col)
	}
	render := func(w *writer) {
		w.seq = seqOff
		if s.step > 0 {
			w.step = s.step
		}
		w.value(v, s.col)
	}
	keyLine := lineEnd(pl.raw, key)
	eof := lineEnd(pl.raw, end) == len(pl.raw)
	w := pl.render(render, pl.eolBefore(nextLine(pl.raw, key)), func(w *writer) bool {
		// Comments between the key and its old value stay and would become text as well.
		return from > keyLine && v.Kind == yaml.ScalarNode && pl.p.lineStart(from) > nextLine(pl.raw, key) ||
			pl.swallows(nextLine(pl.raw, end), s.col, w.last)
	})
	head, lines, _ := bytes.Cut(w.buf, []byte(w.eol))
	head = append([]byte(nil), head...)
	if isEmptyScalar(n) && n.Style == 0 && n.Anchor == "" {
		from, end = key, key
	}
	below := from > keyLine // the old value starts below the line of its key
	block := n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch {
	case below:
		pl.edit(key, key, head)
		first, to := pl.p.lineStart(from), nextLine(pl.raw, end)
		if eof {
			lines = bytes.TrimSuffix(lines, []byte(w.eol))
		}
		pl.edit(first, to, lines)
		return
	case block:
		h, _, _ := blockHeader(pl.raw, pl.p.content(n))
		pl.edit(key, h, head)
		first, to := nextLine(pl.raw, h), nextLine(pl.raw, end)
		if end < first {
			to = first
		}
		if eof {
			lines = bytes.TrimSuffix(lines, []byte(w.eol))
		}
		pl.edit(first, to, lines)
		return
	}
	pl.edit(key, max(end, key), head)
	if len(lines) == 0 {
		return
	}
	at := nextLine(pl.raw, end)
	if at == len(pl.raw) && breakBefore(pl.raw, at) == 0 {
		lines = append([]byte(w.eol), bytes.TrimSuffix(lines, []byte(w.eol))...)
	}
	pl.edit(at, at, lines)
}

// propsEnd is the end of anchor and tag of a node, 0 where it has none.
func (pl *planner) propsEnd(n *yaml.Node) int {
	i, start := pl.p.content(n), pl.p.start(n)
	if i <= start {
		return 0
	}
	for skipToToken(pl.raw, start) < i && start < i {
		for start < i && !isBlank(pl.raw[start]) && breakAt(pl.raw, start) == 0 {
			start++
		}
		if skipToToken(pl.raw, start) >= i {
			return start
		}
		start = skipToToken(pl.raw, start)
	}
	return start
}
