package profile

import (
	"bytes"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Text gives the injection config of the default installation as a file: YAML for --inject-config-file, each template as
// a block that a person can read and edit.
func Text() []byte {
	c, _ := Config(nil)
	return c.Text()
}

// Text gives the config as a file, as the function of that name does.
func (c Injection) Text() []byte {
	doc := &yaml.Node{Kind: yaml.MappingNode, HeadComment: "The injection config that is built in, as of Istio " + IstioVersion +
		".\nEach template renders the metadata and spec of a Pod, which are laid over the pod. Templates are Go templates;" +
		"\nblocks that begin with define are parts that the text at the end puts together."}
	add := func(key string, v any) {
		n := &yaml.Node{}
		if err := n.Encode(v); err != nil {
			panic("the injection config is no YAML: " + err.Error())
		}
		doc.Content = append(doc.Content, scalar(key), n)
	}
	add("policy", c.Policy)
	add("defaultTemplates", c.DefaultTemplates)
	if len(c.Aliases) > 0 {
		add("aliases", c.Aliases)
	}
	add("neverInjectSelector", orEmpty(c.Never))
	add("alwaysInjectSelector", orEmpty(c.Always))
	if len(c.InjectedAnnotations) > 0 {
		add("injectedAnnotations", c.InjectedAnnotations)
	}
	templates := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(c.Templates)) {
		text := scalar(c.Templates[name])
		text.Style = yaml.LiteralStyle
		templates.Content = append(templates.Content, scalar(name), text)
	}
	doc.Content = append(doc.Content, scalar("templates"), templates)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		panic("the injection config is no YAML: " + err.Error())
	}
	return out.Bytes()
}

func scalar(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func orEmpty(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}
