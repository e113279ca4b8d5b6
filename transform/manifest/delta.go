package manifest

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// delta is what happens to one node of the original tree: the changes sorted by where they act.
type delta struct {
	// set replaces the node; nil keeps it.
	set *yaml.Node
	// removed: the key or element goes away. moved: it goes to another place with what happens inside of it.
	removed, moved bool
	kids           []kid
	// index finds kids by their step once there are many.
	index map[Step]*delta
	// inserts are the new elements of a list, in the order of the changes.
	inserts []insertion
}

type kid struct {
	step Step
	d    *delta
}

// insertion is a new element before index at: a value, or an element that moved here.
type insertion struct {
	at    int
	value *yaml.Node
	from  *movedNode
}

// changeSet is all changes of one document.
type changeSet struct {
	root   *yaml.Node
	top    delta
	movers []*movedNode
	// moved holds the stand-ins for moved elements inside of new values.
	moved map[*yaml.Node]*movedNode
}

// badPath says that a change leads through something that is no collection.
type badPath struct{ path Path }

func (e badPath) Error() string {
	return fmt.Sprintf("change at %s leads through a value that is no collection", e.path)
}

func (d *delta) empty() bool {
	return d.set == nil && !d.removed && !d.moved && len(d.kids) == 0 && len(d.inserts) == 0
}

// each visits the nodes of all new values.
func (cs *changeSet) each(visit func(*yaml.Node)) {
	var value func(n *yaml.Node)
	value = func(n *yaml.Node) {
		if n == nil || n.Kind == yaml.AliasNode {
			return
		}
		visit(n)
		for _, c := range n.Content {
			value(c)
		}
	}
	var walk func(d *delta)
	walk = func(d *delta) {
		value(d.set)
		for _, ins := range d.inserts {
			value(ins.value)
		}
		for _, k := range d.kids {
			walk(k.d)
		}
	}
	walk(&cs.top)
}

// kid gives what happens to a child, nil for nothing.
func (d *delta) kid(s Step) *delta {
	if len(d.kids) > manyKids {
		if len(d.index) != len(d.kids) {
			d.index = make(map[Step]*delta, len(d.kids))
			for _, k := range d.kids {
				d.index[k.step] = k.d
			}
		}
		return d.index[s]
	}
	for i := range d.kids {
		if d.kids[i].step == s {
			return d.kids[i].d
		}
	}
	return nil
}

// manyKids is up to where looking at every child beats a map.
const manyKids = 16

func (d *delta) ensure(s Step) *delta {
	if k := d.kid(s); k != nil {
		return k
	}
	k := &delta{}
	d.kids = append(d.kids, kid{s, k})
	if d.index != nil {
		d.index[s] = k
	}
	return k
}

// collect sorts the changes by place and drops those that wish for what is there already. For a JSON document new
// values are put into the terms of JSON.
func collect(root *yaml.Node, changes []Change, json bool) (*changeSet, error) {
	cs := &changeSet{root: root}
	tree := plainTree
	if json {
		tree = jsonTree
	}
	budget := maxNodes
	for _, c := range changes {
		if budget = spend(c.Value, budget, 0); budget < 0 {
			return nil, errLarge
		}
		var err error
		switch c.Op {
		case Remove:
			err = cs.remove(c.Path)
		case Move:
			err = cs.move(c)
		case Insert:
			err = cs.insert(c.Path, insertion{at: c.Index, value: tree(c.Value)})
		default:
			err = cs.put(c.Path, tree(c.Value))
		}
		if err != nil {
			return nil, err
		}
	}
	for _, m := range cs.movers {
		if !cs.acyclic(m.d, []*movedNode{m}) {
			return nil, errCycle
		}
	}
	cs.prune(root, &cs.top)
	return cs, nil
}

// child gives the value below n, nil where there is none.
func child(n *yaml.Node, s Step) *yaml.Node {
	n = Resolve(n)
	switch {
	case n == nil:
		return nil
	case s.IsIndex:
		if n.Kind == yaml.SequenceNode && s.Index >= 0 && s.Index < len(n.Content) {
			return n.Content[s.Index]
		}
		return nil
	default:
		return Lookup(n, s.Key)
	}
}

// reach walks to the delta at path. Where the document has nothing to walk on, it makes a new value and returns that
// with the steps that remain inside of it.
func (cs *changeSet) reach(path Path) (d *delta, n *yaml.Node, fresh *yaml.Node, rest Path, err error) {
	d, n = &cs.top, cs.root
	for i, s := range path {
		if d.set != nil {
			d.set = shallow(d.set)
			return d, n, d.set, path[i:], nil
		}
		r := Resolve(n)
		if isNull(r) {
			d.set = newFor(s)
			return d, n, d.set, path[i:], nil
		}
		if s.IsIndex && r.Kind != yaml.SequenceNode || !s.IsIndex && r.Kind != yaml.MappingNode {
			return nil, nil, nil, nil, badPath{path}
		}
		if s.IsIndex && (s.Index < 0 || s.Index >= len(r.Content)) {
			return nil, nil, nil, nil, badPath{path}
		}
		n = child(r, s)
		d = d.ensure(s)
	}
	if d.set != nil {
		d.set = shallow(d.set)
		return d, n, d.set, nil, nil
	}
	return d, n, nil, nil, nil
}

func (cs *changeSet) put(path Path, value *yaml.Node) error {
	d, _, fresh, rest, err := cs.reach(path)
	if err != nil {
		return err
	}
	if fresh == nil || len(rest) == 0 {
		*d = delta{set: value}
		return nil
	}
	n, ok := inside(fresh, rest, nil)
	if !ok {
		return badPath{path}
	}
	*n = *value
	return nil
}

func (cs *changeSet) remove(path Path) error {
	if len(path) == 0 {
		return badPath{path}
	}
	n := cs.root
	for _, s := range path {
		if n = child(n, s); n == nil {
			return nil
		}
	}
	d, _, fresh, _, err := cs.reach(path)
	if err != nil {
		return err
	}
	if fresh != nil {
		return badPath{path}
	}
	*d = delta{removed: true}
	return nil
}

func (cs *changeSet) insert(path Path, ins insertion) error {
	d, n, fresh, rest, err := cs.reach(path)
	if err != nil {
		return err
	}
	if fresh == nil {
		r := Resolve(n)
		if !isNull(r) {
			if r.Kind != yaml.SequenceNode {
				return badPath{path}
			}
			ins.at = max(0, min(ins.at, len(r.Content)))
			d.inserts = append(d.inserts, ins)
			return nil
		}
		d.set = newFor(Step{IsIndex: true})
		fresh, rest = d.set, nil
	}
	seq, ok := inside(fresh, rest, &Step{IsIndex: true})
	if !ok || seq.Kind != yaml.SequenceNode && !isNull(seq) {
		return badPath{path}
	}
	if seq.Kind != yaml.SequenceNode {
		*seq = *newFor(Step{IsIndex: true})
	}
	value := ins.value
	if ins.from != nil {
		value = cs.standIn(ins.from)
	}
	// Everything in a new list is an insertion, so the order of the changes is its order.
	seq.Content = append(seq.Content, value)
	return nil
}
