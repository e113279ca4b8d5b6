package manifest

import "go.yaml.in/yaml/v3"

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
	d.kids, d.index = kept, nil
}
