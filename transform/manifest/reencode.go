package manifest

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reencode writes the intended tree anew. Prologue, separator, byte order mark, line ends, the end marker and the state
// of the last line (unless keep asks for a line end) are those of the original; comments are those that the parser
// keeps.
func (p *Parsed) reencode(cs *changeSet, want *yaml.Node, keep bool) ([]byte, error) {
	raw := p.Doc.Raw
	eol := "\n"
	if i := lineEnd(raw, 0); breakAt(raw, i) > 0 {
		if s := string(raw[i : i+breakAt(raw, i)]); s == "\r\n" || s == "\r" {
			eol = s
		}
	}
	var body []byte
	root := p.Root
	if p.JSON {
		pl := &planner{p: p, cs: &changeSet{}, raw: raw, look: p.lookOf()}
		start := p.content(root)
		look := pl.documentFlow(start)
		if len(root.Content) > 0 && pl.ownLine(p.start(root.Content[0])) {
			look.levels = allLevels
		}
		body = pl.flowValue(nil, p.writeOut(cs, want), look, pl.prefix(start))
	} else {
		var buf bytes.Buffer
		enc := yaml.NewEncoder(&buf)
		l := p.lookOf()
		enc.SetIndent(max(l.step, 2))
		if l.seq == 0 {
			enc.CompactSeqIndent()
		}
		if err := enc.Encode(p.writeOut(cs, want)); err != nil {
			return nil, err
		}
		if err := enc.Close(); err != nil {
			return nil, err
		}
		body = buf.Bytes()
		if eol != "\n" {
			body = []byte(strings.ReplaceAll(string(body), "\n", eol))
		}
	}
	start, end := p.Doc.body, p.Doc.tail
	if p.JSON {
		start, end = p.content(root), p.end(root, -1)
	}
	head, tail := raw[:start:start], raw[end:]
	if p.Doc.contentOnSeparator() && !p.JSON {
		head = append(bytes.TrimRight(head, " \t"), eol...)
	}
	out := append(head, body...)
	if len(tail) == 0 && !p.JSON && !keep && breakBefore(raw, len(raw)) == 0 {
		out = bytes.TrimSuffix(out, []byte(eol))
	}
	return append(out, tail...), nil
}

// writeOut copies a tree with its aliases written out and its anchors dropped. Nodes of the document keep the spelling
// they have; new ones are printed without the comments and styles they came with, and quoted where a reader of
// YAML 1.1 would take them for something else.
func (p *Parsed) writeOut(cs *changeSet, n *yaml.Node) *yaml.Node {
	fresh := map[*yaml.Node]bool{}
	cs.each(func(n *yaml.Node) { fresh[n] = true })
	var write func(n *yaml.Node, depth int) *yaml.Node
	write = func(n *yaml.Node, depth int) *yaml.Node {
		if depth > 4*maxDepth {
			return n
		}
		r := Resolve(n)
		cp := *r
		cp.Anchor = ""
		if n.Kind == yaml.AliasNode {
			cp.HeadComment, cp.LineComment, cp.FootComment = n.HeadComment, n.LineComment, n.FootComment
		}
		if r.Kind == yaml.ScalarNode {
			if fresh[r] || r.Line == 0 {
				cp = newScalar(r)
			} else if isMerge(r) {
				cp.Tag = ""
			}
			if cp.Value == "" && cp.Style&^yaml.TaggedStyle == 0 && scalarTag(r) == "!!null" {
				// The encoder would put quotes where nothing stood.
				cp.Value = "null"
			}
			if cp.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && strings.HasPrefix(strings.TrimLeft(cp.Value, "\n"), " ") {
				// The encoder miscounts the indentation indicator in lists without indentation.
				cp.Style = cp.Style&yaml.TaggedStyle | yaml.DoubleQuotedStyle
			}
			return &cp
		}
		if fresh[r] || r.Line == 0 {
			cp = yaml.Node{Kind: r.Kind, Tag: r.Tag, Style: r.Style & yaml.TaggedStyle}
		}
		cp.Content = make([]*yaml.Node, len(r.Content))
		for i, c := range r.Content {
			cp.Content[i] = write(c, depth+1)
		}
		return &cp
	}
	return write(n, 0)
}

// newScalar is a scalar without the looks it came with.
func newScalar(r *yaml.Node) yaml.Node {
	n := yaml.Node{Kind: yaml.ScalarNode, Tag: scalarTag(r), Value: r.Value, Style: r.Style & yaml.TaggedStyle}
	switch {
	case n.Tag == "!!str" && literalSafe(n.Value):
		n.Style |= yaml.LiteralStyle
	case n.Tag == "!!str" && !plainSafe(n.Value, true):
		n.Style |= yaml.DoubleQuotedStyle
	}
	return n
}
