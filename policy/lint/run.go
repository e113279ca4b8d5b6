package lint

import (
	"slices"

	"github.com/kube-inject/inject/policy"
)

// Workload asks the rules about one pod template and gives what they found, unsorted.
func Workload(rules []Rule, f *Facts) []policy.Finding {
	refused, injected := f.refused(), f.Decision.Inject || f.AlreadyInjected()
	var out []policy.Finding
	for i := range rules {
		r := &rules[i]
		if r.check == nil || r.Scope == Injected && !injected || r.Scope == NotRefused && refused {
			continue
		}
		report := Report{rule: r, locator: &f.Locator, resource: f.Resource, document: f.Document}
		r.check(f, &report)
		out = report.append(out)
	}
	return out
}

// InNamespace asks the rules about a Namespace object and gives what they found, unsorted.
func InNamespace(rules []Rule, n *Namespace) []policy.Finding {
	var out []policy.Finding
	for i := range rules {
		r := &rules[i]
		if r.namespace == nil {
			continue
		}
		report := Report{rule: r, locator: &n.Locator, resource: n.Resource, document: n.Document}
		r.namespace(n, &report)
		out = report.append(out)
	}
	return out
}

func (r *Report) append(out []policy.Finding) []policy.Finding {
	for _, d := range r.findings {
		out = append(out, d.Finding)
	}
	return out
}

// refused tells whether the pod itself says no.
func (f *Facts) refused() bool {
	if f.Decision.Inject {
		return false
	}
	switch f.Decision.Rule {
	case policy.RuleInjectLabel, policy.RuleInjectAnnotation:
		return true
	}
	return false
}

// AlreadyInjected tells whether the manifest holds an injected proxy: the status annotation and the container, or a
// container that runs `proxy sidecar`.
func (f *Facts) AlreadyInjected() bool {
	_, status := f.Template.Annotations[policy.AnnotationStatus]
	c, _ := proxyOf(&f.Template)
	if c == nil {
		return false
	}
	if len(c.Args) >= 2 && slices.Equal(c.Args[:2], []string{"proxy", "sidecar"}) {
		return true
	}
	return status
}
