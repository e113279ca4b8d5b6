package manifest

import "go.yaml.in/yaml/v3"

// written gives the changed value of an alias, of something merged in or of a moved element, to be printed anew. What
// it takes from the document keeps its spelling.
func (pl *planner) written(n *yaml.Node, d *delta) *yaml.Node {
	pl.mixed()
	v := pl.cs.intended(n, &delta{set: d.set, kids: d.kids, inserts: d.inserts})
	return Resolve(v)
}

// mixed prepares for printing values in which new nodes and nodes of the document meet.
func (pl *planner) mixed() {
	if pl.fresh != nil {
		return
	}
	pl.fresh = map[*yaml.Node]bool{}
	pl.cs.each(func(n *yaml.Node) { pl.fresh[n] = true })
}

// keeps tells whether a scalar comes from the document.
func (pl *planner) keeps(v *yaml.Node) bool { return pl.fresh != nil && v.Line > 0 && !pl.fresh[v] }

// equalDelta tells whether two places want the same.
func equalDelta(a, b *delta) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || (a.set == nil) != (b.set == nil) || a.removed != b.removed || a.moved != b.moved ||
		len(a.kids) != len(b.kids) || len(a.inserts) != len(b.inserts) {
		return false
	}
	if a.set != nil && !equalTree(a.set, b.set) {
		return false
	}
	for _, k := range a.kids {
		if !equalDelta(k.d, b.kid(k.step)) {
			return false
		}
	}
	for i := range a.inserts {
		x, y := a.inserts[i], b.inserts[i]
		if x.at != y.at || (x.from == nil) != (y.from == nil) {
			return false
		}
		if x.from != nil {
			if x.from.slot != y.from.slot || x.from.seq != y.from.seq {
				return false
			}
		} else if !equalTree(x.value, y.value) {
			return false
		}
	}
	return true
}

// anchored notes which anchored nodes are changed at their own place.
func (pl *planner) anchored(n *yaml.Node, d *delta) {
	if n == nil || n.Kind == yaml.AliasNode {
		return
	}
	if n.Anchor != "" {
		if pl.direct == nil {
			pl.direct = map[*yaml.Node]*delta{}
		}
		pl.direct[n] = d
	}
	for _, k := range d.kids {
		var c *yaml.Node
		switch {
		case k.step.IsIndex && k.step.Index < len(n.Content):
			c = n.Content[k.step.Index]
		case !k.step.IsIndex:
			if i := entry(n, k.step.Key); i >= 0 {
				c = n.Content[i+1]
			}
		}
		pl.anchored(c, k.d)
	}
}
