package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// delta is what happens to one node of the original tree: the changes sorted by where they act.
type delta struct {
	// set replaces the node; nil keeps it.
	set *yaml.Node
	// removed: the key or element goes away. moved: it goes to another place with what happens inside of it.
	removed, moved bool
	kids           []kid
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

// movedNode is an element on its way to another list.
type movedNode struct {
	node *yaml.Node // as it stands in the text
	seq  *yaml.Node // the list it leaves
	slot int        // its index there
	d    *delta
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
	for i := range d.kids {
		if d.kids[i].step == s {
			return d.kids[i].d
		}
	}
	return nil
}

func (d *delta) ensure(s Step) *delta {
	if k := d.kid(s); k != nil {
		return k
	}
	k := &delta{}
	d.kids = append(d.kids, kid{s, k})
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

var errLarge = errors.New("the new values have more than 1,000,000 nodes or nest deeper than 1000 levels")

// spend counts the nodes of a new value, aliases expanded, against a budget; below zero it is used up.
func spend(n *yaml.Node, budget, depth int) int {
	if n == nil {
		return budget
	}
	if n = Resolve(n); n.Kind == yaml.AliasNode || depth > maxDepth {
		return -1
	}
	budget--
	for _, c := range n.Content {
		if budget < 0 {
			break
		}
		budget = spend(c, budget, depth+1)
	}
	return budget
}

// plainTree writes aliases of a value out; the result may share nodes with it.
func plainTree(n *yaml.Node) *yaml.Node {
	n = Resolve(n)
	if n == nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		return plainTree(n.Content[0])
	}
	for i, c := range n.Content {
		p := plainTree(c)
		if p == c {
			continue
		}
		cp := *n
		cp.Content = append([]*yaml.Node(nil), n.Content...)
		cp.Content[i] = p
		for j := i + 1; j < len(cp.Content); j++ {
			cp.Content[j] = plainTree(cp.Content[j])
		}
		return &cp
	}
	return n
}

// jsonTree is plainTree for JSON, which has no other numbers than its own, no dates and no tags.
func jsonTree(n *yaml.Node) *yaml.Node {
	n = plainTree(n)
	cp := yaml.Node{Kind: n.Kind, Style: n.Style &^ yaml.TaggedStyle, Value: n.Value, Tag: "!!map"}
	switch n.Kind {
	case yaml.ScalarNode:
		switch cp.Tag = scalarTag(n); cp.Tag {
		case "!!int", "!!float":
			cp.Value = jsonNumber(n.Value)
			if _, state := skipJSON([]byte(cp.Value), 0); state != jsonOK {
				cp.Tag = "!!str"
			} else if strings.ContainsAny(cp.Value, ".eE") {
				cp.Tag = "!!float"
			} else {
				cp.Tag = "!!int"
			}
		case "!!bool":
			cp.Value = strings.ToLower(n.Value)
		case "!!null":
		default:
			cp.Tag = "!!str"
		}
		return &cp
	case yaml.SequenceNode:
		cp.Tag = "!!seq"
	}
	cp.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		cp.Content[i] = jsonTree(c)
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind == yaml.ScalarNode {
			cp.Content[i] = keyNode(c.Value)
		}
	}
	return &cp
}

func keyNode(key string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
}

// isNull tells whether a node is null in any spelling, or missing.
func isNull(n *yaml.Node) bool {
	n = Resolve(n)
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
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

// newFor makes the empty collection that a step needs.
func newFor(s Step) *yaml.Node {
	if s.IsIndex {
		return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
}

func shallow(n *yaml.Node) *yaml.Node {
	cp := *n
	cp.Content = append([]*yaml.Node(nil), n.Content...)
	return &cp
}

// freshStep walks one step inside a new value, which it owns; what is missing is made for the step after.
func freshStep(n *yaml.Node, s Step, next *Step) (*yaml.Node, bool) {
	made := func(old *yaml.Node) *yaml.Node {
		switch {
		case !isNull(old):
			return shallow(Resolve(old))
		case next != nil:
			return newFor(*next)
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	switch {
	case s.IsIndex && n.Kind == yaml.SequenceNode && s.Index >= 0 && s.Index < len(n.Content):
		n.Content[s.Index] = made(n.Content[s.Index])
		return n.Content[s.Index], true
	case !s.IsIndex && n.Kind == yaml.MappingNode:
		if i := entry(n, s.Key); i >= 0 {
			n.Content[i+1] = made(n.Content[i+1])
			return n.Content[i+1], true
		}
		v := made(nil)
		n.Content = append(n.Content, keyNode(s.Key), v)
		return v, true
	}
	return nil, false
}

// inside walks steps inside a new value.
func inside(n *yaml.Node, rest Path, last *Step) (*yaml.Node, bool) {
	for i, s := range rest {
		next := last
		if i+1 < len(rest) {
			next = &rest[i+1]
		}
		var ok bool
		if n, ok = freshStep(n, s, next); !ok {
			return nil, false
		}
	}
	return n, true
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

// prune turns whole new values into edits of their parts where that keeps more of the text, and drops what changes
// nothing.
func (cs *changeSet) prune(n *yaml.Node, d *delta) {
	if d.set != nil && n != nil {
		if cs.holdsMoved(d.set) {
			// Stand-ins have no meaning of their own to compare.
		} else if equalTree(n, d.set) {
			d.set = nil
		} else if r := refine(n, d.set); r != nil {
			moved := d.moved
			*d = *r
			d.moved = moved
		}
	}
	cs.pruneMoves(n, d)
	kept := d.kids[:0]
	for _, k := range d.kids {
		cs.prune(child(n, k.step), k.d)
		if !k.d.empty() {
			kept = append(kept, k)
		}
	}
	d.kids = kept
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
