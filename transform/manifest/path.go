package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Step is one step down a tree: a key of a mapping or an index of a sequence.
type Step struct {
	Key     string
	Index   int
	IsIndex bool
}

// Key makes the step to the value of a mapping key.
func Key(key string) Step { return Step{Key: key} }

// At makes the step to an element of a sequence, counted from 0.
func At(index int) Step { return Step{Index: index, IsIndex: true} }

// Path leads from the root of a document to a node.
type Path []Step

// Keys makes a path of mapping keys only.
func Keys(keys ...string) Path {
	p := make(Path, len(keys))
	for i, k := range keys {
		p[i] = Key(k)
	}
	return p
}

// With gives the path extended by steps; the receiver is not changed.
func (p Path) With(steps ...Step) Path {
	return append(p[:len(p):len(p)], steps...)
}

// String prints spec.template.spec.containers[0].image; a key that is no plain word is put in brackets and quotes.
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.IsIndex:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case s.Key == "" || strings.ContainsAny(s.Key, `.[]"`):
			b.WriteString("[" + strconv.Quote(s.Key) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Key)
		}
	}
	return b.String()
}

// Resolve follows an alias to the node it stands for; any other node is returned as it is.
func Resolve(n *yaml.Node) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.AliasNode && i < maxDepth; i++ {
		n = n.Alias
	}
	return n
}

// isMerge tells whether a key is the merge key.
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.Tag == "!!merge"
}

// Lookup gives the value of a key in a mapping (aliases followed), also where a merge key brings it in; nil where there
// is none. The value is not resolved: it may be an alias node.
func Lookup(m *yaml.Node, key string) *yaml.Node {
	_, v := lookup(m, key, 0)
	return v
}

// KeyNode gives the node of the key itself, for its position; nil where the mapping does not have it.
func KeyNode(m *yaml.Node, key string) *yaml.Node {
	k, _ := lookup(m, key, 0)
	return k
}

func lookup(m *yaml.Node, key string, depth int) (k, v *yaml.Node) {
	m = Resolve(m)
	if m == nil || m.Kind != yaml.MappingNode || depth > maxDepth {
		return nil, nil
	}
	if i := entry(m, key); i >= 0 {
		return m.Content[i], m.Content[i+1]
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if !isMerge(m.Content[i]) {
			continue
		}
		src := Resolve(m.Content[i+1])
		if src.Kind == yaml.MappingNode {
			return lookup(src, key, depth+1)
		}
		for _, s := range src.Content {
			if k, v = lookup(s, key, depth+1); v != nil {
				return k, v
			}
		}
	}
	return nil, nil
}

// entry finds a key written in the mapping itself: the index of its node in Content, -1 where it is not.
func entry(m *yaml.Node, key string) int {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k := Resolve(m.Content[i]); k.Value == key && k.Kind == yaml.ScalarNode && !isMerge(k) {
			return i
		}
	}
	return -1
}

// Get follows a path from the root of the document through aliases and merge keys; nil where it leads nowhere. The
// node at the end is resolved.
func (p *Parsed) Get(path Path) *yaml.Node {
	n := Resolve(p.Root)
	for _, s := range path {
		switch {
		case n == nil:
			return nil
		case s.IsIndex:
			if n.Kind != yaml.SequenceNode || s.Index < 0 || s.Index >= len(n.Content) {
				return nil
			}
			n = Resolve(n.Content[s.Index])
		default:
			n = Resolve(Lookup(n, s.Key))
		}
	}
	return n
}
