package manifest

import (
	"errors"

	"go.yaml.in/yaml/v3"
)

// planner turns changes into edits of the bytes. It gives up with an error where splicing has no good form; the
// document is then encoded anew.
type planner struct {
	p     *Parsed
	cs    *changeSet
	raw   []byte
	look  look
	edits []Edit
	err   error
	// direct holds what happens to anchored nodes at their own place.
	direct map[*yaml.Node]*delta
	// fresh holds the nodes of new values, once values are printed that also have nodes of the document.
	fresh map[*yaml.Node]bool
	// clip is the block scalar that ends the text without a line break and must not gain one, nil for none.
	clip *yaml.Node
}

// slot is the place of a node: what surrounds its value.
type slot struct {
	// flow: inside of a flow collection, where everything is flow.
	flow bool
	// root: the top of the document.
	root bool
	// after is the offset behind the colon or dash in front of the value.
	after int
	// item: an element of a block sequence; otherwise the value of a block mapping's key.
	item bool
	// col is the column of the key or dash; it is also the indentation around the value.
	col int
	// step is the last distance of a mapping from the mapping around it on the way here, 0 where none was seen.
	step int
	// in is the mapping that holds the key, nil elsewhere.
	in *yaml.Node
}

// indent is the column that block scalars in the slot count from.
func (s slot) indent() int {
	if s.root || s.flow {
		return -1
	}
	return s.col
}

func (pl *planner) fail(reason string) {
	if pl.err == nil {
		pl.err = errors.New(reason)
	}
}

// edit notes one replacement. Edits at one place keep the order in which they are noted.
func (pl *planner) edit(start, end int, text []byte) {
	if start == end && len(text) == 0 {
		return
	}
	pl.edits = append(pl.edits, Edit{start, end, text})
}

// change works the changes below n into its text.
func (pl *planner) change(n *yaml.Node, d *delta, s slot) {
	if pl.err != nil || d == nil || d.empty() {
		return
	}
	if d.set != nil {
		pl.replace(n, d.set, s)
		return
	}
	if len(d.kids) == 0 && len(d.inserts) == 0 {
		return
	}
	if n.Kind == yaml.AliasNode {
		if at := pl.direct[n.Alias]; at != nil && equalDelta(at, d) {
			return
		}
		pl.replace(n, pl.written(n, d), s)
		return
	}
	switch {
	case n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode:
		pl.fail("a change leads through a value that is no collection")
	case n.Style&yaml.FlowStyle != 0:
		if len(n.Content) == 0 && !s.flow && !s.root {
			pl.replace(n, pl.written(n, d), s)
			return
		}
		pl.flow(n, d, s)
	case n.Kind == yaml.MappingNode:
		pl.mapping(n, d, s)
	default:
		pl.sequence(n, d, s)
	}
}

// writer makes a printer in the style of the document.
func (pl *planner) writer(eol string) *writer {
	w := &writer{look: pl.look, eol: eol, keeps: pl.keeps}
	if len(pl.cs.moved) > 0 {
		w.moved = func(stand *yaml.Node, col int) ([]byte, bool) {
			m := pl.cs.moved[stand]
			if m == nil {
				return nil, false
			}
			return pl.movedText(m, col)
		}
	}
	return w
}
