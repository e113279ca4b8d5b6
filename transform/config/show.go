package config

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Show prints the effective parts as YAML that this program and istioctl read again to the same effect. Behind each value
// stands a comment with the file and line it was written at, or "default".
func Show(b *Bundle) (injection, values, mesh []byte) {
	return printDocument(injectionNode(b.Injection, true)), printDocument(valuesNode(b.Values, true)), printDocument(meshNode(b.Mesh, true))
}

func printDocument(n *yaml.Node) []byte {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	// Nodes built here always encode; the encoder's errors are those of its writer.
	if err := enc.Encode(n); err != nil {
		panic("a document built from plain data does not encode: " + err.Error())
	}
	_ = enc.Close()
	return out.Bytes()
}

// comment is how a place is printed behind a value.
func comment(at policy.Position) string {
	at.Column = 0
	if s := at.String(); s != "" {
		return "# " + strings.ReplaceAll(s, "\n", " ")
	}
	return ""
}

func mappingNode() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func put(m *yaml.Node, key string, v *yaml.Node) { m.Content = append(m.Content, textNode(key), v) }

var plainText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_./][-A-Za-z0-9_./]*$`)
})

// textNode prints a text so that every reader of YAML takes it for one, whatever version it follows.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	if _, old := oldBool(s); plainText().MatchString(s) && !old {
		plain := yaml.Node{Kind: yaml.ScalarNode, Value: s}
		if plain.ShortTag() == "!!str" {
			n.Style = 0
		}
	}
	return n
}

// dataNode prints plain data; at gives the comment of a leaf, nil for none.
func dataNode(v any, path []string, at func(path []string) string) *yaml.Node {
	var n *yaml.Node
	switch v := v.(type) {
	case map[string]any:
		n = mappingNode()
		for _, k := range sortedKeys(v) {
			put(n, k, dataNode(v[k], append(path[:len(path):len(path)], k), at))
		}
		if len(v) > 0 {
			return n
		}
		n.Style = yaml.FlowStyle
	case []any:
		n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i, x := range v {
			n.Content = append(n.Content, dataNode(x, append(path[:len(path):len(path)], strconv.Itoa(i)), at))
		}
		if len(v) > 0 {
			return n
		}
		n.Style = yaml.FlowStyle
	case string:
		n = textNode(v)
	case bool:
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case float64:
		n = &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v, 'f', -1, 64)}
	default:
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	if at != nil {
		n.LineComment = at(path)
	}
	return n
}

func valuesNode(v *Values, comments bool) *yaml.Node {
	if !comments {
		return dataNode(v.Tree, nil, nil)
	}
	return dataNode(v.Tree, nil, func(path []string) string { return comment(v.tree.place(path)) })
}

func injectionNode(c *Injection, comments bool) *yaml.Node {
	n := mappingNode()
	add := func(key string, v any) {
		dn := dataNode(v, nil, nil)
		if at, ok := c.Places[key]; comments && dn.Kind == yaml.ScalarNode {
			dn.LineComment = "# default"
			if ok {
				dn.LineComment = comment(at)
			}
		}
		put(n, key, dn)
		if k := n.Content[len(n.Content)-2]; comments && dn.Kind != yaml.ScalarNode {
			if at, ok := c.Places[key]; ok {
				k.HeadComment = comment(at)
			} else {
				k.HeadComment = "# default"
			}
		}
	}
	add("policy", c.Policy)
	add("defaultTemplates", stringsData(c.DefaultTemplates))
	if len(c.Aliases) > 0 {
		aliases := map[string]any{}
		for k, v := range c.Aliases {
			aliases[k] = stringsData(v)
		}
		add("aliases", aliases)
	}
	add("neverInjectSelector", selectorsData(c.Never))
	add("alwaysInjectSelector", selectorsData(c.Always))
	annotations := map[string]any{}
	for k, v := range c.InjectedAnnotations {
		annotations[k] = v
	}
	add("injectedAnnotations", annotations)
	if c.Legacy != nil {
		put(n, "template", templateNode(*c.Legacy))
		if comments {
			n.Content[len(n.Content)-2].HeadComment = comment(c.Legacy.Source)
		}
		return n
	}
	templates := mappingNode()
	put(n, "templates", templates)
	for _, name := range c.TemplateNames {
		put(templates, name, templateNode(c.Templates[name]))
		if comments {
			templates.Content[len(templates.Content)-2].HeadComment = comment(c.Templates[name].Source)
		}
	}
	return n
}

// templateNode prints a template as a literal block, which keeps its lines; the encoder quotes what no block can hold.
func templateNode(t TemplateText) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t.Text, Style: yaml.LiteralStyle}
}

func stringsData(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func selectorsData(list []Selector) []any {
	out := make([]any, len(list))
	for i, s := range list {
		text, err := json.Marshal(s.Label)
		if err != nil {
			panic("a label selector does not encode: " + err.Error())
		}
		var data map[string]any
		if err := json.Unmarshal(text, &data); err != nil {
			panic("a label selector does not decode: " + err.Error())
		}
		out[i] = data
	}
	return out
}

// meshNode prints the effective mesh config. What is zero where the default is not must be printed: JSON of protobuf
// leaves zeros out, and reading it again would bring the default back.
func meshNode(m *Mesh, comments bool) *yaml.Node {
	data := messageData(m.Config)
	defaults := DefaultMeshConfig(m.engine)
	addZeros(data, defaults.ProtoReflect(), m.Config.ProtoReflect())
	if proxy, ok := data["defaultConfig"].(map[string]any); ok {
		addZeros(proxy, defaults.DefaultConfig.ProtoReflect(), m.Config.DefaultConfig.ProtoReflect())
	}
	for _, path := range sortedKeys(m.Unknown) {
		if inner, ok := strings.CutPrefix(path, "defaultConfig."); ok {
			if proxy, isMap := data["defaultConfig"].(map[string]any); isMap && !strings.ContainsAny(inner, ".[") {
				proxy[inner] = m.Unknown[path]
			}
		} else if !strings.ContainsAny(path, ".[") {
			data[path] = m.Unknown[path]
		}
	}
	if !comments {
		return dataNode(data, nil, nil)
	}
	return dataNode(data, nil, func(path []string) string {
		if at, ok := m.effectiveOrigin(path, data); ok {
			return comment(at)
		}
		return "# default"
	})
}

// effectiveOrigin is where a value of the effective mesh config was written; ok is false for a default. Below a field that
// is replaced whole everything is the file's; below one that merges only what the file has itself.
func (m *Mesh) effectiveOrigin(path []string, data map[string]any) (at policy.Position, ok bool) {
	if m.tree == nil {
		return policy.Position{}, false
	}
	if path = m.filePath(path, data); path == nil {
		return policy.Position{}, false
	}
	for n := len(path); n > 0; n-- {
		if at, ok := m.tree.places[joinPath(path[:n])]; ok {
			return at, true
		}
		switch strings.Join(path[:n-1], ".") {
		case "defaultConfig", "defaultConfig.proxyMetadata", "defaultConfig.proxyHeaders", "defaultProviders", "extensionProviders":
			return policy.Position{}, false
		}
	}
	return policy.Position{}, false
}

// filePath translates a path into a merged list to that of the file's own list, by name; nil where the file has no such item.
func (m *Mesh) filePath(path []string, data map[string]any) []string {
	if len(path) < 2 || path[0] != "extensionProviders" && path[0] != "trustDomainAliases" {
		return path
	}
	own, _ := m.tree.root[path[0]].([]any)
	all, _ := data[path[0]].([]any)
	i, err := strconv.Atoi(path[1])
	if err != nil || i >= len(all) {
		return nil
	}
	for j, item := range own {
		if listName(item) == listName(all[i]) {
			return append([]string{path[0], strconv.Itoa(j)}, path[2:]...)
		}
	}
	return nil
}

// listName is what the items of a merged list are told apart by.
func listName(item any) any {
	if m, ok := item.(map[string]any); ok {
		return m["name"]
	}
	return item
}

// messageData is a message as the data that its JSON has.
func messageData(m json.Marshaler) map[string]any {
	text, err := m.MarshalJSON()
	if err != nil {
		panic("a mesh config that was read does not print: " + err.Error())
	}
	var data map[string]any
	if err := json.Unmarshal(text, &data); err != nil {
		panic("a printed mesh config is no JSON: " + err.Error())
	}
	return data
}

func addZeros(data map[string]any, defaults, effective protoreflect.Message) {
	defaults.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if effective.Has(fd) {
			return true
		}
		var zero any
		switch {
		case fd.IsList():
			zero = []any{}
		case fd.IsMap():
			zero = map[string]any{}
		case fd.Kind() == protoreflect.BoolKind:
			zero = false
		case fd.Kind() == protoreflect.StringKind:
			zero = ""
		case fd.Kind() == protoreflect.EnumKind:
			zero = string(fd.Enum().Values().ByNumber(0).Name())
		case fd.Message() == nil:
			zero = float64(0)
		default:
			// A message cannot be taken away by a file, so none is missing.
			return true
		}
		data[fd.JSONName()] = zero
		return true
	})
}
