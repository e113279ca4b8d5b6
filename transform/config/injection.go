package config

import (
	"strings"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// The two words of an injection config's policy (Istio, pkg/kube/inject/inject.go, 1.30).
const (
	PolicyEnabled  = "enabled"
	PolicyDisabled = "disabled"
)

// Injection is an injection config: which pods are injected, and the templates that do it.
type Injection struct {
	// Policy is what happens to a pod that says nothing: PolicyEnabled or PolicyDisabled.
	Policy string
	// DefaultTemplates run where the pod names none; never empty for a modern config.
	DefaultTemplates []string
	// Templates by name, and their names in order. Both are empty for a config of the legacy format.
	Templates     map[string]TemplateText
	TemplateNames []string
	// Aliases stand for lists of template names; they are expanded once.
	Aliases map[string][]string
	// Never and Always are ORed label selectors; Never is asked first.
	Never, Always []Selector
	// InjectedAnnotations are put on the pod after everything else.
	InjectedAnnotations map[string]string
	// Legacy is the one template of the format of Istio 1.6 and 1.7; nil for a modern config. A config with both carries
	// a template that fails on purpose in old injectors, so templates win.
	Legacy *TemplateText
	// Bare is set where the file was the text of one template.
	Bare bool
	// Source is the file, and the place in it where the config begins.
	Source policy.Position
	// Places says where each top-level field was written.
	Places map[string]policy.Position
	// Revision is the one of the ConfigMap the config came from; empty for a plain file and the default revision.
	Revision string
}

// TemplateText is a template with its way back to the file.
type TemplateText struct {
	Text string
	// Source is the first line of the text in the file.
	Source policy.Position
	text   text
}

// At translates a line and column inside the template (both counted from 1, column 0 for unknown) into a place in the
// file. Where the template is a quoted scalar its lines are no lines of the file, and the scalar's place is given.
func (t TemplateText) At(line, column int) policy.Position { return t.text.at(line, column) }

// HasLines says whether the template's lines are lines of the file. Where they are not, a message should name the line of
// the template as well.
func (t TemplateText) HasLines() bool { return t.text.fixed == nil }

// injectionFields are the keys of a config; others are reported.
func injectionFields() []string {
	return []string{
		"policy", "defaultTemplates", "templates", "aliases", "neverInjectSelector", "alwaysInjectSelector",
		"injectedAnnotations", "template",
	}
}

// readInjection reads the part found. It reports all that is wrong and gives nil where nothing can be injected with it.
func readInjection(f *found, p *problems) *Injection {
	c := &Injection{Policy: PolicyEnabled, Source: f.text.start(), Places: map[string]policy.Position{}, Revision: f.revision}
	if f.bare {
		c.Bare = true
		c.DefaultTemplates = []string{"sidecar"}
		c.TemplateNames = []string{"sidecar"}
		c.Templates = map[string]TemplateText{"sidecar": {Text: string(f.text.data), Source: f.text.start(), text: f.text}}
		return c
	}
	r := injectionReader{text: f.text, config: c, problems: p}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		k, v := f.node.Content[i], dealias(f.node.Content[i+1])
		c.Places[k.Value] = f.text.at(k.Line, k.Column)
		if isNull(v) {
			continue
		}
		r.field(k, v)
	}
	if len(c.Templates) > 0 {
		c.Legacy = nil
	}
	if len(c.DefaultTemplates) == 0 {
		c.DefaultTemplates = []string{"sidecar"}
	}
	if len(c.Templates) == 0 && c.Legacy == nil && !p.failed() {
		p.errorf(CodeMissing, f.text.start(), "templates", "Add templates, or take the whole data.config of the ConfigMap istio-sidecar-injector.",
			"the injection config has no template: nothing could be injected with it")
	}
	if p.failed() {
		return nil
	}
	return c
}

type injectionReader struct {
	text     text
	config   *Injection
	problems *problems
}

func (r *injectionReader) field(k, v *yaml.Node) {
	c := r.config
	switch k.Value {
	case "policy":
		r.policy(v)
	case "defaultTemplates":
		c.DefaultTemplates = r.names(v, "defaultTemplates")
	case "templates":
		c.Templates = map[string]TemplateText{}
		r.each(v, "templates", func(name string, t *yaml.Node, field string) {
			if s, ok := r.str(t, field); ok {
				in := r.text.inner(t, field)
				c.Templates[name] = TemplateText{Text: s, Source: in.start(), text: in}
			}
		})
		c.TemplateNames = sortedKeys(c.Templates)
	case "aliases":
		c.Aliases = map[string][]string{}
		r.each(v, "aliases", func(name string, t *yaml.Node, field string) { c.Aliases[name] = r.names(t, field) })
	case "neverInjectSelector":
		c.Never = r.selectors(v, k.Value)
	case "alwaysInjectSelector":
		c.Always = r.selectors(v, k.Value)
	case "injectedAnnotations":
		c.InjectedAnnotations = map[string]string{}
		r.each(v, k.Value, func(name string, t *yaml.Node, field string) {
			if s, ok := r.str(t, field); ok {
				c.InjectedAnnotations[name] = s
			}
		})
	case "template":
		if s, ok := r.str(v, "template"); ok && s != "" {
			in := r.text.inner(v, "template")
			c.Legacy = &TemplateText{Text: s, Source: in.start(), text: in}
		}
	default:
		hint := "It is left out; remove it."
		if near := nearest(k.Value, injectionFields()); near != "" {
			hint = "Did you mean " + near + "?"
		}
		r.problems.warnf(CodeUnknown, r.text.at(k.Line, k.Column), k.Value, hint, "there is no such field in an injection config")
	}
}

func (r *injectionReader) policy(v *yaml.Node) {
	if v.Kind == yaml.ScalarNode && (v.Value == PolicyEnabled || v.Value == PolicyDisabled) {
		r.config.Policy = v.Value
		return
	}
	r.problems.errorf(CodeValue, r.at(v), "policy", "Write enabled (inject pods that say nothing) or disabled (leave them alone).",
		"%s where enabled or disabled is needed", describe(v))
}

func (r *injectionReader) at(n *yaml.Node) policy.Position { return r.text.at(n.Line, n.Column) }

func (r *injectionReader) wrong(n *yaml.Node, field, needs string) {
	r.problems.errorf(CodeValue, r.at(n), field, "Write "+needs+".", "%s where %s is needed", describe(n), needs)
}

// str reads a text. Numbers and booleans are refused, as Istio's JSON decoding does.
func (r *injectionReader) str(n *yaml.Node, field string) (string, bool) {
	if isNull(n) {
		return "", true
	}
	if !isString(n) {
		r.wrong(n, field, "a text (quote it)")
		return "", false
	}
	return n.Value, true
}

// names reads a list of names.
func (r *injectionReader) names(n *yaml.Node, field string) []string {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, field, "a list of template names")
		return nil
	}
	var out []string
	for _, c := range n.Content {
		if c = dealias(c); !isString(c) || strings.TrimSpace(c.Value) == "" {
			r.wrong(c, field, "template names")
			continue
		}
		out = append(out, strings.TrimSpace(c.Value))
	}
	return out
}

// each walks a mapping.
func (r *injectionReader) each(n *yaml.Node, field string, visit func(name string, v *yaml.Node, field string)) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, field, "a mapping by name")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		visit(n.Content[i].Value, dealias(n.Content[i+1]), fieldBelow(field, n.Content[i].Value))
	}
}
