package profile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	templates := func(more map[string]string) map[string]string {
		out := Templates()
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	standard := Injection{Policy: "enabled", DefaultTemplates: []string{"sidecar"}, Templates: Templates()}
	tests := []struct {
		name, values string
		want         Injection
		// fields are those of the findings.
		fields []string
	}{
		{name: "nothing", values: `{}`, want: standard},
		{name: "nulls", values: `{global: null, sidecarInjectorWebhook: {templates: null, neverInjectSelector: null}}`, want: standard},
		{
			name: "disabled", values: `{global: {proxy: {autoInject: disabled}}}`,
			want: Injection{Policy: "disabled", DefaultTemplates: []string{"sidecar"}, Templates: Templates()},
		},
		{
			name: "all", values: `{sidecarInjectorWebhook: {defaultTemplates: [sidecar, mine], templates: {mine: "a: b", gateway: "c: d"},
neverInjectSelector: [{matchLabels: {a: b}}], alwaysInjectSelector: [{matchExpressions: [{key: k, operator: Exists}]}],
injectedAnnotations: {text: x, number: 3, bool: true, none: null}}}`,
			want: Injection{
				Policy: "enabled", DefaultTemplates: []string{"sidecar", "mine"},
				Templates:           templates(map[string]string{"mine": "a: b", "gateway": "c: d"}),
				Never:               []any{tree{"matchLabels": tree{"a": "b"}}},
				Always:              []any{tree{"matchExpressions": []any{tree{"key": "k", "operator": "Exists"}}}},
				InjectedAnnotations: map[string]string{"text": "x", "number": "3", "bool": "true", "none": ""},
			},
		},
		{name: "policy of another word", values: `{global: {proxy: {autoInject: "on"}}}`, fields: []string{"global.proxy.autoInject"}},
		{name: "policy as a bool", values: `{global: {proxy: {autoInject: true}}}`, fields: []string{"global.proxy.autoInject"}},
		{name: "policy as a mapping", values: `{global: {proxy: {autoInject: {}}}}`, fields: []string{"global.proxy.autoInject"}},
		{name: "global is a list", values: `{global: []}`, fields: []string{"global"}},
		{
			name: "all wrong", values: `{sidecarInjectorWebhook: {defaultTemplates: [1, ""], templates: {b: 1, a: {}},
neverInjectSelector: {}, alwaysInjectSelector: x, injectedAnnotations: {a: [], b: ok}}}`,
			fields: []string{
				"sidecarInjectorWebhook.neverInjectSelector", "sidecarInjectorWebhook.alwaysInjectSelector",
				"sidecarInjectorWebhook.defaultTemplates[0]", "sidecarInjectorWebhook.defaultTemplates[1]",
				"sidecarInjectorWebhook.templates.a", "sidecarInjectorWebhook.templates.b",
				"sidecarInjectorWebhook.injectedAnnotations.a",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var values map[string]any
			decode(t, []byte(tt.values), &values)
			got, findings := Config(values)
			var fields []string
			for _, f := range findings {
				fields = append(fields, f.Field)
				if f.Severity != policy.Error || f.Code != Code || f.Hint == "" || !strings.HasPrefix(f.Message, f.Field) {
					t.Errorf("finding %+v", f)
				}
			}
			if diff := cmp.Diff(tt.fields, fields); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			if len(tt.fields) > 0 {
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestValues compares with the values that Istio's chart was run with, but for hub and tag.
func TestValues(t *testing.T) {
	t.Parallel()
	var want map[string]any
	decodeFile(t, shared(t, "_shared/values-ab5e46287c.json"), &want)
	global := want["global"].(map[string]any)
	global["hub"], global["tag"] = "registry.istio.io/release", "1.30.3"
	if diff := cmp.Diff(want, Values()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestValuesJSON(t *testing.T) {
	t.Parallel()
	var got map[string]any
	if err := json.Unmarshal(ValuesJSON(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Values(), got); diff != "" {
		t.Errorf("-literal +JSON:\n%s", diff)
	}
}

// TestValuesAreFresh changes a tree and asks for another.
func TestValuesAreFresh(t *testing.T) {
	t.Parallel()
	Values()["global"].(map[string]any)["proxy"].(map[string]any)["logLevel"] = "changed"
	Templates()[Sidecar] = ""
	if got := proxyValues()["logLevel"]; got != "warning" || Templates()[Sidecar] == "" {
		t.Errorf("a caller's change shows: %v", got)
	}
}

// TestText reads the dump again: the same config, with templates that are blocks a person can edit.
func TestText(t *testing.T) {
	t.Parallel()
	own := Injection{
		Policy: "disabled", DefaultTemplates: []string{"a", "b"}, Aliases: map[string][]string{"x": {"a"}},
		Templates: map[string]string{"a": "one: 1\n", "b": "no line end", "c": " leading\n\n\ttab \n", "d": ""},
		Never:     []any{tree{"matchLabels": tree{"a": "yes"}}}, Always: []any{tree{}},
		InjectedAnnotations: map[string]string{"k": "no"},
	}
	standard, _ := Config(Values())
	for _, want := range []Injection{own, standard} {
		var got struct {
			Policy               string
			DefaultTemplates     []string            `yaml:"defaultTemplates"`
			Templates            map[string]string   `yaml:"templates"`
			Aliases              map[string][]string `yaml:"aliases"`
			NeverInjectSelector  []any               `yaml:"neverInjectSelector"`
			AlwaysInjectSelector []any               `yaml:"alwaysInjectSelector"`
			InjectedAnnotations  map[string]string   `yaml:"injectedAnnotations"`
		}
		d := yaml.NewDecoder(strings.NewReader(string(want.Text())))
		d.KnownFields(true)
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		back := Injection{
			Policy: got.Policy, DefaultTemplates: got.DefaultTemplates, Templates: got.Templates, Aliases: got.Aliases,
			Never: got.NeverInjectSelector, Always: got.AlwaysInjectSelector, InjectedAnnotations: got.InjectedAnnotations,
		}
		want.Never, want.Always = orEmpty(want.Never), orEmpty(want.Always)
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	text := string(Text())
	for name := range Templates() {
		if !strings.Contains(text, "\n  "+name+": |\n") {
			t.Errorf("template %s is no block in the dump", name)
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.HasSuffix(line, " ") || strings.Contains(line, "\t") {
			t.Errorf("line %d of the dump has a space at its end or a tab", i+1)
		}
	}
}
