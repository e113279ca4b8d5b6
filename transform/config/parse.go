package config

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// parse reads one document. It gives nil, without a finding, for a text that holds nothing (empty, comments only, null).
// A key that stands twice in a mapping is an error, at whatever depth.
func parse(t text) (*yaml.Node, *policy.Finding) {
	if !utf8.Valid(t.data) {
		return nil, encodingFinding(t)
	}
	if trimmed := bytes.TrimLeft(t.data, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		// Values come as JSON from every ConfigMap. What is no JSON after all may be a YAML flow mapping.
		if n, f, ok := parseJSON(t); ok {
			return n, f
		}
	}
	var doc yaml.Node
	fast := false
	if len(t.data) >= blocksFrom {
		doc, fast = parseBlocks(t.data)
	}
	if !fast {
		doc = yaml.Node{}
		if err := yaml.Unmarshal(t.data, &doc); err != nil {
			return nil, syntaxFinding(t, err)
		}
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil, nil
	}
	if f := checkKeys(t, root); f != nil {
		return nil, f
	}
	return root, nil
}

var yamlErrorLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^yaml: (?:unmarshal errors:\n\s+)?(?:line (\d+): )?(?s)(.*)$`)
})

// syntaxFinding rewrites an error of the YAML library in our words: its line moved to the file's, its prefix gone.
func syntaxFinding(t text, err error) *policy.Finding {
	line, message := 0, err.Error()
	if m := yamlErrorLine().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	hint := "Correct the YAML at or just above this line."
	if strings.Contains(message, "found character that cannot start any token") {
		hint = "Indent with spaces, and quote text that starts with @, ` or %."
	}
	// The library counts from 0 where the parser failed and not the scanner, and leaves the first line out altogether.
	for _, ofParser := range []string{"',' or ']'", "',' or '}'", "node content", "'-' indicator", "expected key", "<document start>"} {
		if line > 0 && strings.HasSuffix(message, ofParser) {
			line++
		}
	}
	// A lone CR and Unicode's line separators are line ends to the library, and to no editor.
	at := t.at(min(line, bytes.Count(t.data, []byte("\n"))+1), 0)
	return &policy.Finding{
		Code: CodeSyntax, Severity: policy.Error, Position: at, Document: t.document, Hint: hint,
		Message: t.name() + " is not valid YAML: " + message,
	}
}

// checkKeys refuses mappings with a key twice. The library takes the last of them silently.
func checkKeys(t text, n *yaml.Node) *policy.Finding {
	if n.Kind == yaml.MappingNode {
		// Small mappings, which nearly all are, are compared without a table.
		var seen map[string]int
		if len(n.Content) > 32 {
			seen = make(map[string]int, len(n.Content)/2)
		}
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
				continue
			}
			first := 0
			if seen != nil {
				first = seen[k.Value]
				seen[k.Value] = k.Line
			} else {
				for j := 0; j < i; j += 2 {
					if n.Content[j].Kind == yaml.ScalarNode && n.Content[j].Value == k.Value {
						first = n.Content[j].Line
						break
					}
				}
			}
			if first > 0 {
				return duplicateKey(t, k.Value, t.at(k.Line, k.Column), t.at(first, 0))
			}
		}
	}
	for _, c := range n.Content {
		if len(c.Content) > 0 {
			if f := checkKeys(t, c); f != nil {
				return f
			}
		}
	}
	return nil
}

func duplicateKey(t text, key string, at, first policy.Position) *policy.Finding {
	return &policy.Finding{
		Code: CodeSyntax, Severity: policy.Error, Position: at, Document: t.document, Field: key,
		Message: "the key \"" + key + "\" stands twice in this mapping; the first is on line " + strconv.Itoa(first.Line),
		Hint:    "Remove one of the two; which one counts differs between readers of YAML.",
	}
}

// lookup is the value of a key of a mapping node, following an alias; nil where it is absent.
func lookup(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return dealias(n.Content[i+1])
		}
	}
	return nil
}

func dealias(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// isNull says whether a node is absent or null.
func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// isString says whether a node is a scalar that YAML reads as text.
func isString(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str"
}
