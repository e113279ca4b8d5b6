package config

import (
	"strings"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Selector is one label selector of an injection config.
type Selector struct {
	Label metav1.LabelSelector
	// Selector is Label compiled. An empty label selector matches nothing here, where Kubernetes would match everything
	// (Istio, pkg/kube/inject/inject.go, injectRequired, 1.30).
	Selector labels.Selector
	Position policy.Position
	// Text is the selector as kubectl prints it, such as "app=web,tier in (a,b)".
	Text string
}

// Matches says whether a pod's labels are selected.
func (s Selector) Matches(podLabels map[string]string) bool {
	return s.Selector.Matches(labels.Set(podLabels))
}

// selectors reads a list of label selectors. An invalid one is an error: Istio only logs it and goes on without.
func (r *injectionReader) selectors(n *yaml.Node, field string) []Selector {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, field, "a list of label selectors")
		return nil
	}
	var out []Selector
	for _, c := range n.Content {
		if s, ok := r.selector(dealias(c), field); ok {
			out = append(out, s)
		}
	}
	return out
}

func (r *injectionReader) selector(n *yaml.Node, field string) (Selector, bool) {
	s := Selector{Position: r.at(n)}
	before := len(*r.problems)
	if isNull(n) {
		s.Selector = labels.Nothing()
		return s, true
	}
	r.each(n, field, func(name string, v *yaml.Node, f string) {
		switch {
		case isNull(v):
		case name == "matchLabels":
			s.Label.MatchLabels = map[string]string{}
			r.each(v, f, func(k string, v *yaml.Node, f string) {
				if text, ok := r.str(v, f); ok {
					s.Label.MatchLabels[k] = text
				}
			})
		case name == "matchExpressions":
			s.Label.MatchExpressions = r.expressions(v, f)
		default:
			r.problems.errorf(CodeValue, r.at(v), f, "A selector takes matchLabels and matchExpressions.", "there is no such field in a label selector")
		}
	})
	if len(*r.problems) > before {
		return s, false
	}
	compiled, err := metav1.LabelSelectorAsSelector(&s.Label)
	if err != nil {
		r.problems.errorf(CodeValue, s.Position, field, "Correct the selector; Istio would leave it out without a word.",
			"the label selector is invalid: %s", strings.ReplaceAll(err.Error(), "\n", " "))
		return s, false
	}
	s.Selector, s.Text = compiled, compiled.String()
	if compiled.Empty() {
		s.Selector = labels.Nothing()
	}
	return s, true
}

func (r *injectionReader) expressions(n *yaml.Node, field string) []metav1.LabelSelectorRequirement {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, field, "a list of key, operator and values")
		return nil
	}
	var out []metav1.LabelSelectorRequirement
	for _, c := range n.Content {
		var e metav1.LabelSelectorRequirement
		r.each(dealias(c), field, func(name string, v *yaml.Node, f string) {
			switch name {
			case "key":
				e.Key, _ = r.str(v, f)
			case "operator":
				op, _ := r.str(v, f)
				e.Operator = metav1.LabelSelectorOperator(op)
			case "values":
				e.Values = r.values(v, f)
			default:
				r.problems.errorf(CodeValue, r.at(v), f, "An expression takes key, operator and values.", "there is no such field in an expression of a label selector")
			}
		})
		out = append(out, e)
	}
	return out
}

// values reads the texts of an expression, which may be empty ones.
func (r *injectionReader) values(n *yaml.Node, field string) []string {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, field, "a list of texts")
		return nil
	}
	var out []string
	for _, c := range n.Content {
		if s, ok := r.str(dealias(c), field); ok {
			out = append(out, s)
		}
	}
	return out
}
