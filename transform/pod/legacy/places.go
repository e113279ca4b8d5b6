package legacy

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// places finds where a field stands in a YAML text.
type places struct{ root *yaml.Node }

func newPlaces(text []byte) places {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return places{}
	}
	return places{doc.Content[0]}
}

// of gives the place of the key that ends path, or of as much of path as there is; the first line where there is none.
func (p places) of(path []string) policy.Position {
	pos := policy.Position{Line: 1}
	node := p.root
	for _, step := range path {
		key, value := child(node, step)
		if key == nil {
			break
		}
		pos = policy.Position{Line: key.Line, Column: key.Column}
		node = value
	}
	return pos
}

// child gives the key and the value under step; of a list, the item for both.
func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil {
		return nil, nil
	}
	if node.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
		return nil, nil
	}
	// The last of several equal keys is the one that counts.
	for i := len(node.Content) - 2; i >= 0 && node.Kind == yaml.MappingNode; i -= 2 {
		if node.Content[i].Value == step {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// yamlLine gives the line that an error of the YAML library names, 0 if it names none, and its text without it.
func yamlLine(err error) (int, string) {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	m := regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`).FindStringSubmatch(text)
	if m == nil {
		return 0, oneLine(text)
	}
	line, _ := strconv.Atoi(m[1])
	return line, oneLine(m[2])
}

// yamlFinding is the error of a text that is no YAML, or no mapping.
func yamlFinding(code, what string, err error) policy.Finding {
	line, text := yamlLine(err)
	return policy.Finding{
		Code: code, Severity: policy.Error, Position: policy.Position{Line: max(line, 1)},
		Message: what + " cannot be read: " + text,
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
