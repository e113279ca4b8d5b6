package transform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/config/profile"
)

// Embedded gives the built-in profile as config.Load takes it.
func Embedded() config.Embedded {
	return config.Embedded{
		Injection:    config.Source{Name: "embedded profile/config.yaml", Data: profile.Text()},
		Values:       config.Source{Name: "embedded profile/values.json", Data: profile.ValuesJSON()},
		IstioVersion: profile.IstioVersion,
	}
}

// applyValues sets what Istio's chart writes into the injection config from the values, where the embedded templates
// run: policy, templates, selectors and annotations.
func applyValues(b *config.Bundle) []policy.Finding {
	c, fs := profile.Config(b.Values.Tree)
	if policy.HasErrors(fs) {
		return fs
	}
	inj := b.Injection
	inj.Policy, inj.DefaultTemplates, inj.Aliases = c.Policy, c.DefaultTemplates, c.Aliases
	inj.InjectedAnnotations = c.InjectedAnnotations
	for name, text := range c.Templates {
		if t, ok := inj.Templates[name]; !ok || t.Text != text {
			at := b.Values.Origin("sidecarInjectorWebhook", "templates", name)
			inj.Templates[name] = config.TemplateText{Text: text, Source: at}
		}
	}
	inj.TemplateNames = slices.Sorted(maps.Keys(inj.Templates))
	var more []policy.Finding
	inj.Never, more = selectors(b, c.Never, "neverInjectSelector")
	fs = append(fs, more...)
	inj.Always, more = selectors(b, c.Always, "alwaysInjectSelector")
	return append(fs, more...)
}

// selectors compiles the label selectors of the values.
func selectors(b *config.Bundle, list []any, key string) ([]config.Selector, []policy.Finding) {
	var out []config.Selector
	var fs []policy.Finding
	for i, v := range list {
		var s config.Selector
		s.Position = b.Values.Origin("sidecarInjectorWebhook", key, fmt.Sprint(i))
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &s.Label)
		}
		if err == nil {
			s.Selector, err = compileSelector(&s.Label)
		}
		if err != nil {
			fs = append(fs, policy.Finding{
				Code: profile.Code, Severity: policy.Error, Position: s.Position,
				Field:   fmt.Sprintf("sidecarInjectorWebhook.%s[%d]", key, i),
				Message: "this is no label selector: " + err.Error(), Hint: "write matchLabels or matchExpressions",
			})
			continue
		}
		s.Text = s.Selector.String()
		out = append(out, s)
	}
	return out, fs
}

// compileSelector makes a selector; an empty one matches nothing here.
func compileSelector(s *metav1.LabelSelector) (labels.Selector, error) {
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return labels.Nothing(), nil
	}
	return metav1.LabelSelectorAsSelector(s)
}
