package manifest

import (
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// lineTable knows where the lines of a document start, in the lines the parser counts.
type lineTable struct {
	starts []int32
	wide   bool
}

// newLineTable breaks raw into lines. A byte order mark in column 1 up to the start of the content is hidden from the
// parser, so its line starts behind it.
func newLineTable(raw []byte, f textFacts, body int) lineTable {
	t := lineTable{wide: f.wide, starts: make([]int32, 1, f.breaks+2)}
	fast := !f.odd && !f.loneCR
	for i := 0; i < len(raw); {
		if fast {
			for i < len(raw) && raw[i] != '\n' {
				i++
			}
		} else {
			i = lineEnd(raw, i)
		}
		if i < len(raw) {
			i += breakAt(raw, i)
			t.starts = append(t.starts, int32(i))
		}
	}
	if f.wide {
		for k, s := range t.starts {
			if int(s) > body {
				break
			}
			if hasBOM(raw, int(s)) {
				t.starts[k] += int32(len(bom))
			}
		}
	}
	return t
}

// offset turns a line and column of the parser into a byte offset.
func (t lineTable) offset(raw []byte, line, column int) int {
	if line < 1 || line > len(t.starts) {
		return len(raw)
	}
	i := int(t.starts[line-1])
	if !t.wide {
		return min(i+column-1, len(raw))
	}
	for c := 1; c < column && i < len(raw); c++ {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, n := utf8.DecodeRune(raw[i:])
		i += n
	}
	return i
}

// line gives the number of the line that holds offset, from 1.
func (t lineTable) line(offset int) int {
	lo, hi := 0, len(t.starts)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if int(t.starts[mid]) <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1
}

// place turns an offset in the document into a position in the file.
func (d Document) place(offset int) policy.Position {
	line, start := d.Line, 0
	for i := 0; i < len(d.Raw) && i < offset; {
		if w := breakAt(d.Raw, i); w > 0 {
			i += w
			if i <= offset {
				line, start = line+1, i
			}
			continue
		}
		i++
	}
	if start <= d.body && hasBOM(d.Raw, start) {
		start += len(bom)
	}
	col := 1
	if offset > start {
		col += utf8.RuneCount(d.Raw[start:min(offset, len(d.Raw))])
	}
	return policy.Position{File: d.File, Line: line, Column: col}
}

// finding makes a finding about the text at offset.
func (d Document) finding(code string, sev policy.Severity, offset int, message, hint string) policy.Finding {
	return policy.Finding{
		Code: code, Severity: sev, Position: d.place(offset), Document: d.Index, Message: message, Hint: hint,
	}
}

// Position gives the place of a node of the tree in the file. For a node with an anchor or a tag it is the place of
// that. A nil node or one that was not read from the document gives the first line of the document.
func (p *Parsed) Position(n *yaml.Node) policy.Position {
	if n == nil || n.Line == 0 {
		return policy.Position{File: p.Doc.File, Line: p.Doc.Line}
	}
	return policy.Position{File: p.Doc.File, Line: p.Doc.Line + n.Line - 1, Column: n.Column}
}

// finding makes a finding about a node.
func (p *Parsed) finding(code string, sev policy.Severity, n *yaml.Node, message, hint string) policy.Finding {
	return policy.Finding{
		Code: code, Severity: sev, Position: p.Position(n), Document: p.Doc.Index, Message: message, Hint: hint,
	}
}
