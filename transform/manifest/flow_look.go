package manifest

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// flowLook is how a flow collection is written.
type flowLook struct {
	json   bool
	quoted bool   // keys and strings in double quotes, also in YAML
	colon  string // between key and value
	comma  string // between items on one line
	// levels is how many levels of nested collections get a line for each item; below them everything is on one
	// line. unit is one level of indentation, eol ends the lines.
	levels int
	unit   string
	eol    string
}

// allLevels says that every nested collection is spread over lines.
const allLevels = 1 << 20

// spreads gives all levels where the document is JSON with a line for each item and the value at offset is the first
// or only value on its line, else none.
func (pl *planner) spreads(offset int) int {
	root := pl.p.Root
	if len(root.Content) == 0 || pl.p.lines.line(pl.p.start(root.Content[0])) == pl.p.lines.line(pl.p.content(root)) {
		return 0
	}
	start := skipBlanks(pl.raw, pl.p.lineStart(offset))
	if start == offset {
		return allLevels
	}
	// Only its key stands before it.
	s := jsonScanner{b: pl.raw, i: start}
	if start >= len(pl.raw) || pl.raw[start] != '"' {
		return 0
	}
	s.str()
	s.space()
	if s.state != jsonOK || s.i >= len(pl.raw) || pl.raw[s.i] != ':' {
		return 0
	}
	if skipSpace(pl.raw, s.i+1) != offset {
		return 0
	}
	return allLevels
}

// spread gives how many levels of the last nested collection of n have a line for each item, all of them where its
// depth says no more, and -1 where n holds no collection with something in it.
func (pl *planner) spread(n *yaml.Node, depth int) int {
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := len(n.Content) - 1; i >= 0 && depth < maxDepth; i -= step {
		v := n.Content[i]
		if len(v.Content) == 0 || v.Kind == yaml.AliasNode {
			continue
		}
		if pl.p.lines.line(pl.p.content(v)) == pl.p.lines.line(pl.p.start(v.Content[len(v.Content)-1])) {
			return 0
		}
		if n := pl.spread(v, depth+1); n >= 0 {
			return min(n+1, allLevels)
		}
		return allLevels
	}
	return -1
}

// documentFlow is the look that the top of the document suggests.
func (pl *planner) documentFlow(offset int) flowLook {
	look := flowLook{json: pl.p.JSON, colon: " ", comma: " ", unit: "  ", eol: pl.eolBefore(nextLine(pl.raw, offset))}
	root := pl.p.Root
	if root.Style&yaml.FlowStyle == 0 || len(root.Content) == 0 {
		look.quoted = pl.look.keyQuote == '"'
		return look
	}
	if k, v := firstEntry(root, 0); k != nil {
		pl.entryLook(&look, k, v)
	}
	look.comma = look.colon
	first := pl.p.start(root.Content[0])
	if pl.ownLine(first) {
		if unit, ok := strings.CutPrefix(pl.prefix(first), pl.prefix(pl.p.content(root))); ok && unit != "" {
			look.unit = unit
		}
	}
	return look
}

func (pl *planner) entryLook(look *flowLook, k, v *yaml.Node) {
	look.quoted = k.Style&yaml.DoubleQuotedStyle != 0
	if c := pl.p.colonEnd(k, -1); c >= 0 && c < len(pl.raw) && !isEmptyScalar(v) {
		look.colon = ""
		if isBlank(pl.raw[c]) || breakAt(pl.raw, c) > 0 {
			look.colon = " "
		}
	}
}

// firstEntry finds the first key of a flow tree with its value.
func firstEntry(n *yaml.Node, depth int) (k, v *yaml.Node) {
	if depth > maxDepth || n.Kind == yaml.AliasNode {
		return nil, nil
	}
	if n.Kind == yaml.MappingNode && len(n.Content) > 1 && n.Content[0].Kind == yaml.ScalarNode {
		return n.Content[0], n.Content[1]
	}
	for _, c := range n.Content {
		if k, v = firstEntry(c, depth+1); k != nil {
			return k, v
		}
	}
	return nil, nil
}
