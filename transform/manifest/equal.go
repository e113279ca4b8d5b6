package manifest

import "go.yaml.in/yaml/v3"

// equalTree compares two trees by meaning: kind, resolved tag, text, aliases followed, keys of mappings in any order.
func equalTree(a, b *yaml.Node) bool {
	e := equaler{}
	return e.nodes(a, b)
}

type pair struct{ a, b *yaml.Node }

type equaler struct {
	// known holds pairs of aliased nodes that were compared already.
	known map[pair]bool
	depth int
}

func (e *equaler) nodes(a, b *yaml.Node) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	if a.Kind == yaml.AliasNode || b.Kind == yaml.AliasNode {
		return e.aliases(Resolve(a), Resolve(b))
	}
	if a.Kind != b.Kind {
		return false
	}
	if a.Kind == yaml.ScalarNode {
		return equalScalar(a, b)
	}
	if e.depth++; e.depth > 4*maxDepth {
		return false
	}
	defer func() { e.depth-- }()
	if len(a.Content) != len(b.Content) || !sameTag(a, b) {
		return false
	}
	if a.Kind == yaml.MappingNode {
		return e.mappings(a, b)
	}
	for i := range a.Content {
		if !e.nodes(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

func (e *equaler) aliases(a, b *yaml.Node) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	p := pair{a, b}
	if known, ok := e.known[p]; ok {
		return known
	}
	if e.known == nil {
		e.known = map[pair]bool{}
	}
	e.known[p] = true
	eq := e.nodes(a, b)
	e.known[p] = eq
	return eq
}

func (e *equaler) mappings(a, b *yaml.Node) bool {
	var index map[string]int
	for i := 0; i+1 < len(a.Content); i += 2 {
		// Mostly both are in the same order.
		k := Resolve(a.Content[i])
		if e.nodes(k, Resolve(b.Content[i])) {
			if !e.nodes(a.Content[i+1], b.Content[i+1]) {
				return false
			}
			continue
		}
		if k.Kind != yaml.ScalarNode {
			return false
		}
		if index == nil {
			index = make(map[string]int, len(b.Content)/2)
			for j := 0; j+1 < len(b.Content); j += 2 {
				if o := Resolve(b.Content[j]); o.Kind == yaml.ScalarNode {
					index[o.Value] = j
				}
			}
		}
		j, ok := index[k.Value]
		if !ok || !e.nodes(k, Resolve(b.Content[j])) || !e.nodes(a.Content[i+1], b.Content[j+1]) {
			return false
		}
	}
	return true
}

func equalScalar(a, b *yaml.Node) bool {
	ta, tb := scalarTag(a), scalarTag(b)
	return ta == tb && (a.Value == b.Value || ta == "!!null")
}

// scalarTag is the tag a scalar resolves to. The parser has put it there; values of callers may lack it.
func scalarTag(n *yaml.Node) string {
	switch n.Tag {
	case "!!str", "!!int", "!!bool", "!!null", "!!float":
		return n.Tag
	case "", "!":
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return "!!str"
		}
		return (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag()
	}
	return n.ShortTag()
}

// sameTag compares the tags of collections; core tags are the kind itself.
func sameTag(a, b *yaml.Node) bool { return localTag(a) == localTag(b) }

func localTag(n *yaml.Node) string {
	switch n.Tag {
	case "", "!", "!!map", "!!seq":
		return ""
	}
	return n.ShortTag()
}
