package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func injectionOf(t *testing.T, in string) (*Injection, problems) {
	t.Helper()
	var p problems
	f := scan(Source{"c", []byte(in)}).find(partInjection, "", &p)
	if f == nil {
		t.Fatal(p)
	}
	return readInjection(f, &p), p
}

func TestInjection(t *testing.T) {
	t.Parallel()
	c, p := injectionOf(t, `
policy: disabled
defaultTemplates: [a, " b "]
aliases: {both: [a, b]}
neverInjectSelector:
- matchLabels: {app: web}
  matchExpressions:
  - {key: tier, operator: In, values: [x, ""]}
- {}
alwaysInjectSelector:
- matchExpressions: [{key: z, operator: Exists}]
injectedAnnotations: {k: v}
template: "{{ Mismatched }}"
templates:
  b: "one line"
  a: |2-

      x: {{ .Values.global.x }}
    y: 1
`)
	if len(p) > 0 {
		t.Fatal(p)
	}
	if c.Policy != PolicyDisabled || c.Legacy != nil || c.Bare {
		t.Errorf("got %+v", c)
	}
	for name, d := range map[string]string{
		"default templates": cmp.Diff([]string{"a", "b"}, c.DefaultTemplates),
		"names":             cmp.Diff([]string{"a", "b"}, c.TemplateNames),
		"aliases":           cmp.Diff(map[string][]string{"both": {"a", "b"}}, c.Aliases),
		"annotations":       cmp.Diff(map[string]string{"k": "v"}, c.InjectedAnnotations),
		"text":              cmp.Diff("\n  x: {{ .Values.global.x }}\ny: 1", c.Templates["a"].Text),
	} {
		if d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	for text, want := range map[string]string{
		c.Templates["a"].At(2, 3).String(): "c:18:7", c.Templates["a"].Source.String(): "c:17:5",
		c.Templates["b"].At(1, 1).String(): "c:15:7", c.Never[1].Position.String(): "c:9:3", c.Places["policy"].String(): "c:2:1",
	} {
		if text != want {
			t.Errorf("place %s, want %s", text, want)
		}
	}
	for i, want := range []struct {
		labels map[string]string
		match  bool
	}{{map[string]string{"app": "web", "tier": ""}, true}, {map[string]string{"app": "web"}, false}, {nil, false}} {
		if got := c.Never[0].Matches(want.labels); got != want.match {
			t.Errorf("%d: never matches %v", i, got)
		}
		if c.Never[1].Matches(want.labels) {
			t.Errorf("%d: the empty selector matches", i)
		}
	}
	if c.Never[0].Text != "app=web,tier in (,x)" || !c.Always[0].Matches(map[string]string{"z": ""}) {
		t.Errorf("selectors %q %q", c.Never[0].Text, c.Always[0].Text)
	}
}

func TestInjectionDefaults(t *testing.T) {
	t.Parallel()
	c, p := injectionOf(t, "templates: {sidecar: x}\ndefaultTemplates: []\npolicy:\nneverInjectSelector:\n")
	if len(p) > 0 || c.Policy != PolicyEnabled || c.DefaultTemplates[0] != "sidecar" {
		t.Errorf("got %+v %v", c, p)
	}
	c, p = injectionOf(t, "policy: enabled\ntemplate: |\n  containers: []\ntemplates: {}\n")
	if len(p) > 0 || c.Legacy == nil || c.Legacy.Text != "containers: []\n" || c.Legacy.Source.String() != "c:3:3" {
		t.Errorf("got %+v %v", c, p)
	}
}

func TestInjectionProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"policy":             {"templates: {a: b}\npolicy: Enabled\n", "c:2:9: error: policy: the text \"Enabled\" where enabled or disabled is needed [E_CONFIG_VALUE]"},
		"policy of a bool":   {"templates: {a: b}\npolicy: true\n", "c:2:9: error: policy: the boolean true where enabled or disabled is needed [E_CONFIG_VALUE]"},
		"no template":        {"policy: enabled\n", "c:1:1: error: templates: the injection config has no template: nothing could be injected with it [E_CONFIG_MISSING]"},
		"empty templates":    {"templates: {}\n", "c:1:1: error: templates: the injection config has no template: nothing could be injected with it [E_CONFIG_MISSING]"},
		"templates, a text":  {"templates: x\n", "c:1:12: error: templates: the text \"x\" where a mapping by name is needed [E_CONFIG_VALUE]"},
		"template, a map":    {"templates: {a: {b: c}}\n", "c:1:16: error: templates.a: a mapping where a text (quote it) is needed [E_CONFIG_VALUE]"},
		"default templates":  {"templates: {a: b}\ndefaultTemplates: sidecar\n", "c:2:19: error: defaultTemplates: the text \"sidecar\" where a list of template names is needed [E_CONFIG_VALUE]"},
		"annotation":         {"templates: {a: b}\ninjectedAnnotations: {x: 1}\n", "c:2:26: error: injectedAnnotations.x: the number 1 where a text (quote it) is needed [E_CONFIG_VALUE]"},
		"unknown":            {"templates: {a: b}\nneverInjectSelectors: []\n", "c:2:1: warning: neverInjectSelectors: there is no such field in an injection config [W_CONFIG_UNKNOWN]"},
		"selector operator":  {"templates: {a: b}\nneverInjectSelector:\n- matchExpressions: [{key: a, operator: Is}]\n", "c:3:3: error: neverInjectSelector: the label selector is invalid: \"Is\" is not a valid label selector operator [E_CONFIG_VALUE]"},
		"selector field":     {"templates: {a: b}\nneverInjectSelector:\n- matchLabel: {a: b}\n", "c:3:15: error: neverInjectSelector.matchLabel: there is no such field in a label selector [E_CONFIG_VALUE]"},
		"selector value":     {"templates: {a: b}\nneverInjectSelector:\n- matchLabels: {a: true}\n", "c:3:20: error: neverInjectSelector.matchLabels.a: the boolean true where a text (quote it) is needed [E_CONFIG_VALUE]"},
		"selectors, no list": {"templates: {a: b}\nalwaysInjectSelector: {}\n", "c:2:23: error: alwaysInjectSelector: a mapping where a list of label selectors is needed [E_CONFIG_VALUE]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p := injectionOf(t, c.in)
			if len(p) != 1 || p[0].Error() != c.want {
				t.Errorf("got  %v\nwant %s", p, c.want)
			}
		})
	}
}
