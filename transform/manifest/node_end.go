package manifest

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// start gives the offset at which the parser places a node: its anchor or tag, else its content.
func (p *Parsed) start(n *yaml.Node) int {
	return p.lines.offset(p.Doc.Raw, n.Line, n.Column)
}

// content gives the offset at which the content of a node starts, behind its anchor and tag. For an empty node that is
// where they end.
func (p *Parsed) content(n *yaml.Node) int {
	i := p.start(n)
	if p.JSON || n.Kind == yaml.AliasNode {
		return i
	}
	props := 0
	if n.Anchor != "" {
		props++
	}
	if n.Style&yaml.TaggedStyle != 0 {
		props++
	}
	b := p.Doc.Raw
	end := i
	for k := 0; i < len(b); k++ {
		if k >= props && (b[i] != '!' || n.Kind != yaml.ScalarNode || props == 2) || b[i] != '&' && b[i] != '!' {
			break
		}
		if b[i] == '&' {
			// The colon of an empty key may follow directly.
			i = min(i+1+len(n.Anchor), len(b))
		} else {
			for i < len(b) && !isBlank(b[i]) && breakAt(b, i) == 0 && !(isFlowByte(b[i]) && b[i] != '{') {
				i++
			}
		}
		end = i
		i = skipToToken(b, i)
	}
	if end < i && isEmptyScalar(n) {
		return end
	}
	return i
}

// isEmptyScalar: a node that is written as nothing at all.
func isEmptyScalar(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0
}

// skipToToken moves over blanks, line breaks and comments.
func skipToToken(b []byte, i int) int {
	for i < len(b) {
		switch w := breakAt(b, i); {
		case w > 0:
			i += w
		case isBlank(b[i]):
			i++
		case b[i] == '#' && (i == 0 || isBlank(b[i-1]) || breakBefore(b, i) > 0):
			i = lineEnd(b, i)
		default:
			return i
		}
	}
	return i
}

// column gives the column of an offset in characters, from 0.
func (p *Parsed) column(offset int) int {
	start := p.lineStart(offset)
	if !p.lines.wide {
		return offset - start
	}
	return utf8.RuneCount(p.Doc.Raw[start:offset])
}

// lineStart gives the offset at which the line of an offset starts.
func (p *Parsed) lineStart(offset int) int {
	return int(p.lines.starts[p.lines.line(offset)-1])
}

// end gives the offset behind the last character of a node. indent is the column of the block collection around it,
// -1 for none; block scalars with an indentation indicator count from there.
func (p *Parsed) end(n *yaml.Node, indent int) int {
	start := p.content(n)
	switch n.Kind {
	case yaml.AliasNode:
		return min(start+1+len(n.Value), len(p.Doc.Raw))
	case yaml.ScalarNode:
		return p.scalarEnd(n, start, indent)
	}
	if n.Style&yaml.FlowStyle != 0 {
		return p.flowEnd(n, start)
	}
	if len(n.Content) == 0 {
		return start
	}
	last := n.Content[len(n.Content)-1]
	col := p.column(start)
	if n.Kind == yaml.MappingNode {
		return p.entryEnd(n.Content[len(n.Content)-2], last, col)
	}
	return p.end(last, col)
}

// entryEnd gives the end of a key and its value. The parser may place a missing value behind comments.
func (p *Parsed) entryEnd(k, v *yaml.Node, indent int) int {
	if isEmptyScalar(v) && v.Anchor == "" && v.Style == 0 {
		if c := p.colonEnd(k, indent); c >= 0 {
			return c
		}
		return p.end(k, indent)
	}
	return p.end(v, indent)
}

// colonEnd gives the offset behind the colon of a key, -1 where there is none.
func (p *Parsed) colonEnd(k *yaml.Node, indent int) int {
	i := skipToToken(p.Doc.Raw, p.end(k, indent))
	if i < len(p.Doc.Raw) && p.Doc.Raw[i] == ':' {
		return i + 1
	}
	return -1
}

func (p *Parsed) scalarEnd(n *yaml.Node, start, indent int) int {
	b := p.Doc.Raw
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := start + 1; i < len(b); i++ {
			if b[i] == '\\' {
				i++
			} else if b[i] == '"' {
				return i + 1
			}
		}
		return len(b)
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := start + 1; i < len(b); i++ {
			if b[i] != '\'' {
				continue
			}
			if i+1 < len(b) && b[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
		return len(b)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return p.blockEnd(start, indent)
	}
	return p.plainEnd(start, n.Value)
}

// blockHeader reads the header of a block scalar: the end of its indicators, the chomping and the explicit indent.
func blockHeader(b []byte, start int) (end int, chomp byte, explicit int) {
	end = start + 1
	for ; end < len(b); end++ {
		switch c := b[end]; {
		case c == '+' || c == '-':
			chomp = c
		case c >= '1' && c <= '9':
			explicit = int(c - '0')
		default:
			return end, chomp, explicit
		}
	}
	return end, chomp, explicit
}

// blockEnd finds the end of a block scalar: of its last line with text, or with + of the last blank line too.
func (p *Parsed) blockEnd(start, indent int) int {
	b := p.Doc.Raw
	head, chomp, explicit := blockHeader(b, start)
	col := max(indent, 0) + explicit
	last := lineEnd(b, head)
	for i := nextLine(b, head); i < len(b); {
		first := i
		for first < len(b) && b[first] == ' ' && (explicit == 0 && col == max(indent, 0) || first-i < col) {
			first++
		}
		e := lineEnd(b, first)
		if first < e {
			if explicit == 0 && col == max(indent, 0) {
				// The first line with text sets the indentation.
				if first-i <= indent {
					break
				}
				col, explicit = first-i, 1
			}
			if first-i < col {
				if skipBlanks(b, first) < e || chomp == 0 || chomp == '-' {
					break
				}
			}
			last = e
		} else if chomp == '+' && e < len(b) {
			last = e
		}
		if i = e + breakAt(b, e); i > e && markerAt(b, i) != 0 {
			break
		}
		if e >= len(b) {
			break
		}
	}
	return last
}

// flowEnd finds the closing bracket of a flow collection, or the end of a pair written without braces.
func (p *Parsed) flowEnd(n *yaml.Node, start int) int {
	b := p.Doc.Raw
	i := start + 1
	if len(n.Content) > 0 {
		last := n.Content[len(n.Content)-1]
		if n.Kind == yaml.MappingNode {
			i = p.entryEnd(n.Content[len(n.Content)-2], last, -1)
		} else {
			i = p.end(last, -1)
		}
	}
	if start >= len(b) || b[start] != '{' && b[start] != '[' {
		return i
	}
	for i = skipToToken(b, i); i < len(b) && (b[i] == ',' || b[i] == ':'); {
		i = skipToToken(b, i+1)
	}
	return min(i+1, len(b))
}

// plainEnd finds the end of the plain scalar with this value that starts at offset i, by reading both side by side:
// a line break with the blanks around it stands for one blank or for the empty lines in the value.
func (p *Parsed) plainEnd(i int, value string) int {
	b := p.Doc.Raw
	if len(b)-i >= len(value) && string(b[i:i+len(value)]) == value {
		return i + len(value)
	}
	end := i
	for v := 0; v < len(value) && i < len(b); {
		j := skipBlanks(b, i)
		if breakAt(b, j) == 0 {
			if b[i] != value[v] {
				return end
			}
			i, v, end = i+1, v+1, i+1
			continue
		}
		for j < len(b) && (isBlank(b[j]) || breakAt(b, j) > 0) {
			j += max(breakAt(b, j), 1)
		}
		rest := strings.TrimLeft(value[v:], " \n\u0085\u2028\u2029")
		if len(rest) == len(value)-v {
			return end
		}
		v, i = len(value)-len(rest), j
	}
	return end
}
