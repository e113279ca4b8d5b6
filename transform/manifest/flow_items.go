package manifest

import "go.yaml.in/yaml/v3"

// flowItems is a flow collection with the places of its items.
type flowItems struct {
	pl          *planner
	n           *yaml.Node
	width       int // nodes per item
	items       []int
	open, close int
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

// blankAfter: only blanks or a comment follow on the line.
func (f *flowItems) blankAfter(i int) bool {
	i = skipBlanks(f.pl.raw, i)
	return i >= len(f.pl.raw) || breakAt(f.pl.raw, i) > 0 || f.pl.raw[i] == '#'
}
