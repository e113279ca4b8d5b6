package print

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// DefaultContext is the usual number of unchanged lines around a change.
const DefaultContext = 3

// DiffOptions says what a difference looks like.
type DiffOptions struct {
	// Context is the number of unchanged lines shown around a change; see DefaultContext.
	Context int
	// Color colours the lines; for terminals only, never for files.
	Color bool
}

// Edit replaces the bytes from Start up to End, which is not part of it.
type Edit struct {
	Start, End int
	New        []byte
}

// span is an edit of whole lines: both ends are at the start of a line or the end of the file.
type span struct {
	lo, hi int
	new    []byte
}

// Diff writes the difference of two contents of a file as a unified diff that git apply and patch -p1 take, and
// nothing where there is none. name is a path with forward slashes. Lines end at a line feed alone, as for git, so
// carriage returns are part of the lines.
func Diff(w io.Writer, name string, old, new []byte, o DiffOptions) error {
	if bytes.Equal(old, new) {
		return nil
	}
	return writeDiff(w, name, old, generalSpans(string(old), string(new), 0), o)
}

// DiffEdits is Diff for a content whose edits are known, in time linear in the size of old and the edits. The edits
// must be in order and apart; insertions at one place are made in their order. Edits that change nothing are fine.
func DiffEdits(w io.Writer, name string, old []byte, edits []Edit, o DiffOptions) error {
	spans, err := lineSpans(old, edits)
	if err != nil || len(spans) == 0 {
		return err
	}
	return writeDiff(w, name, old, spans, o)
}

// lineSpans widens edits to whole lines and narrows them again to the lines that differ.
func lineSpans(old []byte, edits []Edit) ([]span, error) {
	var out []span
	for i := 0; i < len(edits); {
		lo, hi, err := lineRange(old, edits[i])
		if err != nil {
			return nil, err
		}
		var text []byte
		at := lo
		// Edits that share a line with the ones before them belong to the same range.
		for first := true; i < len(edits); first = false {
			e := edits[i]
			nextLo, nextHi, err := lineRange(old, e)
			if err != nil {
				return nil, err
			}
			if !first && nextLo >= hi && !(nextLo == lo && hi == lo) {
				break
			}
			if e.Start < at {
				return nil, errors.New("edits overlap or are out of order")
			}
			text = append(append(text, old[at:e.Start]...), e.New...)
			at = e.End
			hi = max(hi, nextHi)
			i++
		}
		text = append(text, old[at:hi]...)
		for _, s := range narrow(old, span{lo, hi, text}) {
			out = join(out, s)
		}
	}
	return out, nil
}

// join adds a span behind the others. Spans that touch become one, so that removed lines stand before added ones.
func join(spans []span, s span) []span {
	if n := len(spans); n > 0 && spans[n-1].hi == s.lo {
		last := &spans[n-1]
		last.hi, last.new = s.hi, slices.Concat(last.new, s.new)
		return spans
	}
	return append(spans, s)
}

// lineRange is the range of whole lines that an edit changes. Inserting or removing whole lines touches no line
// beside them.
func lineRange(old []byte, e Edit) (lo, hi int, err error) {
	if e.Start < 0 || e.Start > e.End || e.End > len(old) {
		return 0, 0, fmt.Errorf("edit of %d to %d is outside the %d bytes of the file", e.Start, e.End, len(old))
	}
	lo = bytes.LastIndexByte(old[:e.Start], '\n') + 1
	whole := len(e.New) == 0 || e.New[len(e.New)-1] == '\n'
	if lo == e.Start && whole && (e.End == e.Start || old[e.End-1] == '\n') {
		return lo, e.End, nil
	}
	return lo, lineEnd(old, e.End), nil
}

// lineEnd is the offset behind the line that offset is in.
func lineEnd(text []byte, offset int) int {
	if n := bytes.IndexByte(text[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(text)
}

// narrow takes the lines off a span that are the same before and after, at both ends. What is left and has several
// lines on both sides is compared line by line; it is as long as the edit, not as the file.
func narrow(old []byte, s span) []span {
	for s.lo < s.hi && len(s.new) > 0 {
		a, b := lineEnd(old[:s.hi], s.lo), lineEnd(s.new, 0)
		if !bytes.Equal(old[s.lo:a], s.new[:b]) {
			break
		}
		s.lo, s.new = a, s.new[b:]
	}
	for s.lo < s.hi && len(s.new) > 0 {
		a, b := lastLine(old[s.lo:s.hi]), lastLine(s.new)
		if !bytes.Equal(old[s.lo+a:s.hi], s.new[b:]) {
			break
		}
		s.hi, s.new = s.lo+a, s.new[:b]
	}
	switch {
	case s.lo == s.hi && len(s.new) == 0:
		return nil
	case lineEnd(old[:s.hi], s.lo) < s.hi && lineEnd(s.new, 0) < len(s.new):
		return generalSpans(string(old[s.lo:s.hi]), string(s.new), s.lo)
	}
	return []span{s}
}

// lastLine is the offset of the last line of a text that is not empty.
func lastLine(text []byte) int {
	return bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
}

// writeDiff writes spans with their surroundings.
func writeDiff(w io.Writer, name string, old []byte, spans []span, o DiffOptions) error {
	style := Style{On: o.Color}
	h := hunks{old: old, context: max(0, o.Context), style: style, line: 1}
	h.out.WriteString(style.Bold("--- "+diffName("a/", name)) + "\n" + style.Bold("+++ "+diffName("b/", name)) + "\n")
	h.write(spans)
	_, err := w.Write(h.out.Bytes())
	return err
}

// diffName is a path as git and patch read it: quoted as in C where it holds characters that would end it early, and
// with a tab behind it where it holds a blank.
func diffName(prefix, name string) string {
	name = prefix + strings.TrimPrefix(name, "/")
	if strings.IndexFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '"' || r == '\\' }) >= 0 {
		return quoteC(name)
	}
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

func quoteC(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
