package manifest

import (
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// jsonState is how the scan of one JSON value ended.
type jsonState int

const (
	jsonOK jsonState = iota
	// jsonShort: the text ends inside the value.
	jsonShort
	// jsonBad: the text is not JSON.
	jsonBad
	// jsonDeep: nested deeper than the parser follows.
	jsonDeep
)

// maxJSONDepth bounds recursion; what is deeper than maxDepth is refused later with its own code.
const maxJSONDepth = 10000

// jsonScanner reads strict JSON (RFC 8259) and keeps the place of every value. Without build it only checks.
type jsonScanner struct {
	b     []byte
	i     int
	build bool
	depth int
	state jsonState
	what  string // what was wrong at i

	// Line and column bookkeeping, in lines as the YAML parser counts them.
	line, lineStart, extra int
}

// skipJSON finds the end of the JSON value at b[i].
func skipJSON(b []byte, i int) (int, jsonState) {
	s := jsonScanner{b: b, i: i}
	s.value()
	return s.i, s.state
}

func (s *jsonScanner) fail(what string) *yaml.Node {
	if s.state == jsonOK {
		s.state, s.what = jsonBad, what
		if s.i >= len(s.b) {
			s.state = jsonShort
		}
	}
	return nil
}

func (s *jsonScanner) node(kind yaml.Kind, tag string) *yaml.Node {
	if !s.build {
		return nil
	}
	return &yaml.Node{Kind: kind, Tag: tag, Line: s.line, Column: s.column()}
}

// column is the position of s.i in characters, from 1.
func (s *jsonScanner) column() int { return s.i - s.lineStart - s.extra + 1 }

// space moves over white space and follows the lines.
func (s *jsonScanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t':
			s.i++
		case '\n', '\r':
			s.newLine(breakAt(s.b, s.i))
		default:
			return
		}
	}
}

func (s *jsonScanner) newLine(width int) {
	s.i += width
	s.line++
	s.lineStart, s.extra = s.i, 0
}

// value reads one value; the caller has skipped white space.
func (s *jsonScanner) value() *yaml.Node {
	if s.i >= len(s.b) {
		return s.fail("unexpected end of JSON text")
	}
	switch c := s.b[s.i]; {
	case c == '{':
		return s.object()
	case c == '[':
		return s.array()
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true", "!!bool")
	case c == 'f':
		return s.word("false", "!!bool")
	case c == 'n':
		return s.word("null", "!!null")
	}
	return s.fail("expected a JSON value")
}

func (s *jsonScanner) word(word, tag string) *yaml.Node {
	n := s.node(yaml.ScalarNode, tag)
	for k := 0; k < len(word); k++ {
		if s.i >= len(s.b) || s.b[s.i] != word[k] {
			return s.fail("expected a JSON value")
		}
		s.i++
	}
	if n != nil {
		n.Value = word
	}
	return n
}

func (s *jsonScanner) number() *yaml.Node {
	n, start, tag := s.node(yaml.ScalarNode, ""), s.i, "!!int"
	digits := func() bool {
		from := s.i
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		return s.i > from
	}
	if s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else if !digits() {
		return s.fail("expected a digit in a JSON number")
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		tag = "!!float"
		if !digits() {
			return s.fail("expected a digit in a JSON number")
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		tag = "!!float"
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !digits() {
			return s.fail("expected a digit in a JSON number")
		}
	}
	if n != nil {
		n.Tag, n.Value = tag, string(s.b[start:s.i])
	}
	return n
}

// str reads a string. Half surrogate pairs become U+FFFD, as in encoding/json.
func (s *jsonScanner) str() *yaml.Node {
	n := s.node(yaml.ScalarNode, "!!str")
	start, lineStart, line, extra := s.i, s.lineStart, s.line, s.extra
	s.i++
	plain := true
	for {
		if s.i >= len(s.b) {
			// The place to report is where the string opens: that is where a quote is missing.
			s.fail("unexpected end of JSON text inside a string")
			s.i, s.lineStart, s.line, s.extra = start, lineStart, line, extra
			return nil
		}
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			if n != nil {
				n.Style = yaml.DoubleQuotedStyle
				if plain {
					n.Value = string(s.b[start+1 : s.i-1])
				} else {
					n.Value = unescapeJSON(s.b[start+1 : s.i-1])
				}
			}
			return n
		case c == '\\':
			plain = false
			if !s.escape() {
				return nil
			}
		case c < 0x20:
			return s.fail("line break or control character inside a JSON string")
		case c >= utf8.RuneSelf:
			s.multibyte(c)
		default:
			s.i++
		}
	}
}

// multibyte moves over a character beyond ASCII.
func (s *jsonScanner) multibyte(c byte) {
	if c == 0xc2 || c == 0xe2 {
		if w := breakAt(s.b, s.i); w > 0 {
			s.newLine(w)
			return
		}
	}
	if c < 0xc0 {
		s.extra++
	}
	s.i++
}

func (s *jsonScanner) escape() bool {
	s.i++
	if s.i >= len(s.b) {
		s.fail("unexpected end of JSON text inside a string")
		return false
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return true
	case 'u':
		s.i++
		for range 4 {
			if s.i >= len(s.b) {
				s.fail("unexpected end of JSON text inside a string")
				return false
			}
			if hexValue(s.b[s.i]) < 0 {
				s.fail("bad \\u escape in a JSON string")
				return false
			}
			s.i++
		}
		return true
	}
	s.fail("unknown escape in a JSON string")
	return false
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// unescapeJSON decodes the checked text between two quotes.
func unescapeJSON(b []byte) string {
	out := make([]byte, 0, len(b))
	unit := func(i int) rune {
		return rune(hexValue(b[i])<<12 | hexValue(b[i+1])<<8 | hexValue(b[i+2])<<4 | hexValue(b[i+3]))
	}
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			out = append(out, b[i])
			i++
			continue
		}
		i += 2
		switch c := b[i-1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := unit(i)
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(0)
				if i+6 <= len(b) && b[i] == '\\' && b[i+1] == 'u' {
					low = unit(i + 2)
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// enter and leave bound the recursion.
func (s *jsonScanner) enter() bool {
	s.depth++
	if s.depth > maxJSONDepth {
		s.state, s.what = jsonDeep, "nested too deep"
		return false
	}
	s.i++
	s.space()
	return true
}

func (s *jsonScanner) object() *yaml.Node {
	n := s.node(yaml.MappingNode, "!!map")
	if !s.enter() {
		return nil
	}
	if n != nil {
		n.Style = yaml.FlowStyle
	}
	if s.i < len(s.b) && s.b[s.i] == '}' {
		s.i++
		s.depth--
		return n
	}
	for {
		if s.i >= len(s.b) {
			return s.fail("unexpected end of JSON text")
		}
		if s.b[s.i] != '"' {
			return s.fail("expected a quoted key in JSON")
		}
		k := s.str()
		if s.state != jsonOK {
			return nil
		}
		s.space()
		if s.i >= len(s.b) || s.b[s.i] != ':' {
			return s.failAt("expected ':' after a JSON key")
		}
		s.i++
		s.space()
		v := s.value()
		if s.state != jsonOK {
			return nil
		}
		if n != nil {
			n.Content = append(n.Content, k, v)
		}
		if done, ok := s.comma('}'); !ok {
			return nil
		} else if done {
			return n
		}
	}
}

func (s *jsonScanner) array() *yaml.Node {
	n := s.node(yaml.SequenceNode, "!!seq")
	if !s.enter() {
		return nil
	}
	if n != nil {
		n.Style = yaml.FlowStyle
	}
	if s.i < len(s.b) && s.b[s.i] == ']' {
		s.i++
		s.depth--
		return n
	}
	for {
		v := s.value()
		if s.state != jsonOK {
			return nil
		}
		if n != nil {
			n.Content = append(n.Content, v)
		}
		if done, ok := s.comma(']'); !ok {
			return nil
		} else if done {
			return n
		}
	}
}

func (s *jsonScanner) failAt(what string) *yaml.Node {
	if s.i >= len(s.b) {
		what = "unexpected end of JSON text"
	}
	return s.fail(what)
}

// comma reads what follows an element: a comma and white space, or the closing bracket.
func (s *jsonScanner) comma(closing byte) (done, ok bool) {
	s.space()
	if s.i < len(s.b) {
		switch s.b[s.i] {
		case closing:
			s.i++
			s.depth--
			return true, true
		case ',':
			s.i++
			s.space()
			return false, true
		}
	}
	s.failAt("expected ',' or '" + string(closing) + "' in JSON")
	return false, false
}
