package pod

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readBlocks reads the plain block YAML that templates render: mappings and lists by indentation, scalars on one line,
// plain or quoted, literal blocks, and flow collections, which it hands to the library. Anything else (anchors, tags,
// comments behind values, multi-line scalars, unusual characters) makes ok false, and the library reads the text. It is
// about six times as fast as the library; FuzzBlocks holds that both read the same.
func readBlocks(text []byte) (root *yaml.Node, ok bool) {
	r := blockReader{text: string(text)}
	if !r.split() {
		return nil, false
	}
	if len(r.lines) == 0 {
		return nil, true
	}
	root = r.node(r.lines[0].indent)
	return root, !r.odd && r.at == len(r.lines)
}

// textLine is a line that is neither blank nor a comment; raw is its place in the text.
type textLine struct {
	indent int
	text   string
	number int
	start  int
}

type blockReader struct {
	text  string
	lines []textLine
	at    int
	// odd is set for what this reader does not read.
	odd  bool
	slab []yaml.Node
}

// split cuts the text into lines; false for characters or markers that only the library should judge.
func (r *blockReader) split() bool {
	r.lines = make([]textLine, 0, strings.Count(r.text, "\n")+1)
	number := 0
	for start := 0; start < len(r.text); {
		end := strings.IndexByte(r.text[start:], '\n')
		if end < 0 {
			end = len(r.text) - start
		}
		line := r.text[start : start+end]
		number++
		indent := 0
		for indent < len(line) && line[indent] == ' ' {
			indent++
		}
		body := strings.TrimRight(line[indent:], " ")
		if body != "" && body[0] != '#' {
			if body[0] == '%' || body[0] == '\t' || indent == 0 && (strings.HasPrefix(body, "---") || strings.HasPrefix(body, "...")) {
				return false
			}
			r.lines = append(r.lines, textLine{indent, body, number, start})
		}
		start += end + 1
	}
	// Control characters, line separators and a byte order mark have rules of their own.
	return !strings.ContainsFunc(r.text, func(c rune) bool {
		return c < ' ' && c != '\n' || c >= 0x7f
	})
}

func (r *blockReader) make(kind yaml.Kind, line int) *yaml.Node {
	if len(r.slab) == 0 {
		r.slab = make([]yaml.Node, 64)
	}
	n := &r.slab[0]
	r.slab = r.slab[1:]
	n.Kind, n.Line = kind, line
	return n
}

func (r *blockReader) fail() *yaml.Node {
	r.odd = true
	return nil
}

func isItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

// node reads the block at the current line, whose indentation is n.
func (r *blockReader) node(n int) *yaml.Node {
	switch l := r.lines[r.at]; {
	case isItem(l.text):
		return r.sequence(n)
	case keyEnd(l.text) >= 0:
		return r.mapping(n)
	}
	return r.fail()
}

// keyEnd finds the colon behind a key; -1 where the line has none.
func keyEnd(text string) int {
	from := 0
	if text[0] == '"' || text[0] == '\'' {
		end := strings.IndexByte(text[1:], text[0])
		if end < 0 {
			return -1
		}
		from = end + 2
		if from < len(text) && text[from] != ':' {
			return -1
		}
	}
	for i := from; i < len(text); i++ {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ') {
			return i
		}
		if text[i] == ' ' && i+1 < len(text) && text[i+1] == '#' {
			return -1
		}
	}
	return -1
}

func (r *blockReader) mapping(n int) *yaml.Node {
	m := r.make(yaml.MappingNode, r.lines[r.at].number)
	m.Content = make([]*yaml.Node, 0, 8)
	for r.at < len(r.lines) && !r.odd {
		l := r.lines[r.at]
		if l.indent != n || isItem(l.text) {
			if l.indent > n {
				return r.fail()
			}
			break
		}
		colon := keyEnd(l.text)
		if colon < 0 {
			return r.fail()
		}
		key := r.scalar(strings.TrimRight(l.text[:colon], " "), l.number)
		if r.odd || key.Value == "<<" || key.Value == "" {
			return r.fail()
		}
		m.Content = append(m.Content, key, r.value(strings.TrimLeft(l.text[colon+1:], " "), n, l, true))
	}
	return m
}

func (r *blockReader) sequence(n int) *yaml.Node {
	s := r.make(yaml.SequenceNode, r.lines[r.at].number)
	for r.at < len(r.lines) && !r.odd {
		l := r.lines[r.at]
		if l.indent != n || !isItem(l.text) {
			if l.indent > n {
				return r.fail()
			}
			break
		}
		rest := strings.TrimLeft(l.text[1:], " ")
		switch {
		case rest == "":
			s.Content = append(s.Content, r.value("", n, l, false))
		case isItem(rest), keyEnd(rest) >= 0 && rest[0] != '{' && rest[0] != '[':
			// What stands behind the dash is the first line of a block of its own.
			inner := n + len(l.text) - len(rest)
			r.lines[r.at] = textLine{inner, rest, l.number, l.start}
			s.Content = append(s.Content, r.node(inner))
		default:
			s.Content = append(s.Content, r.value(rest, n, l, false))
		}
	}
	return s
}

// value reads what stands behind a key or dash of indentation n, on its line or below.
func (r *blockReader) value(text string, n int, l textLine, key bool) *yaml.Node {
	r.at++
	switch {
	case text == "":
		return r.below(n, l, key)
	case text == "|" || text == "|-":
		return r.literal(text, n, l)
	case text[0] == '{' || text[0] == '[':
		return r.flow(text, l)
	}
	v := r.scalar(text, l.number)
	if r.at < len(r.lines) && r.lines[r.at].indent > n {
		return r.fail() // the scalar goes on, or the indentation is wrong
	}
	return v
}

// below reads the block under a key or dash; null where there is none.
func (r *blockReader) below(n int, l textLine, key bool) *yaml.Node {
	if r.at < len(r.lines) {
		next := r.lines[r.at]
		switch {
		case next.indent > n:
			if isItem(next.text) || keyEnd(next.text) >= 0 {
				return r.node(next.indent)
			}
			if text := next.text; text[0] == '{' || text[0] == '[' {
				r.at++
				return r.flow(text, next)
			}
			return r.fail()
		case key && next.indent == n && isItem(next.text):
			return r.sequence(n)
		}
	}
	return r.make(yaml.ScalarNode, l.number)
}

// scalar reads a plain or quoted scalar that fills text.
func (r *blockReader) scalar(text string, line int) *yaml.Node {
	if text == "" || len(text) == 1 && (text[0] == '"' || text[0] == '\'') {
		return r.fail()
	}
	s := r.make(yaml.ScalarNode, line)
	switch text[0] {
	case '"':
		s.Style = yaml.DoubleQuotedStyle
		end := strings.IndexByte(text[1:], '"')
		if end == len(text)-2 && strings.IndexByte(text, '\\') < 0 {
			s.Value = text[1 : len(text)-1]
			return s
		}
		return r.escaped(s, text)
	case '\'':
		s.Style = yaml.SingleQuotedStyle
		if strings.IndexByte(text[1:], '\'') != len(text)-2 {
			return r.fail()
		}
		s.Value = text[1 : len(text)-1]
		return s
	}
	if !plain(text) {
		return r.fail()
	}
	s.Value = text
	return s
}

// escaped reads a double-quoted scalar with the escapes that Go and JSON print for common text.
func (r *blockReader) escaped(s *yaml.Node, text string) *yaml.Node {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			if i != len(text)-1 {
				return r.fail()
			}
			s.Value = b.String()
			return s
		case c != '\\':
			b.WriteByte(c)
		default:
			i++
			if i >= len(text) {
				return r.fail()
			}
			plain, ok := map[byte]byte{'"': '"', '\\': '\\', 'n': '\n', 't': '\t', 'r': '\r', '/': '/'}[text[i]]
			if !ok {
				return r.fail()
			}
			b.WriteByte(plain)
		}
	}
	return r.fail()
}

// plain tells whether text is a plain scalar without surprises.
func plain(text string) bool {
	switch text[0] {
	case '*', '&', '!', '|', '>', '%', '@', '`', '{', '}', '[', ']', ',', '#', '"', '\'', '?', ':':
		return false
	case '-':
		if len(text) == 1 || text[1] == ' ' {
			return false
		}
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ':':
			if i+1 == len(text) || text[i+1] == ' ' {
				return false
			}
		case '#':
			if text[i-1] == ' ' {
				return false
			}
		}
	}
	return true
}

// literal reads a block scalar; the lines that were cut already are taken from the text itself, blank ones among them.
func (r *blockReader) literal(header string, n int, l textLine) *yaml.Node {
	s := r.make(yaml.ScalarNode, l.number)
	s.Style = yaml.LiteralStyle
	if r.at >= len(r.lines) || r.lines[r.at].indent <= n {
		return r.fail()
	}
	indent := r.lines[r.at].indent
	var b strings.Builder
	start := r.lines[r.at].start
	if start != l.start+len(lineAt(r.text, l.start))+1 {
		return r.fail() // a blank or comment line before the first
	}
	for start < len(r.text) {
		line := lineAt(r.text, start)
		if trimmed := strings.TrimLeft(line, " "); trimmed == "" {
			if len(line) > indent {
				return r.fail()
			}
			b.WriteByte('\n')
		} else {
			if len(line)-len(trimmed) < indent {
				break
			}
			b.WriteString(line[indent:])
			b.WriteByte('\n')
		}
		start += len(line) + 1
	}
	for r.at < len(r.lines) && r.lines[r.at].start < start {
		r.at++
	}
	s.Value = strings.TrimRight(b.String(), "\n")
	if header == "|" {
		s.Value += "\n"
	}
	if start > len(r.text) && header == "|" {
		return r.fail() // no line end at the end of the text
	}
	return s
}

func lineAt(text string, start int) string {
	if end := strings.IndexByte(text[start:], '\n'); end >= 0 {
		return text[start : start+end]
	}
	return text[start:]
}

// flow hands a flow collection to the library; it may go on over the following lines.
func (r *blockReader) flow(text string, l textLine) *yaml.Node {
	if text == "{}" || text == "[]" {
		kind := yaml.MappingNode
		if text == "[]" {
			kind = yaml.SequenceNode
		}
		n := r.make(kind, l.number)
		n.Style = yaml.FlowStyle
		return n
	}
	var b bytes.Buffer
	b.WriteString(text)
	depth, ok := brackets(text, 0)
	for ok && depth > 0 && r.at < len(r.lines) {
		b.WriteByte('\n')
		b.WriteString(" " + r.lines[r.at].text)
		depth, ok = brackets(r.lines[r.at].text, depth)
		r.at++
	}
	var doc yaml.Node
	if !ok || depth != 0 || yaml.Unmarshal(b.Bytes(), &doc) != nil || len(doc.Content) != 1 {
		return r.fail()
	}
	return doc.Content[0]
}

// brackets counts open brackets outside of quotes; false where a quote does not end on the line or text follows the end.
func brackets(text string, depth int) (int, bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 && i != len(text)-1 {
				return 0, false
			}
		case '#', '&', '*', '!':
			return 0, false
		case '\'':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return 0, false
			}
			i += end + 1
		case '"':
			i++
			for i < len(text) && text[i] != '"' {
				if text[i] == '\\' {
					i++
				}
				i++
			}
			if i >= len(text) {
				return 0, false
			}
		}
	}
	return depth, true
}
