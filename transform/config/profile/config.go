package profile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kube-inject/inject/policy"
)

// Injection is an injection config made from values: what Istio's chart writes into the ConfigMap of the injector.
type Injection struct {
	// Policy is enabled or disabled.
	Policy string
	// DefaultTemplates run where a pod names none; never empty.
	DefaultTemplates []string
	// Templates are the built-in ones and those of the values; of two with one name the values' own counts.
	Templates map[string]string
	// Aliases stand for lists of templates; the chart writes none.
	Aliases map[string][]string
	// Never and Always are label selectors as the values hold them.
	Never, Always []any
	// InjectedAnnotations are put on the pod after everything else.
	InjectedAnnotations map[string]string
}

// Code is that of all findings of this package.
const Code = "E_CONFIG_VALUE"

// Config gives the injection config that goes with values (istio/istio, chart istio-discovery,
// templates/istiod-injector-configmap.yaml, 1.30). It reads global.proxy.autoInject and, of sidecarInjectorWebhook,
// defaultTemplates, templates, neverInjectSelector, alwaysInjectSelector and injectedAnnotations; what is missing is as in
// the default installation. Findings are errors, each with the path of its value as Field; with any the config is not to
// be used.
func Config(values map[string]any) (Injection, []policy.Finding) {
	c := Injection{Policy: "enabled", DefaultTemplates: []string{Sidecar}, Templates: Templates()}
	var r reader
	r.policy(r.mapping(r.mapping(values, "", "global"), "global", "proxy"), &c)
	const at = "sidecarInjectorWebhook"
	webhook := r.mapping(values, "", at)
	c.Never = r.list(webhook, at, "neverInjectSelector")
	c.Always = r.list(webhook, at, "alwaysInjectSelector")
	var names []string
	for i, v := range r.list(webhook, at, "defaultTemplates") {
		if name, ok := v.(string); ok && name != "" {
			names = append(names, name)
		} else {
			r.wrong(fmt.Sprintf("%s.defaultTemplates[%d]", at, i), v, "the name of a template")
		}
	}
	if len(names) > 0 {
		c.DefaultTemplates = names
	}
	templates := r.mapping(webhook, at, "templates")
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		if text, ok := templates[name].(string); ok {
			c.Templates[name] = text
		} else {
			r.wrong(at+".templates."+name, templates[name], "the text of a template")
		}
	}
	annotations := r.mapping(webhook, at, "injectedAnnotations")
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if c.InjectedAnnotations == nil {
			c.InjectedAnnotations = map[string]string{}
		}
		switch v := annotations[name].(type) {
		case map[string]any, []any:
			r.wrong(at+".injectedAnnotations."+name, v, "a text")
		case nil:
			c.InjectedAnnotations[name] = ""
		default:
			c.InjectedAnnotations[name] = fmt.Sprint(v)
		}
	}
	return c, r.findings
}

// reader takes values apart and collects what is wrong with them.
type reader struct{ findings []policy.Finding }

func (r *reader) wrong(field string, v any, needs string) {
	r.findings = append(r.findings, policy.Finding{
		Code: Code, Severity: policy.Error, Field: field,
		Message: fmt.Sprintf("%s is %s; it takes %s", field, describe(v), needs), Hint: "Write " + needs + ".",
	})
}

func (r *reader) policy(proxy map[string]any, c *Injection) {
	switch v := proxy["autoInject"]; v {
	case nil:
	case "enabled", "disabled":
		c.Policy, _ = v.(string)
	default:
		r.wrong("global.proxy.autoInject", v, "enabled (inject pods that say nothing) or disabled (leave them alone)")
	}
}

func (r *reader) mapping(in map[string]any, at, key string) map[string]any {
	m, ok := in[key].(map[string]any)
	if !ok && in[key] != nil {
		r.wrong(join(at, key), in[key], "a mapping")
	}
	return m
}

func (r *reader) list(in map[string]any, at, key string) []any {
	l, ok := in[key].([]any)
	if !ok && in[key] != nil {
		r.wrong(join(at, key), in[key], "a list")
	}
	return l
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	default:
		return fmt.Sprint(v)
	}
}
