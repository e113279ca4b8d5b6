package print

import (
	"bytes"
	"fmt"
)

// hunks writes changed lines and their surroundings. It goes through the old content once.
type hunks struct {
	old     []byte
	context int
	style   Style
	out     bytes.Buffer

	// line is the number of the line that starts at offset; shift is how many lines the new content is ahead.
	offset, line, shift int
	// body holds the lines of the current hunk, from and to count them.
	body     bytes.Buffer
	from, to int
}

// write writes all hunks. Spans whose surroundings meet share one.
func (h *hunks) write(spans []span) {
	for i := 0; i < len(spans); {
		start := h.back(spans[i].lo)
		h.advance(start)
		first, shift := h.line, h.shift
		for {
			s := spans[i]
			h.keep(s.lo)
			h.change(s)
			i++
			end := h.ahead(s.hi)
			if i == len(spans) || h.back(spans[i].lo) > end {
				h.keep(end)
				break
			}
		}
		h.head(first, shift)
	}
}

// back is the offset h.context lines before a line's start, but not before what is written already.
func (h *hunks) back(offset int) int {
	for range h.context {
		if offset <= h.offset {
			return h.offset
		}
		offset = bytes.LastIndexByte(h.old[:offset-1], '\n') + 1
	}
	return offset
}

// ahead is the offset h.context lines behind a line's start.
func (h *hunks) ahead(offset int) int {
	for range h.context {
		offset = lineEnd(h.old, offset)
	}
	return offset
}

// advance passes over unchanged lines that are not shown.
func (h *hunks) advance(offset int) {
	h.line += bytes.Count(h.old[h.offset:offset], []byte{'\n'})
	h.offset = offset
}

// keep shows the unchanged lines up to offset.
func (h *hunks) keep(offset int) {
	for h.offset < offset {
		end := lineEnd(h.old, h.offset)
		h.show(' ', h.old[h.offset:end])
		h.offset = end
		h.line++
		h.from++
		h.to++
	}
}

// change shows a span: removed lines, then added ones.
func (h *hunks) change(s span) {
	for h.offset < s.hi {
		end := lineEnd(h.old, h.offset)
		h.show('-', h.old[h.offset:end])
		h.offset = end
		h.line++
		h.from++
		h.shift--
	}
	for rest := s.new; len(rest) > 0; {
		end := lineEnd(rest, 0)
		h.show('+', rest[:end])
		rest = rest[end:]
		h.to++
		h.shift++
	}
}

// show writes one line with its sign. Colour ends before the line end, so that no line of a terminal runs on in it.
func (h *hunks) show(sign byte, line []byte) {
	text := bytes.TrimSuffix(line, []byte{'\n'})
	missing := len(text) == len(line)
	text = bytes.TrimSuffix(text, []byte{'\r'})
	end := line[len(text):]
	colored := string(sign) + string(text)
	switch sign {
	case '-':
		colored = h.style.Red(colored)
	case '+':
		colored = h.style.Green(colored)
	}
	h.body.WriteString(colored)
	h.body.Write(end)
	if missing {
		h.body.WriteString("\n\\ No newline at end of file\n")
	}
}

// head writes the hunk that was gathered: its range in both contents, then its lines. A range without lines is
// numbered by the line before it, as diff does.
func (h *hunks) head(first, shift int) {
	h.out.WriteString(h.style.Cyan(fmt.Sprintf("@@ -%s +%s @@", hunkRange(first, h.from), hunkRange(first+shift, h.to))) + "\n")
	h.out.Write(h.body.Bytes())
	h.body.Reset()
	h.from, h.to = 0, 0
}

func hunkRange(line, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, count)
}
