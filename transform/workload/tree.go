package workload

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// maxHops bounds chains of aliases, so that one that leads to itself ends.
const maxHops = 100

// Resolve follows aliases to the node they stand for. It gives nil for nil and for aliases that lead nowhere.
func Resolve(n *yaml.Node) *yaml.Node {
	for range maxHops {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// Child looks a key up in a mapping as the cluster sees it: aliases followed, merge keys honoured, an explicit key
// before a merged one. It gives the key's node and the value's, not resolved; both are nil where there is none.
func Child(mapping *yaml.Node, key string) (k, v *yaml.Node) {
	var seen []*yaml.Node
	return child(Resolve(mapping), key, &seen)
}

// child keeps the mappings with merge keys that it has been through in seen: none of them can hold the key any more,
// and without them a tree whose merge keys lead to themselves would never end.
func child(m *yaml.Node, key string, seen *[]*yaml.Node) (k, v *yaml.Node) {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil, nil
	}
	var merge *yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		name := Resolve(m.Content[i])
		if name == nil || name.Kind != yaml.ScalarNode {
			continue
		}
		if isMerge(name) {
			merge = m.Content[i+1]
		} else if name.Value == key {
			return m.Content[i], m.Content[i+1]
		}
	}
	if merge == nil || slices.Contains(*seen, m) {
		return nil, nil
	}
	*seen = append(*seen, m)
	for _, source := range mergeSources(merge) {
		if k, v = child(source, key, seen); k != nil {
			return k, v
		}
	}
	return nil, nil
}

// isMerge tells the merge key from a quoted "<<".
func isMerge(key *yaml.Node) bool {
	return key.Value == "<<" && key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 &&
		(key.Tag == "" || key.ShortTag() == "!!merge")
}

// mergeSources gives the mappings behind a merge key, the one that counts first at the front.
func mergeSources(merge *yaml.Node) []*yaml.Node {
	merge = Resolve(merge)
	if merge == nil || merge.Kind != yaml.SequenceNode {
		return []*yaml.Node{merge}
	}
	sources := make([]*yaml.Node, len(merge.Content))
	for i, n := range merge.Content {
		sources[i] = Resolve(n)
	}
	return sources
}

// pair is a key of a mapping with its value.
type pair struct{ key, value *yaml.Node }

// pairs lists the mapping's entries in document order, those that come through merge keys behind its own.
func pairs(m *yaml.Node) []pair {
	l := pairList{keys: make(map[string]bool)}
	l.add(Resolve(m))
	return l.all
}

// pairList collects entries; keys are those it has, seen the mappings it has been through.
type pairList struct {
	all  []pair
	keys map[string]bool
	seen []*yaml.Node
}

func (l *pairList) add(m *yaml.Node) {
	if m == nil || m.Kind != yaml.MappingNode || slices.Contains(l.seen, m) {
		return
	}
	l.seen = append(l.seen, m)
	var merge *yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		name := Resolve(m.Content[i])
		switch {
		case name == nil || name.Kind != yaml.ScalarNode:
		case isMerge(name):
			merge = m.Content[i+1]
		case !l.keys[name.Value]:
			l.keys[name.Value] = true
			l.all = append(l.all, pair{m.Content[i], m.Content[i+1]})
		}
	}
	for _, source := range mergeSources(merge) {
		l.add(source)
	}
}

func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" || n.Kind == 0
}

// text gives a scalar that is a string; ok is false for all else.
func text(n *yaml.Node) (string, bool) {
	if n = Resolve(n); n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", false
	}
	return n.Value, true
}

// scalar gives the text of any scalar but null.
func scalar(n *yaml.Node) string {
	if n = Resolve(n); n == nil || n.Kind != yaml.ScalarNode || isNull(n) {
		return ""
	}
	return n.Value
}

// describe names what a node is, in the words of the messages.
func describe(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "null"
	case n.Kind == yaml.MappingNode:
		return "mapping"
	case n.Kind == yaml.SequenceNode:
		return "sequence"
	}
	switch n.ShortTag() {
	case "!!int":
		return "integer"
	case "!!float":
		return "number"
	case "!!bool":
		return "boolean"
	}
	return "string"
}
