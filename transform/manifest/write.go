package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// writer prints new values as block YAML. Lines are ended by eol, the last one too.
type writer struct {
	look
	buf []byte
	eol string
	// keeps tells which scalars come from the document itself: they keep their spelling. nil: none does.
	keeps func(*yaml.Node) bool
	// moved gives the text of a moved element for a dash in column col.
	moved func(stand *yaml.Node, col int) ([]byte, bool)
	// literals counts the block scalars printed; the one with number without, from 1, is printed in quotes. last is the chomping of the one that ends the text: '-', '|' for none or '+'; it
	// is 0 where the text ends otherwise.
	literals, without int
	last              byte
}

func (w *writer) spaces(n int) {
	for range n {
		w.buf = append(w.buf, ' ')
	}
}

func (w *writer) newLine() {
	w.buf = append(w.buf, w.eol...)
}

// own tells whether a scalar is one of the document's own.
func (w *writer) own(v *yaml.Node) bool { return w.keeps != nil && w.keeps(v) }

// entry prints "key: value" with the key at column col; the caller has printed the indentation.
func (w *writer) entry(k, v *yaml.Node, col int) {
	w.key(k)
	w.buf = append(w.buf, ':')
	w.value(v, col)
}

func (w *writer) key(k *yaml.Node) {
	k = Resolve(k)
	switch {
	case w.own(k):
		w.scalar(k)
	case w.keyQuote != 0:
		w.buf = appendQuoted(w.buf, k.Value, w.keyQuote)
	case isMerge(k) || plainSafe(k.Value, false):
		w.buf = append(w.buf, k.Value...)
	default:
		w.buf = appendQuoted(w.buf, k.Value, w.quote)
	}
}

// value prints what follows a key at column col: on its line, or below.
func (w *writer) value(v *yaml.Node, col int) {
	v = Resolve(v)
	if v.Kind == yaml.ScalarNode || len(v.Content) == 0 {
		w.buf = append(w.buf, ' ')
		w.inline(v, col, w.step)
		return
	}
	w.newLine()
	if v.Kind == yaml.SequenceNode {
		w.sequence(v, col+w.seq, 2)
		return
	}
	w.mapping(v, col+w.step)
}

// inline prints a scalar or an empty collection and ends the line. Lines of a block scalar stand step to the right
// of col.
func (w *writer) inline(v *yaml.Node, col, step int) {
	w.last = 0
	switch {
	case v.Kind == yaml.SequenceNode:
		w.buf = append(w.buf, "[]"...)
	case v.Kind == yaml.MappingNode:
		w.buf = append(w.buf, "{}"...)
	case scalarTag(v) == "!!str" && literalSafe(v.Value) && w.mayBlock():
		w.literal(v.Value, col, max(step, 1))
		return
	default:
		w.scalar(v)
	}
	w.newLine()
}

// mayBlock counts a block scalar and tells whether it may be one.
func (w *writer) mayBlock() bool {
	w.literals++
	return w.literals != w.without
}

// mapping prints all entries of a mapping as lines at column col.
func (w *writer) mapping(m *yaml.Node, col int) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		w.spaces(col)
		w.entry(m.Content[i], m.Content[i+1], col)
	}
}

// sequence prints all elements of a sequence with their dashes at column col.
func (w *writer) sequence(s *yaml.Node, col, dash int) {
	for _, v := range s.Content {
		if w.moved != nil && v.Kind == yaml.AliasNode {
			if text, ok := w.moved(v, col); ok {
				w.buf = append(w.buf, text...)
				w.last = '|'
				continue
			}
		}
		w.spaces(col)
		w.item(v, col, dash)
	}
}

// item prints one element from its dash on.
func (w *writer) item(v *yaml.Node, col, dash int) {
	w.buf = append(w.buf, '-')
	w.spaces(dash - 1)
	w.element(v, col, col+dash)
}

// element prints a value whose first line has begun already at column at; col is the column of the dash.
func (w *writer) element(v *yaml.Node, col, at int) {
	v = Resolve(v)
	switch {
	case v.Kind == yaml.ScalarNode || len(v.Content) == 0:
		w.inline(v, col, max(w.step, 2))
	case v.Kind == yaml.SequenceNode:
		for i, c := range v.Content {
			if i > 0 {
				w.spaces(at)
			}
			w.item(c, at, 2)
		}
	default:
		for i := 0; i+1 < len(v.Content); i += 2 {
			if i > 0 {
				w.spaces(at)
			}
			w.entry(v.Content[i], v.Content[i+1], at)
		}
	}
}

// scalar prints one scalar on one line.
func (w *writer) scalar(v *yaml.Node) {
	tag := scalarTag(v)
	if w.own(v) {
		w.kept(v, tag)
		return
	}
	switch tag {
	case "!!str", "!!merge":
		w.str(v.Value)
	case "!!null":
		w.buf = append(w.buf, "null"...)
	case "!!bool":
		w.buf = append(w.buf, strings.ToLower(v.Value)...)
	case "!!int", "!!float", "!!timestamp":
		w.buf = append(w.buf, v.Value...)
	default:
		w.buf = append(w.buf, tagText(v.Tag)...)
		w.buf = append(w.buf, ' ')
		w.str(v.Value)
	}
}

// kept prints a scalar of the document in the spelling it had.
func (w *writer) kept(v *yaml.Node, tag string) {
	if v.Style&yaml.TaggedStyle != 0 {
		w.buf = append(w.buf, tagText(v.Tag)...)
		w.buf = append(w.buf, ' ')
	}
	switch {
	case v.Style&yaml.DoubleQuotedStyle != 0:
		w.buf = appendDouble(w.buf, v.Value)
	case v.Style&yaml.SingleQuotedStyle != 0:
		w.buf = appendQuoted(w.buf, v.Value, '\'')
	case v.Style&^yaml.TaggedStyle == 0 && !strings.ContainsAny(v.Value, "\n\u0085\u2028\u2029"):
		if v.Value == "" && tag == "!!null" {
			w.buf = append(w.buf, "null"...)
		}
		w.buf = append(w.buf, v.Value...)
	default:
		w.str(v.Value)
	}
}

// tagText prints a tag as it may stand in text.
func tagText(tag string) string {
	if strings.HasPrefix(tag, "!") {
		return tag
	}
	return "!<" + tag + ">"
}

func (w *writer) str(s string) {
	switch {
	case w.keyQuote != 0:
		w.buf = appendQuoted(w.buf, s, w.keyQuote)
	case plainSafe(s, false):
		w.buf = append(w.buf, s...)
	default:
		w.buf = appendQuoted(w.buf, s, w.quote)
	}
}

// literal prints a literal block scalar with its lines at col+step.
func (w *writer) literal(s string, col, step int) {
	w.buf = append(w.buf, '|')
	if first := strings.TrimLeft(s, "\n"); first[0] == ' ' {
		step = min(step, 9)
		w.buf = append(w.buf, strconv.Itoa(step)...)
	}
	w.last = '|'
	switch {
	case !strings.HasSuffix(s, "\n"):
		w.last = '-'
		w.buf = append(w.buf, '-')
	case strings.HasSuffix(s, "\n\n"):
		w.last = '+'
		w.buf = append(w.buf, '+')
	}
	w.newLine()
	w.literalLines(s, col+step)
}

func (w *writer) literalLines(s string, col int) {
	for line := range strings.Lines(s) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			w.spaces(col)
			w.buf = append(w.buf, line...)
		}
		w.newLine()
	}
}
