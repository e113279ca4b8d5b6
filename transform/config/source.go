package config

import (
	"bytes"
	"strings"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// Source is one input: its name as messages print it, and its bytes. The bytes are never written to.
type Source struct {
	Name string
	Data []byte
}

// text is a piece of YAML or JSON together with its way back to the file it came from. The zero line and column say that
// it starts where the file starts; the text of a block scalar starts further down and further in.
type text struct {
	file string
	data []byte
	// line and column are what to add to a place inside data.
	line, column int
	// fixed is set where lines inside data are no lines of the file (a quoted or folded scalar): every place is this one.
	fixed *policy.Position
	// document counts from 1 in a stream of several; 0 where the file is one document.
	document int
	// label names the place in its document, such as "data.config"; empty for a whole document.
	label string
}

func newText(s Source) text {
	return text{file: s.Name, data: bytes.TrimPrefix(s.Data, []byte("\xef\xbb\xbf"))}
}

// at translates a place inside the text into one of the file. Line 0 gives the start of the text.
func (t text) at(line, column int) policy.Position {
	if t.fixed != nil {
		return *t.fixed
	}
	line = max(line, 1)
	p := policy.Position{File: t.file, Line: t.line + line}
	if column > 0 {
		p.Column = t.column + column
	}
	return p
}

// start is the first place of the text.
func (t text) start() policy.Position { return t.at(1, 1) }

// name is how messages call the text.
func (t text) name() string {
	if t.label == "" {
		return "the file"
	}
	return t.label
}

// inner gives the text held by a string scalar of t, with its way back to the file. Only a literal block scalar keeps its
// lines; all others point to the scalar itself.
func (t text) inner(n *yaml.Node, label string) text {
	in := text{file: t.file, data: []byte(n.Value), document: t.document, label: label}
	if t.fixed != nil {
		in.fixed = t.fixed
		return in
	}
	if n.Style&yaml.LiteralStyle == 0 {
		if !strings.Contains(n.Value, "\n") {
			in.line, in.column = t.line+n.Line-1, t.column+n.Column-1
			if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
				in.column++
			}
			return in
		}
		p := t.at(n.Line, n.Column)
		in.fixed = &p
		return in
	}
	in.line = t.line + n.Line
	in.column = t.column + blockIndent(t.data, n)
	return in
}

// blockIndent is how many columns the lines of a literal block scalar are indented by: what the first line that is not
// blank has more in the file than in the value.
func blockIndent(data []byte, n *yaml.Node) int {
	skip := n.Line
	for line := range strings.SplitSeq(n.Value, "\n") {
		if strings.TrimSpace(line) == "" {
			skip++
			continue
		}
		raw := lineOf(data, skip)
		return max(len(raw)-len(line), 0)
	}
	return 0
}

// lineOf is line number i, counted from 0, without its end.
func lineOf(data []byte, i int) []byte {
	for ; i > 0; i-- {
		k := bytes.IndexByte(data, '\n')
		if k < 0 {
			return nil
		}
		data = data[k+1:]
	}
	if k := bytes.IndexByte(data, '\n'); k >= 0 {
		data = data[:k]
	}
	return bytes.TrimSuffix(data, []byte("\r"))
}
