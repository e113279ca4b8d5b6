package manifest

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// checker walks a fresh tree once and finds what the parser lets through.
type checker struct {
	p        *Parsed
	found    []policy.Finding
	tags     map[string]bool
	open     map[*yaml.Node]bool // anchored nodes around the one at hand
	size     map[*yaml.Node]int  // expanded size of anchored nodes
	template bool                // the text holds {{ or {%
	depth    int
	stop     bool
}

// check gives E_LIMIT, E_ALIAS, E_DUPKEY, E_TEMPLATE and W_TAG.
func (p *Parsed) check() []policy.Finding {
	c := checker{p: p}
	if !p.JSON {
		c.template = p.Doc.mayHoldActions()
		if c.template {
			if f, ok := p.templateNode(p.Root, 0); ok {
				return []policy.Finding{f}
			}
		}
	}
	if n := c.walk(p.Root); n > maxNodes {
		c.tooMany(p.Root)
	}
	return c.found
}

func (c *checker) add(code string, n *yaml.Node, message, hint string) {
	c.found = append(c.found, c.p.finding(code, policy.Error, n, message, hint))
}

func (c *checker) tooMany(n *yaml.Node) {
	if c.stop {
		return
	}
	c.stop = true
	c.found = nil
	c.add("E_LIMIT", n, "more than 1,000,000 nodes once its aliases are written out (alias expansion)",
		"remove the nested anchors")
}

// walk gives the number of nodes below n, itself included, with aliases expanded.
func (c *checker) walk(n *yaml.Node) int {
	if c.stop {
		return 0
	}
	if n.Kind == yaml.AliasNode {
		return c.alias(n)
	}
	c.tag(n)
	if n.Kind == yaml.ScalarNode {
		return 1
	}
	if c.depth++; c.depth > maxDepth {
		c.stop = true
		c.found = nil
		c.add("E_LIMIT", n, fmt.Sprintf("nested deeper than %d levels", maxDepth), "")
		return 0
	}
	if n.Anchor != "" {
		if c.open == nil {
			c.open, c.size = map[*yaml.Node]bool{}, map[*yaml.Node]int{}
		}
		c.open[n] = true
	}
	if n.Kind == yaml.MappingNode {
		c.keys(n)
	}
	total := 1
	for _, child := range n.Content {
		total += c.walk(child)
		if total > maxNodes {
			c.tooMany(n)
			total = maxNodes + 1
			break
		}
	}
	if n.Anchor != "" {
		delete(c.open, n)
		c.size[n] = total
	}
	c.depth--
	return total
}

func (c *checker) alias(n *yaml.Node) int {
	c.p.aliased = true
	if c.open[n.Alias] {
		c.add("E_ALIAS", n, "alias *"+n.Value+" stands inside of its own anchor: the value would contain itself", "")
		return 1
	}
	if s, ok := c.size[n.Alias]; ok {
		return s
	}
	return 1
}

// tag warns once of every local tag.
func (c *checker) tag(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle == 0 || n.Tag == "" || n.Tag == "!" || strings.HasPrefix(n.Tag, "!!") || c.tags[n.Tag] {
		return
	}
	if c.tags == nil {
		c.tags = map[string]bool{}
	}
	c.tags[n.Tag] = true
	c.found = append(c.found, c.p.finding("W_TAG", policy.Warning, n,
		"local tag "+cut(n.Tag, 40)+": kubectl ignores it and takes the value as written", ""))
}

// fewKeys is up to where comparing every key with every other beats a map.
const fewKeys = 12

// keys finds duplicate keys and merge keys without a mapping.
func (c *checker) keys(m *yaml.Node) {
	n := len(m.Content) / 2
	var seen map[string]*yaml.Node
	if n > fewKeys {
		seen = make(map[string]*yaml.Node, n)
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		if isMerge(k) {
			c.merge(k, m.Content[i+1])
		}
		s := k
		if s.Kind == yaml.AliasNode {
			s = Resolve(s)
		}
		if s.Kind != yaml.ScalarNode {
			continue
		}
		if seen != nil {
			if first, dup := seen[s.Value]; dup {
				c.duplicate(k, first)
			} else {
				seen[s.Value] = k
			}
			continue
		}
		for j := 0; j < i; j += 2 {
			if o := Resolve(m.Content[j]); o.Value == s.Value && o.Kind == yaml.ScalarNode {
				c.duplicate(k, m.Content[j])
				break
			}
		}
	}
}

func (c *checker) duplicate(k, first *yaml.Node) {
	c.add("E_DUPKEY", k, fmt.Sprintf("duplicate key %q, first on line %d", Resolve(k).Value, c.p.Position(first).Line),
		"remove one of the two")
}

func (c *checker) merge(k, v *yaml.Node) {
	ok := Resolve(v).Kind == yaml.MappingNode
	if v.Kind == yaml.SequenceNode {
		ok = true
		for _, s := range v.Content {
			ok = ok && Resolve(s).Kind == yaml.MappingNode
		}
	}
	if !ok {
		c.add("E_ALIAS", k, "merge key << needs a mapping or a list of mappings", "")
	}
}

// Sops tells whether the document was encrypted by sops: a top-level mapping sops with a mac. An edit would break it.
func (p *Parsed) Sops() (*yaml.Node, bool) {
	if p.Root == nil || p.Root.Kind != yaml.MappingNode {
		return nil, false
	}
	v := Resolve(Lookup(p.Root, "sops"))
	if v == nil || v.Kind != yaml.MappingNode || Lookup(v, "mac") == nil {
		return nil, false
	}
	return KeyNode(p.Root, "sops"), true
}
