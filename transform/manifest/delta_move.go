package manifest

import (
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
)

// movedNode is an element on its way to another list.
type movedNode struct {
	node *yaml.Node // as it stands in the text
	seq  *yaml.Node // the list it leaves
	slot int        // its index there
	d    *delta
}

var errCycle = errors.New("an element is moved into itself")

// acyclic tells whether no moved element ends up inside of itself.
func (cs *changeSet) acyclic(d *delta, around []*movedNode) bool {
	enter := func(m *movedNode) bool {
		return m == nil || !slices.Contains(around, m) && cs.acyclic(m.d, append(around[:len(around):len(around)], m))
	}
	for _, k := range d.kids {
		if !k.d.moved && !cs.acyclic(k.d, around) {
			return false
		}
	}
	for _, ins := range d.inserts {
		if !enter(ins.from) {
			return false
		}
	}
	var value func(v *yaml.Node) bool
	value = func(v *yaml.Node) bool {
		if v == nil || !enter(cs.moved[v]) {
			return false
		}
		for _, c := range v.Content {
			if !value(c) {
				return false
			}
		}
		return true
	}
	return d.set == nil || len(cs.moved) == 0 || value(d.set)
}

// standIn makes the node that stands for a moved element in a new value.
func (cs *changeSet) standIn(m *movedNode) *yaml.Node {
	n := &yaml.Node{Kind: yaml.AliasNode, Alias: m.node}
	if cs.moved == nil {
		cs.moved = map[*yaml.Node]*movedNode{}
	}
	cs.moved[n] = m
	return n
}

func (cs *changeSet) move(c Change) error {
	if len(c.Path) == 0 || !c.Path[len(c.Path)-1].IsIndex {
		return badPath{c.Path}
	}
	d, n, fresh, _, err := cs.reach(c.Path)
	if err != nil {
		return err
	}
	if fresh != nil || n == nil || d.moved || d.removed {
		return badPath{c.Path}
	}
	d.moved = true
	seq := cs.root
	for _, s := range c.Path[:len(c.Path)-1] {
		seq = child(seq, s)
	}
	m := &movedNode{node: n, seq: Resolve(seq), slot: c.Path[len(c.Path)-1].Index, d: d}
	cs.movers = append(cs.movers, m)
	return cs.insert(c.To, insertion{at: c.Index, from: m})
}

// pruneMoves drops moves that leave their element where it is.
func (cs *changeSet) pruneMoves(n *yaml.Node, d *delta) {
	r := Resolve(n)
	kept := d.inserts[:0]
	for _, ins := range d.inserts {
		if f := ins.from; f != nil && f.seq == r && (ins.at == f.slot || ins.at == f.slot+1) {
			alone := true
			for _, o := range d.inserts {
				alone = alone && (o.from == f || o.at != ins.at)
			}
			if alone && d.kid(At(f.slot)) == f.d {
				f.d.moved = false
				continue
			}
		}
		kept = append(kept, ins)
	}
	d.inserts = kept
}

// holdsMoved tells whether a new value takes a moved element in.
func (cs *changeSet) holdsMoved(v *yaml.Node) bool {
	if len(cs.moved) == 0 {
		return false
	}
	if cs.moved[v] != nil {
		return true
	}
	for _, c := range v.Content {
		if cs.holdsMoved(c) {
			return true
		}
	}
	return false
}
