package manifest

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Document is one document of a stream with the bytes that belong to it: its separator line, the comments and
// directives before it, and the end marker behind it. Joining the Raw of all documents gives the stream.
type Document struct {
	// File is the name messages use.
	File string
	// Index counts documents from 1; empty and comment-only documents after a separator count. It is 0 for text
	// that belongs to no document, such as a file of comments only.
	Index int
	// Line is the number of the first line of Raw in the file, from 1.
	Line int
	// Offset is where Raw starts in the UTF-8 text of the file.
	Offset int64
	// Raw must not be written to: documents of one stream share memory.
	Raw []byte
	// Findings are the problems that splitting met in this document: E_SEPARATOR and W_BAREDOC.
	Findings []policy.Finding

	body  int // offset in Raw behind prologue and separator line
	tail  int // offset in Raw of the end marker line or of the end
	sep   int // offset in Raw of the separator, -1 where there is none
	facts textFacts
}

// Split cuts the UTF-8 text of one file into documents and checks its encoding. Joining the Raw of the documents
// gives data back, whatever data is. The findings are those of the documents and E_ENCODING for the first byte that
// is no text; UTF-16 must have gone through [Decode].
func Split(file string, data []byte) ([]Document, []policy.Finding) {
	var docs []Document
	var fs []policy.Finding
	s := splitter{file: file, line: 1}
	bad := false
	if f, ok := sniffEncoding(file, data); ok {
		fs, bad = append(fs, f), true
	}
	for rest := data; len(rest) > 0; {
		n, _ := s.measure(rest, true)
		d, f := s.take(rest[:n:n])
		if f != nil && !bad {
			fs, bad = append(fs, *f), true
		}
		fs = append(fs, d.Findings...)
		docs = append(docs, d)
		rest = rest[n:]
	}
	return docs, fs
}

// after says what stood before the position where the next document starts.
type after int

const (
	afterNothing   after = iota // the start of the stream
	afterSeparator              // the next document starts with its separator
	afterEnd                    // an end marker: directives are allowed, content lacks a separator
	afterJSON                   // a JSON value: another one may follow without a separator
)

// splitter finds document borders one after the other. It is used on a whole file and on a growing buffer alike.
type splitter struct {
	file   string
	index  int
	line   int
	offset int64
	after  after

	// What measure learnt about the document at hand.
	scanned   int // up to where markers were looked for
	body      int
	tail      int
	sep       int
	next      after
	prologue  bool // nothing but comments, blanks and directives
	glued     []int
	jsonShort int
	dashFree  int64 // up to this offset of the stream there is no "---" that was not met
}

// measure gives the length of the document at the start of b; false means that more bytes are needed to tell.
func (s *splitter) measure(b []byte, eof bool) (int, bool) {
	s.sep, s.prologue, s.next = -1, false, afterNothing
	p := s.skipPrologue(b)
	if p+lookahead > len(b) && !eof {
		return 0, false
	}
	from := p
	switch markerAt(b, p) {
	case '-':
		s.sep = p
		from = skipBlanks(b, p+3)
		if e := breakAt(b, from); e > 0 || from < len(b) && b[from] == '#' {
			from = nextLine(b, from)
			if hasBOM(b, from) {
				from += 3
			}
		}
	case '.':
		s.prologue, s.next = true, afterEnd
		n := nextLine(b, p)
		if n+lookahead > len(b) && !eof {
			return 0, false
		}
		s.body, s.tail = p, p
		return n, true
	default:
		if p >= len(b) {
			s.prologue = true
			s.body, s.tail = p, p
			return len(b), eof
		}
	}
	s.body = from
	if n, sure, is := s.measureJSON(b, from, eof); is {
		return n, sure
	}
	pos, kind, ok := s.marker(b, max(from, s.scanned-lookahead), eof)
	if !ok {
		s.scanned = len(b)
		return 0, false
	}
	return s.border(b, pos, kind, eof)
}

// border ends a document at the marker found at pos; kind 0 is the end of the stream.
func (s *splitter) border(b []byte, pos int, kind byte, eof bool) (int, bool) {
	s.tail = pos
	switch kind {
	case '-':
		s.next = afterSeparator
		if pos >= 3 && hasBOM(b, pos-3) && pos > s.body {
			pos -= 3
			s.tail = pos
		}
		return pos, true
	case '.':
		s.next = afterEnd
		n := nextLine(b, pos)
		if n+1 > len(b) && !eof {
			return 0, false
		}
		return n, true
	}
	return len(b), true
}

// skipPrologue moves over blank lines, comments and, where they are allowed, directives.
func (s *splitter) skipPrologue(b []byte) int {
	p := 0
	if s.after == afterSeparator {
		if hasBOM(b, 0) {
			p = 3
		}
		return p
	}
	for p < len(b) {
		if hasBOM(b, p) {
			p += 3
			continue
		}
		q := skipBlanks(b, p)
		switch {
		case q >= len(b):
			return q
		case breakAt(b, q) > 0:
			p = q + breakAt(b, q)
		case b[q] == '#' || b[q] == '%' && q == p && s.after != afterJSON:
			p = nextLine(b, q)
		default:
			// Content may be indented; a marker may not, and stands at p itself.
			return p
		}
	}
	return p
}

// take makes the document of the bytes just measured and moves on behind it.
func (s *splitter) take(raw []byte) (Document, *policy.Finding) {
	d := Document{File: s.file, Line: s.line, Offset: s.offset, Raw: raw, body: s.body, tail: s.tail, sep: s.sep}
	d.facts = scanText(raw)
	var bad *policy.Finding
	if !s.prologue {
		s.index++
		d.Index = s.index
	}
	if d.facts.bad >= 0 {
		f := d.encodingFinding()
		bad = &f
		d.facts.breaks = countBreaks(raw)
	}
	for _, g := range s.glued {
		end := lineEnd(raw, g)
		d.Findings = append(d.Findings, d.finding("E_SEPARATOR", policy.Error, g,
			"text directly after the separator ---: "+cut(string(raw[g:end]), 40),
			"put a line break or a blank after ---"))
	}
	if s.after == afterEnd && !s.prologue && s.sep < 0 {
		d.Findings = append(d.Findings, d.finding("W_BAREDOC", policy.Warning, s.body,
			"document follows the end marker ... without a separator ---; kubectl drops it silently",
			"put --- before it"))
	}
	s.line += d.facts.breaks
	s.offset += int64(len(raw))
	s.after, s.scanned, s.glued, s.jsonShort = s.next, 0, nil, 0
	return d, bad
}

// countBreaks counts line breaks the slow way, for text that is not valid.
func countBreaks(b []byte) int {
	n := 0
	for i := lineEnd(b, 0); i < len(b); i = lineEnd(b, i) {
		i += breakAt(b, i)
		n++
	}
	return n
}

// cut shortens text for a message.
func cut(s string, n int) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
