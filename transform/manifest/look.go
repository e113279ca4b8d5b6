package manifest

import "go.yaml.in/yaml/v3"

// look is how a document is written, as far as inserted text must know.
type look struct {
	step     int  // columns from a mapping to a mapping in it
	seq      int  // columns from a mapping to a sequence in it
	quote    byte // for values that need quotes
	keyQuote byte // all keys are written in these quotes, 0 otherwise
}

// lookOf counts over the whole tree; it works on the columns of the parser alone.
func (p *Parsed) lookOf() look {
	c := lookCounter{keys: -1}
	c.node(p.Root)
	l := look{step: commonest(c.steps[:], 2), seq: commonest(c.seqs[:], 0), quote: '"'}
	if c.single > c.double {
		l.quote = '\''
	}
	if c.keys > 0 {
		l.keyQuote = '"'
		if c.singleKeys {
			l.keyQuote = '\''
		}
	}
	return l
}

type lookCounter struct {
	steps, seqs    [12]int
	single, double int
	// keys is 1 while all keys seen are quoted, 0 after a plain one, -1 before the first.
	keys       int
	singleKeys bool
	depth      int
}

func (c *lookCounter) node(n *yaml.Node) {
	if n == nil || c.depth > maxDepth {
		return
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Style&yaml.SingleQuotedStyle != 0 {
			c.single++
		} else if n.Style&yaml.DoubleQuotedStyle != 0 {
			c.double++
		}
		return
	case yaml.AliasNode:
		return
	}
	c.depth++
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			c.key(n.Content[i])
			v := n.Content[i+1]
			if n.Style&yaml.FlowStyle == 0 {
				c.offset(n.Content[i], v)
			}
			c.node(v)
		}
	} else {
		for _, v := range n.Content {
			c.node(v)
		}
	}
	c.depth--
}

func (c *lookCounter) key(k *yaml.Node) {
	switch {
	case k.Kind != yaml.ScalarNode || k.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0:
		c.keys = 0
	case c.keys < 0:
		c.keys = 1
		c.singleKeys = k.Style&yaml.SingleQuotedStyle != 0
	}
}

// offset counts how far a block collection stands from its key.
func (c *lookCounter) offset(k, v *yaml.Node) {
	d := v.Column - k.Column
	if !plainBlock(v) || v.Line <= k.Line || d < 0 || d >= len(c.steps) {
		return
	}
	if v.Kind == yaml.MappingNode {
		if d > 0 {
			c.steps[d]++
		}
	} else {
		c.seqs[d]++
	}
}

// plainBlock: a block collection whose position is that of its first item.
func plainBlock(v *yaml.Node) bool {
	return (v.Kind == yaml.MappingNode || v.Kind == yaml.SequenceNode) && v.Style&(yaml.FlowStyle|yaml.TaggedStyle) == 0 && v.Anchor == ""
}

// commonest gives the index counted most; the smaller one at a tie.
func commonest(counts []int, none int) int {
	best, most := none, 0
	for i, n := range counts {
		if n > most {
			best, most = i, n
		}
	}
	return best
}
