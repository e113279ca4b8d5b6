package transform

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// resultNodes makes the results of a ResourceList of findings (kubernetes-sigs/kustomize, kyaml/fn/framework/result.go,
// 5.8, has the same fields).
func resultNodes(fs []policy.Finding) *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range fs {
		out.Content = append(out.Content, resultNode(&fs[i]))
	}
	return out
}

func resultNode(f *policy.Finding) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	put(n, "message", textNode(ResultMessage(*f)))
	put(n, "severity", textNode(f.Severity.String()))
	if ref := resourceRef(f.Resource); len(ref.Content) > 0 {
		put(n, "resourceRef", ref)
	}
	if path := fieldPath(f); path != "" {
		field := &yaml.Node{Kind: yaml.MappingNode}
		put(field, "path", textNode(path))
		put(n, "field", field)
	}
	if f.Position.File != "" {
		put(n, "file", fileNode(f))
	}
	if f.Code != "" {
		tags := &yaml.Node{Kind: yaml.MappingNode}
		put(tags, "rule", textNode(f.Code))
		put(n, "tags", tags)
	}
	return n
}

// ResultMessage is a finding's message with its hint: results and the lines that kustomize shows have no place of their
// own for the hint.
func ResultMessage(f policy.Finding) string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

func resourceRef(r policy.Resource) *yaml.Node {
	ref := &yaml.Node{Kind: yaml.MappingNode}
	name := r.Name
	if name == "" && r.GenerateName != "" {
		name = r.GenerateName + "*"
	}
	for _, kv := range [][2]string{{"apiVersion", r.APIVersion}, {"kind", r.Kind}, {"namespace", r.Namespace}, {"name", name}} {
		if kv[1] != "" {
			put(ref, kv[0], textNode(kv[1]))
		}
	}
	return ref
}

// fieldPath is the field from the item on; an object inside a list item has its path in front.
func fieldPath(f *policy.Finding) string { return joinField(f.Resource.Item, f.Field) }

func fileNode(f *policy.Finding) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	put(n, "path", textNode(f.Position.File))
	if f.Document > 1 {
		put(n, "index", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(f.Document - 1)})
	}
	return n
}

func put(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, textNode(key), value)
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// resultsOnly is the answer to a list that cannot be read: an orchestrator takes no items from a function that fails,
// but shows its results.
func resultsOnly(fs []policy.Finding) []byte {
	root := &yaml.Node{Kind: yaml.MappingNode}
	put(root, "apiVersion", textNode(resourceListGroup+"v1"))
	put(root, "kind", textNode(resourceListKind))
	put(root, "items", &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle})
	put(root, "results", resultNodes(fs))
	text, err := yaml.Marshal(root)
	if err != nil {
		panic("a list made of texts cannot be printed: " + err.Error())
	}
	return text
}
