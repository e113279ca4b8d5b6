package lint

import "github.com/kube-inject/inject/policy"

func annotationWrongKind() Rule {
	return Rule{
		ID: "annotation-wrong-kind", Category: Annotations, Severity: policy.Error, Link: linkAnnotations,
		Scope: NotRefused, Fixes: true,
		Summary: "a label written as an annotation, or the reverse",
		Why:     "Labels and annotations are two maps; each key is looked up in its own one only.",
		Remedy:  "move it to the other map",
		Bad:     "labels:\n  proxy.istio.io/config: 'concurrency: 1'",
		Good:    "annotations:\n  proxy.istio.io/config: 'concurrency: 1'",
		check: func(f *Facts, r *Report) {
			for _, m := range f.metadata() {
				for _, key := range sortedKeys(m.values) {
					wrongKind(f, r, m, key)
				}
			}
		},
	}
}

// wrongKind leaves the injection annotation to inject-annotation.
func wrongKind(f *Facts, r *Report, m metadata, key string) {
	if _, ok := policy.Lookup(key, m.kind); ok {
		return
	}
	k, ok := policy.Lookup(key, other(m.kind))
	if !ok || k.Status == policy.Removed || k.Written {
		return
	}
	d := r.at(m.at(key).key(), "%s is read as %s only, here it is %s", key, article(k.Kind), article(m.kind)).
		hint("move it to %ss", k.Kind)
	for _, o := range f.metadata() {
		if o.place == m.place && o.kind == k.Kind {
			if _, taken := o.values[key]; !taken && k.Check(m.values[key]) == nil && fits(k.Kind, m.values[key]) {
				d.fix("move to "+o.name(), r.remove(m.at(key)), r.set(o.at(key), m.values[key]))
			}
		}
	}
}

// fits tells whether a value can be a label's at all (Kubernetes, apimachinery content.IsLabelValue, 1.33).
func fits(k policy.KeyKind, value string) bool {
	if k == policy.Annotation || value == "" {
		return true
	}
	if len(value) > 63 {
		return false
	}
	for i := range len(value) {
		c := value[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		inner := (c == '-' || c == '_' || c == '.') && i > 0 && i < len(value)-1
		if !letter && !inner {
			return false
		}
	}
	return true
}

func article(k policy.KeyKind) string {
	if k == policy.Annotation {
		return "an annotation"
	}
	return "a label"
}
