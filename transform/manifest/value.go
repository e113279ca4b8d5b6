package manifest

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
