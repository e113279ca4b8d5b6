package lint

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

func annotationUnknown() Rule {
	return Rule{
		ID: "annotation-unknown", Category: Annotations, Severity: policy.Error, Link: linkAnnotations,
		Scope: NotRefused, Fixes: true,
		Summary: "a key with an Istio prefix that no component reads",
		Why: "The injector looks up the keys it knows and passes over all others in silence, so a misspelt key acts as " +
			"if it were not there.",
		Remedy: "correct the name or remove the key",
		Bad:    "annotations:\n  sidecar.istio.io/proxyCpu: 250m",
		Good:   "annotations:\n  sidecar.istio.io/proxyCPU: 250m",
		check: func(f *Facts, r *Report) {
			for _, m := range f.metadata() {
				for _, key := range sortedKeys(m.values) {
					unknownKey(r, m, key)
				}
			}
		},
	}
}

func unknownKey(r *Report, m metadata, key string) {
	k, found := policy.Lookup(key, m.kind)
	if found && k.Status == policy.Removed {
		r.at(m.at(key).key(), "%s is read no more: %s", key, k.Summary).level(policy.Warning).
			hint("remove it; the last Istio that read it is %s", k.Until)
		return
	}
	if found || !istioKey(key) || lookupAny(key) {
		return
	}
	d := r.at(m.at(key).key(), "no component of Istio reads the %s %s", m.kind, key)
	near := policy.Suggest(key, m.kind)
	if len(near) == 0 {
		return
	}
	d.hint("did you mean %s?", strings.Join(near, " or "))
	if target, ok := sure(near, key, m); ok {
		d.fix("rename to "+target, r.remove(m.at(key)), r.set(m.at(target), m.values[key]))
	}
}

// sure gives the one name that is surely meant: the only one equal but for case, else the only one at distance 1.
func sure(near []string, key string, m metadata) (string, bool) {
	var close []string
	for _, n := range near {
		if strings.EqualFold(n, key) {
			close = []string{n}
			break
		}
		if policy.Distance(n, key, 1) == 1 {
			close = append(close, n)
		}
	}
	if len(close) != 1 {
		return "", false
	}
	_, taken := m.values[close[0]]
	return close[0], !taken
}
