package manifest

import (
	"bytes"
	"strconv"
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

// flow edits a flow collection: text goes between the items that stay.
func (pl *planner) flow(n *yaml.Node, d *delta, s slot) {
	f := pl.flowItems(n)
	if f == nil {
		pl.fail("a flow collection without brackets")
		return
	}
	gone := make([]bool, len(f.items))
	news := make([][]*yaml.Node, len(f.items)+1) // [key, value] or [value] lists, flat
	for _, k := range d.kids {
		i := f.index(k.step)
		switch {
		case i < 0 && k.d.removed:
			pl.fail("a key that a merge key brings in is removed")
		case i < 0:
			at := len(f.items)
			if k.step.Key == "metadata" && !s.root {
				at = 0
			}
			news[at] = append(news[at], keyNode(k.step.Key), pl.addedValue(n, k))
		case k.d.removed || k.d.moved:
			gone[i] = true
		default:
			pl.change(f.value(i), k.d, slot{flow: true})
		}
	}
	for _, ins := range d.inserts {
		v := ins.value
		if ins.from != nil {
			v = pl.cs.standIn(ins.from)
		}
		news[ins.at] = append(news[ins.at], v)
	}
	pl.flowSplice(f, gone, news, s)
}

// flowItems is a flow collection with the places of its items.
type flowItems struct {
	pl          *planner
	n           *yaml.Node
	width       int // nodes per item
	items       []int
	open, close int
}

func (pl *planner) flowItems(n *yaml.Node) *flowItems {
	f := &flowItems{pl: pl, n: n, width: 1, open: pl.p.content(n)}
	if n.Kind == yaml.MappingNode {
		f.width = 2
	}
	if f.open >= len(pl.raw) || pl.raw[f.open] != '{' && pl.raw[f.open] != '[' {
		return nil
	}
	f.items = make([]int, len(n.Content)/f.width)
	for i := range f.items {
		f.items[i] = pl.p.start(n.Content[i*f.width])
		if k := f.items[i]; f.width == 2 && k > 0 {
			for k > 0 && isBlank(pl.raw[k-1]) {
				k--
			}
			if k > 0 && pl.raw[k-1] == '?' {
				f.items[i] = k - 1
			}
		}
	}
	f.close = pl.p.flowEnd(n, f.open) - 1
	return f
}

func (f *flowItems) index(s Step) int {
	if s.IsIndex {
		if s.Index < len(f.items) {
			return s.Index
		}
		return -1
	}
	if i := entry(f.n, s.Key); i >= 0 {
		return i / 2
	}
	return -1
}

func (f *flowItems) value(i int) *yaml.Node { return f.n.Content[i*f.width+f.width-1] }

func (f *flowItems) end(i int) int {
	if f.width == 1 {
		return f.pl.p.end(f.n.Content[i], -1)
	}
	return f.pl.p.entryEnd(f.n.Content[2*i], f.n.Content[2*i+1], -1)
}

// own tells whether an item is the first thing on its line.
func (f *flowItems) own(i int) bool {
	return f.pl.ownLine(f.items[i]) && f.pl.p.lineStart(f.items[i]) > f.open
}

// prefix is the indentation of the line that holds an offset.
func (pl *planner) prefix(offset int) string {
	start := pl.p.lineStart(offset)
	return string(pl.raw[start:skipBlanks(pl.raw, start)])
}

// flowSplice removes the items that go and writes new ones: news[i] stands before item i.
func (pl *planner) flowSplice(f *flowItems, gone []bool, news [][]*yaml.Node, s slot) {
	count := len(f.items)
	kept := func(from, to, by int) int {
		for i := from; i != to; i += by {
			if !gone[i] {
				return i
			}
		}
		return -1
	}
	if kept(0, count, 1) < 0 {
		pl.flowFill(f, news, s)
		return
	}
	look := pl.flowLook(f)
	for at, nodes := range news {
		if len(nodes) == 0 {
			continue
		}
		if p := kept(at-1, -1, -1); p >= 0 {
			pl.flowAfter(f, p, gone, nodes, look)
		} else {
			q := kept(at, count, 1)
			pl.flowBefore(f, q, nodes, look)
		}
	}
	for i := 0; i < count; i++ {
		if !gone[i] {
			continue
		}
		j := i
		for j+1 < count && gone[j+1] {
			j++
		}
		pl.flowRemove(f, i, j)
		i = j
	}
}

// flowRemove deletes items i to j with the comma that goes with them.
func (pl *planner) flowRemove(f *flowItems, i, j int) {
	end := f.end(j)
	comma := skipToToken(pl.raw, end)
	hasComma := comma < len(pl.raw) && pl.raw[comma] == ','
	switch {
	case hasComma && f.own(i) && lineEnd(pl.raw, comma) < f.close && f.blankAfter(comma+1):
		// Whole lines of their own.
		pl.edit(pl.p.lineStart(f.items[i]), nextLine(pl.raw, comma), nil)
	case i > 0 && bytes.IndexByte(pl.raw[f.end(i-1):f.items[i]], '#') < 0:
		pl.edit(f.end(i-1), end, nil)
	case i > 0:
		// A comment stands between: take the comma before it, then the lines.
		c := skipToToken(pl.raw, f.end(i-1))
		pl.edit(c, c+1, nil)
		if f.own(i) && f.blankAfter(end) {
			pl.edit(pl.p.lineStart(f.items[i]), nextLine(pl.raw, end), nil)
		} else {
			pl.edit(f.items[i], end, nil)
		}
	case j+1 < len(f.items):
		pl.edit(f.items[i], f.items[j+1], nil)
	default:
		pl.edit(f.items[i], end, nil)
	}
}

// blankAfter: only blanks or a comment follow on the line.
func (f *flowItems) blankAfter(i int) bool {
	i = skipBlanks(f.pl.raw, i)
	return i >= len(f.pl.raw) || breakAt(f.pl.raw, i) > 0 || f.pl.raw[i] == '#'
}

// flowAfter writes items behind item p, which stays.
func (pl *planner) flowAfter(f *flowItems, p int, gone []bool, nodes []*yaml.Node, look flowLook) {
	end := f.end(p)
	if !f.own(p) {
		var b []byte
		for _, t := range pl.flowTexts(f, nodes, look, pl.prefix(f.items[p])) {
			b = append(append(b, ','), look.comma...)
			b = append(b, t...)
		}
		pl.edit(end, end, b)
		return
	}
	prefix := pl.prefix(f.items[p])
	texts := pl.flowTexts(f, nodes, look, prefix)
	comma := skipToToken(pl.raw, end)
	hasComma := comma < f.close && pl.raw[comma] == ','
	next := p+1 < len(f.items) && gone[p+1]
	switch {
	case hasComma && !next && f.blankAfter(comma+1):
		at := lineEnd(pl.raw, comma)
		var b []byte
		for _, t := range texts {
			b = append(append(b, look.eol+prefix...), t...)
			b = append(b, ',')
		}
		pl.edit(at, at, b)
	case !hasComma && f.blankAfter(end) && skipBlanks(pl.raw, end) < lineEnd(pl.raw, end):
		// A comment follows: the comma goes before it, the items behind it.
		pl.edit(end, end, []byte{','})
		at := lineEnd(pl.raw, end)
		pl.edit(at, at, []byte(look.eol+prefix+strings.Join(texts, ","+look.eol+prefix)))
	default:
		var b []byte
		for _, t := range texts {
			b = append(append(b, ","+look.eol+prefix...), t...)
		}
		pl.edit(end, end, b)
	}
}

// flowBefore writes items in front of item q, which stays and is the first one that does.
func (pl *planner) flowBefore(f *flowItems, q int, nodes []*yaml.Node, look flowLook) {
	start := f.items[q]
	sep := "," + look.comma
	prefix := pl.prefix(f.items[q])
	if f.own(q) {
		sep = "," + look.eol + prefix
	}
	var b []byte
	for _, t := range pl.flowTexts(f, nodes, look, prefix) {
		b = append(append(b, t...), sep...)
	}
	pl.edit(start, start, b)
}

// flowFill writes the new items as the only ones.
func (pl *planner) flowFill(f *flowItems, news [][]*yaml.Node, s slot) {
	var nodes []*yaml.Node
	for _, ns := range news {
		nodes = append(nodes, ns...)
	}
	if len(nodes) == 0 {
		pl.edit(f.open+1, f.close, nil)
		return
	}
	look := pl.flowLook(f)
	prefix := pl.prefix(f.open)
	// An empty collection says nothing of its layout: on a line of its own in expanded JSON it is expanded too.
	if look.json && len(f.items) == 0 {
		look.levels = pl.spreads(f.open)
	}
	if look.levels == 0 {
		pl.edit(f.open+1, f.close, []byte(strings.Join(pl.flowTexts(f, nodes, look, prefix), ","+look.comma)))
		return
	}
	look.levels--
	inner := look.eol + prefix + look.unit
	text := inner + strings.Join(pl.flowTexts(f, nodes, look, prefix+look.unit), ","+inner) + look.eol + prefix
	pl.edit(f.open+1, f.close, []byte(text))
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

// replaceFlow puts a value in the place of a node inside of flow text.
func (pl *planner) replaceFlow(n, v *yaml.Node, s slot) {
	start, end := pl.valueStart(n, v), pl.p.end(n, s.indent())
	if n.Kind == yaml.AliasNode {
		start = pl.p.start(n)
	}
	look := pl.documentFlow(start)
	if look.json {
		look.levels = pl.spreads(start)
	}
	var b []byte
	if start == end && start > 0 && !isBlank(pl.raw[start-1]) {
		b = append(b, ' ')
	}
	if n.Kind == yaml.ScalarNode && v.Kind == yaml.ScalarNode && scalarTag(v) == "!!str" && !look.json {
		switch {
		case n.Style&yaml.DoubleQuotedStyle != 0:
			pl.edit(start, end, appendDouble(b, v.Value))
			return
		case n.Style&yaml.SingleQuotedStyle != 0:
			pl.edit(start, end, appendQuoted(b, v.Value, '\''))
			return
		}
	}
	pl.edit(start, end, pl.flowValue(b, v, look, pl.prefix(start)))
}

// movedFlow gives the text of a moved element of a flow list, edited; its later lines are indented for prefix.
func (pl *planner) movedFlow(m *movedNode, prefix string) []byte {
	saved := pl.edits
	pl.edits = nil
	pl.change(m.node, &delta{set: m.d.set, kids: m.d.kids, inserts: m.d.inserts}, slot{flow: true})
	inner := pl.edits
	pl.edits = saved
	start, end := pl.p.start(m.node), pl.p.end(m.node, -1)
	text, err := splice(pl.raw, inner, start, end)
	if err != nil {
		pl.fail(err.Error())
		return nil
	}
	old := pl.prefix(start)
	if old == prefix {
		return text
	}
	var out []byte
	for i := 0; i < len(text); {
		n := nextLine(text, i)
		line := text[i:n]
		if rest, ok := bytes.CutPrefix(line, []byte(old)); ok && i > 0 {
			out = append(out, prefix...)
			line = rest
		}
		out = append(out, line...)
		i = n
	}
	return out
}

// flowTexts renders items; nodes are values, or keys and values in turn for a mapping.
func (pl *planner) flowTexts(f *flowItems, nodes []*yaml.Node, look flowLook, prefix string) []string {
	var out []string
	for i := 0; i < len(nodes); i += f.width {
		var b []byte
		if f.width == 2 {
			b = pl.flowKey(b, nodes[i], look)
			b = append(append(b, ':'), look.colon...)
		}
		out = append(out, string(pl.flowValue(b, nodes[i+f.width-1], look, prefix)))
	}
	return out
}

func (pl *planner) flowKey(b []byte, k *yaml.Node, look flowLook) []byte {
	k = Resolve(k)
	switch {
	case look.json, look.quoted:
		return appendDouble(b, k.Value)
	case isMerge(k) || plainSafe(k.Value, true):
		return append(b, k.Value...)
	}
	return appendQuoted(b, k.Value, pl.look.quote)
}

// flowValue renders a value as flow text. prefix is the indentation of the line it starts on.
func (pl *planner) flowValue(b []byte, v *yaml.Node, look flowLook, prefix string) []byte {
	if m := pl.cs.moved[v]; m != nil {
		if m.seq.Style&yaml.FlowStyle != 0 && m.node.Kind != yaml.AliasNode {
			return append(b, pl.movedFlow(m, prefix)...)
		}
		v = pl.written(m.node, m.d)
	}
	v = Resolve(v)
	if v.Kind == yaml.ScalarNode {
		return pl.flowScalar(b, v, look)
	}
	open, closing, width := byte('['), byte(']'), 1
	if v.Kind == yaml.MappingNode {
		open, closing, width = '{', '}', 2
	}
	b = append(b, open)
	multi := look.levels > 0
	look.levels = max(look.levels-1, 0)
	inner := prefix + look.unit
	for i := 0; i+width <= len(v.Content); i += width {
		if i > 0 {
			b = append(b, ',')
			if !multi {
				b = append(b, look.comma...)
			}
		}
		if multi {
			b = append(append(b, look.eol...), inner...)
		}
		if width == 2 {
			b = pl.flowKey(b, v.Content[i], look)
			b = append(append(b, ':'), look.colon...)
		}
		b = pl.flowValue(b, v.Content[i+width-1], look, inner)
	}
	if multi && len(v.Content) > 0 {
		b = append(append(b, look.eol...), prefix...)
	}
	return append(b, closing)
}

func (pl *planner) flowScalar(b []byte, v *yaml.Node, look flowLook) []byte {
	tag := scalarTag(v)
	if !look.json && v.Style == 0 && pl.keeps(v) && plainText(v.Value, true) {
		return append(b, v.Value...)
	}
	switch tag {
	case "!!null":
		return append(b, "null"...)
	case "!!bool":
		return append(b, strings.ToLower(v.Value)...)
	case "!!int", "!!float":
		if look.json {
			return append(b, jsonNumber(v.Value)...)
		}
		return append(b, v.Value...)
	case "!!str", "!!merge":
		if !look.json && !look.quoted && plainSafe(v.Value, true) {
			return append(b, v.Value...)
		}
		if look.json || look.quoted {
			return appendDouble(b, v.Value)
		}
		return appendQuoted(b, v.Value, pl.look.quote)
	}
	if look.json {
		return appendDouble(b, v.Value)
	}
	b = append(append(b, tagText(v.Tag)...), ' ')
	return appendQuoted(b, v.Value, pl.look.quote)
}

// jsonNumber spells a YAML number as JSON does.
func jsonNumber(s string) string {
	if end, state := skipJSON([]byte(s), 0); state == jsonOK && end == len(s) {
		return s
	}
	var i int64
	var f float64
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	if n.Decode(&i) == nil {
		return strconv.FormatInt(i, 10)
	}
	if n.Decode(&f) == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return s
}

// flowLook reads the look of a collection off its own text, where it says something, else off the document.
func (pl *planner) flowLook(f *flowItems) flowLook {
	look := pl.documentFlow(f.open)
	if k, v := firstEntry(f.n, 0); k != nil {
		pl.entryLook(&look, k, v)
	}
	look.comma = look.colon
	for i := 0; i+1 < len(f.items); i++ {
		e := f.end(i)
		c := skipToToken(pl.raw, e)
		if c < len(pl.raw) && pl.raw[c] == ',' && lineEnd(pl.raw, c) > f.items[i+1] {
			look.comma = string(pl.raw[c+1 : f.items[i+1]])
			break
		}
	}
	// Nested values follow the last sibling that is a collection with something in it.
	look.levels = 0
	if n := pl.spread(f.n, 0); n >= 0 {
		look.levels = n
	} else if look.json && len(f.items) > 0 && f.own(len(f.items)-1) {
		look.levels = allLevels
	}
	if len(f.items) > 0 && f.own(len(f.items)-1) {
		if unit, ok := strings.CutPrefix(pl.prefix(f.items[len(f.items)-1]), pl.prefix(f.open)); ok && unit != "" {
			look.unit = unit
		}
	}
	return look
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
