package lint

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

func namespaceLabelConflict() Rule {
	return Rule{
		ID: "namespace-label-conflict", Category: Injection, Severity: policy.Warning, Link: linkRevisions,
		Summary: "a namespace with both istio-injection and istio.io/rev",
		Why:     "istio-injection wins: the namespace belongs to the default revision, or to none, and istio.io/rev is not read.",
		Remedy:  "remove one of the two labels",
		Bad:     "kind: Namespace\nmetadata:\n  labels:\n    istio-injection: enabled\n    istio.io/rev: canary",
		Good:    "kind: Namespace\nmetadata:\n  labels:\n    istio.io/rev: canary",
		namespace: func(n *Namespace, r *Report) {
			value, has := n.Labels[policy.LabelNamespaceInject]
			rev, both := n.Labels[policy.LabelRevision]
			if !has || !both || rev == policy.DefaultRevision && value == "enabled" {
				return
			}
			r.at(own("metadata", "labels", policy.LabelRevision).key(), "%s: %s hides this label", policy.LabelNamespaceInject, value)
		},
	}
}

func namespaceLabelTypo() Rule {
	return Rule{
		ID: "namespace-label-typo", Category: Injection, Severity: policy.Error, Link: linkLabels, Fixes: true,
		Summary: "a namespace label that is nearly istio-injection, or a value of it that is neither enabled nor disabled",
		Why:     "Webhooks select namespaces by exactly istio-injection: enabled. With anything else the pods start without a proxy.",
		Remedy:  "write istio-injection: enabled or istio-injection: disabled",
		Bad:     "kind: Namespace\nmetadata:\n  labels:\n    istio-inhection: enabled",
		Good:    "kind: Namespace\nmetadata:\n  labels:\n    istio-injection: enabled",
		namespace: func(n *Namespace, r *Report) {
			for _, key := range sortedKeys(n.Labels) {
				value := n.Labels[key]
				at := own("metadata", "labels", key)
				target := own("metadata", "labels", policy.LabelNamespaceInject)
				switch {
				case key == policy.LabelNamespaceInject:
					if value == "enabled" || value == "disabled" {
						continue
					}
					d := r.at(at, "%s is %s: only enabled and disabled count", key, quote(value))
					if word, ok := map[string]string{"true": "enabled", "false": "disabled"}[boolText(value)]; ok {
						d.hint("write %s", word).fix("write "+word, r.set(at, word))
					}
				case nearInjection(key, value):
					d := r.at(at.key(), "%s is no label of Istio", key).hint("did you mean %s?", policy.LabelNamespaceInject)
					if _, taken := n.Labels[policy.LabelNamespaceInject]; !taken && (value == "enabled" || value == "disabled") {
						d.fix("rename to "+policy.LabelNamespaceInject, r.remove(at), r.set(target, value))
					}
				}
			}
		},
	}
}

func boolText(value string) string {
	word, _ := boolWord(value)
	return word
}

// nearInjection tells whether a label key is a misspelt istio-injection. With two letters wrong its value has to say so
// too, since there are other words that near.
func nearInjection(key, value string) bool {
	switch policy.Distance(key, policy.LabelNamespaceInject, 2) {
	case 0, 1:
		return true
	case 2:
		return boolText(value) != ""
	}
	switch strings.ToLower(key) {
	case "istio/injection", "istio.io/injection", "istio.io/inject", "istio-inject", "istio_injection", "istioinjection",
		"sidecar.istio.io/injection", "istio-sidecar-injection":
		return true
	}
	return false
}
