package typed

import (
	"go.yaml.in/yaml/v3"
)

// Deref follows an alias to its anchor.
func Deref(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull tells whether n is absent or a null scalar.
func IsNull(n *yaml.Node) bool {
	n = Deref(n)
	return n == nil || n.Kind == 0 || (n.Kind == yaml.ScalarNode && ScalarKind(n) == Null)
}

// isMerge tells whether a key node is YAML's merge key.
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && (k.Tag == "" || k.Tag == "!" || k.Tag == "!!merge")
}

// entries calls visit for each key of a mapping as a reader of the document sees it: keys of merged mappings stand
// behind the mapping's own and do not override them.
func entries(m *yaml.Node, visit func(key, value *yaml.Node)) {
	merged := false
	for i := 0; i+1 < len(m.Content); i += 2 {
		if isMerge(m.Content[i]) {
			merged = true
			continue
		}
		visit(m.Content[i], m.Content[i+1])
	}
	if merged {
		seen := map[string]bool{}
		for i := 0; i+1 < len(m.Content); i += 2 {
			seen[m.Content[i].Value] = true
		}
		mergedEntries(m, seen, visit)
	}
}

func mergedEntries(m *yaml.Node, seen map[string]bool, visit func(key, value *yaml.Node)) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if !isMerge(m.Content[i]) {
			continue
		}
		sources := []*yaml.Node{Deref(m.Content[i+1])}
		if sources[0] != nil && sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, src := range sources {
			src = Deref(src)
			if src == nil || src.Kind != yaml.MappingNode {
				continue
			}
			for j := 0; j+1 < len(src.Content); j += 2 {
				k := src.Content[j]
				if !isMerge(k) && !seen[k.Value] {
					seen[k.Value] = true
					visit(k, src.Content[j+1])
				}
			}
			mergedEntries(src, seen, visit)
		}
	}
}

// Get gives the value of key in a mapping, through aliases and merge keys; nil where there is none.
func Get(m *yaml.Node, key string) *yaml.Node {
	m = Deref(m)
	if m == nil || m.Kind != yaml.MappingNode {
		return nil
	}
	var out *yaml.Node
	merged := false
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key && !isMerge(m.Content[i]) {
			out = m.Content[i+1]
		}
		merged = merged || isMerge(m.Content[i])
	}
	if out == nil && merged {
		entries(m, func(k, v *yaml.Node) {
			if k.Value == key {
				out = v
			}
		})
	}
	return Deref(out)
}
