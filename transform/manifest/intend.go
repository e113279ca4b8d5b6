package manifest

import "go.yaml.in/yaml/v3"

// intended gives the tree as it shall be after the changes. It is the yardstick for the edited text and knows nothing
// of text: every change applies at its own path, with aliases on the way written out. The original is left alone and
// shared where nothing changes.
func (cs *changeSet) intended(n *yaml.Node, d *delta) *yaml.Node {
	if d == nil || d.set == nil && len(d.kids) == 0 && len(d.inserts) == 0 {
		return n
	}
	if d.set != nil {
		v := cs.settle(d.set)
		if r := Resolve(n); r != nil && r.Kind == yaml.ScalarNode && v.Kind == yaml.ScalarNode && isLocal(r) {
			cp := *v
			cp.Tag, cp.Style = r.Tag, cp.Style|yaml.TaggedStyle
			return &cp
		}
		return v
	}
	out := *Resolve(n)
	if n.Kind == yaml.AliasNode {
		out.Anchor = ""
	}
	if out.Kind == yaml.SequenceNode {
		out.Content = cs.intendedItems(out.Content, d)
	} else {
		out.Content = cs.intendedEntries(&out, d)
	}
	return &out
}

// isLocal tells whether a node carries a tag of its own that edits keep.
func isLocal(n *yaml.Node) bool {
	return n.Style&yaml.TaggedStyle != 0 && len(n.Tag) > 0 && !(len(n.Tag) > 1 && n.Tag[:2] == "!!")
}

// settle puts moved elements into a new value.
func (cs *changeSet) settle(v *yaml.Node) *yaml.Node {
	if len(cs.moved) == 0 {
		return v
	}
	if m := cs.moved[v]; m != nil {
		return cs.intended(m.node, m.d)
	}
	if v.Kind == yaml.ScalarNode || v.Kind == yaml.AliasNode {
		return v
	}
	cp := shallow(v)
	for i, c := range cp.Content {
		cp.Content[i] = cs.settle(c)
	}
	return cp
}

func (cs *changeSet) intendedItems(items []*yaml.Node, d *delta) []*yaml.Node {
	out := make([]*yaml.Node, 0, len(items)+len(d.inserts))
	for i := 0; i <= len(items); i++ {
		for _, ins := range d.inserts {
			switch {
			case ins.at != i:
			case ins.from != nil:
				out = append(out, cs.intended(ins.from.node, ins.from.d))
			default:
				out = append(out, ins.value)
			}
		}
		if i == len(items) {
			break
		}
		k := d.kid(At(i))
		if k != nil && (k.removed || k.moved) {
			continue
		}
		out = append(out, cs.intended(items[i], k))
	}
	return out
}

func (cs *changeSet) intendedEntries(m *yaml.Node, d *delta) []*yaml.Node {
	out := append([]*yaml.Node(nil), m.Content...)
	for _, k := range d.kids {
		i := -1
		for j := 0; j+1 < len(out); j += 2 {
			if r := Resolve(out[j]); r.Kind == yaml.ScalarNode && r.Value == k.step.Key && !isMerge(r) {
				i = j
			}
		}
		switch {
		case i >= 0 && k.d.removed:
			out = append(out[:i], out[i+2:]...)
			if v := Lookup(&yaml.Node{Kind: yaml.MappingNode, Content: out}, k.step.Key); v != nil {
				out = unmerge(out, k.step.Key)
			}
		case i >= 0:
			out[i+1] = cs.intended(out[i+1], k.d)
		case k.d.removed:
			out = unmerge(out, k.step.Key)
		default:
			v := Lookup(m, k.step.Key)
			out = append(out, keyNode(k.step.Key), cs.intended(v, k.d))
		}
	}
	return out
}

// unmerge writes the merge keys of a mapping out, but for one key.
func unmerge(entries []*yaml.Node, without string) []*yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Content: entries}
	var out []*yaml.Node
	seen := map[string]bool{without: true}
	var add func(src *yaml.Node, depth int)
	add = func(src *yaml.Node, depth int) {
		if src = Resolve(src); depth > maxDepth {
			return
		}
		if src.Kind == yaml.SequenceNode {
			for _, s := range src.Content {
				add(s, depth+1)
			}
			return
		}
		for i := 0; i+1 < len(src.Content); i += 2 {
			k := src.Content[i]
			if isMerge(k) || seen[Resolve(k).Value] {
				continue
			}
			seen[Resolve(k).Value] = true
			out = append(out, k, src.Content[i+1])
		}
		for i := 0; i+1 < len(src.Content); i += 2 {
			if isMerge(src.Content[i]) {
				add(src.Content[i+1], depth+1)
			}
		}
	}
	add(m, 0)
	return out
}
