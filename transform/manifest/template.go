package manifest

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// mayHoldActions tells whether the text holds the start of a template action at all.
func (d Document) mayHoldActions() bool {
	return bytes.Contains(d.Raw, []byte("{{")) || bytes.Contains(d.Raw, []byte("{%"))
}

// helmAction tells whether text holds an action in the words of Helm.
func helmAction(text string) bool {
	for {
		_, rest, ok := strings.Cut(text, "{{")
		if !ok {
			return false
		}
		action, _, _ := strings.Cut(rest, "}}")
		for _, w := range []string{".Values", ".Release", ".Chart", ".Capabilities", ".Files"} {
			if strings.Contains(action, w) {
				return true
			}
		}
		word, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(action, "-"), " ("), " ")
		switch word {
		case "include", "tpl", "toYaml", "template":
			return true
		}
		text = rest
	}
}

// templateFinding is E_TEMPLATE for the action in text at offset.
func (d Document) templateFinding(offset int, text string) policy.Finding {
	action := text
	if i := strings.IndexAny(action, "\r\n"); i >= 0 {
		action = action[:i]
	}
	if i := strings.Index(action, "}}"); i >= 0 {
		action = action[:i+2]
	}
	hint := "render the template first"
	if helmAction(text) || strings.Contains(string(d.Raw), ".Values") || strings.HasPrefix(text, "{{") {
		hint = "render the chart first: helm template … | inject -f -"
	}
	return d.finding("E_TEMPLATE", policy.Error, offset, "unrendered template: "+cut(action, 40), hint)
}

// templateLine looks for template actions in text that did not parse, or before it is parsed.
func (d Document) templateLine() (policy.Finding, bool) {
	if !d.mayHoldActions() {
		return policy.Finding{}, false
	}
	var f policy.Finding
	found := false
	lex(d.Raw[:d.tail], d.body, func(e lexEvent, start, end int) bool {
		switch e {
		case lexAction:
			f, found = d.templateFinding(start, string(d.Raw[start:end])), true
		case lexPlain:
			text := string(d.Raw[start:lineEnd(d.Raw, start)])
			if i := strings.Index(text, "{{"); i >= 0 && start+i <= end && helmAction(text) {
				f, found = d.templateFinding(start+i, text[i:]), true
			}
		}
		return !found
	})
	return f, found
}

// templateNode looks for template actions in a tree: text that happens to be YAML.
func (p *Parsed) templateNode(n *yaml.Node, depth int) (policy.Finding, bool) {
	if depth > maxDepth {
		return policy.Finding{}, false
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Style&^yaml.TaggedStyle != 0 || !strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "{%") {
			return policy.Finding{}, false
		}
		return p.templateScalar(n)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := n.Content[i]; k.Kind == yaml.MappingNode && k.Style&yaml.FlowStyle != 0 && n.Style&yaml.FlowStyle != 0 {
				at := p.lines.offset(p.Doc.Raw, n.Line, n.Column)
				return p.Doc.templateFinding(at, string(p.Doc.Raw[at:])), true
			}
		}
	}
	for _, c := range n.Content {
		if f, ok := p.templateNode(c, depth+1); ok {
			return f, true
		}
	}
	return policy.Finding{}, false
}

// templateScalar judges a plain scalar: an action in Helm's words, or a later line of it that starts with an action.
func (p *Parsed) templateScalar(n *yaml.Node) (policy.Finding, bool) {
	d := p.Doc
	start := p.lines.offset(d.Raw, n.Line, n.Column)
	end := p.plainEnd(start, n.Value)
	text := string(d.Raw[start:end])
	if helmAction(text) {
		i := strings.Index(text, "{{")
		return d.templateFinding(start+i, text[i:]), true
	}
	for i := nextLine(d.Raw, start); i < end; i = nextLine(d.Raw, i) {
		q := skipBlanks(d.Raw, i)
		if q+1 < end && d.Raw[q] == '{' && (d.Raw[q+1] == '{' || d.Raw[q+1] == '%') {
			return d.templateFinding(q, string(d.Raw[q:end])), true
		}
	}
	return policy.Finding{}, false
}
