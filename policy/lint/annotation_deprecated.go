package lint

import "github.com/kube-inject/inject/policy"

func annotationDeprecated() Rule {
	return Rule{
		ID: "annotation-deprecated", Category: Annotations, Severity: policy.Warning, Link: linkAnnotations,
		Summary: "a key that Istio's API marks as deprecated",
		Why:     "It still works, but a later release may stop reading it.",
		Remedy:  "write what takes its place",
		Bad:     "annotations:\n  sidecar.istio.io/discoveryAddress: istiod.mesh:15012",
		Good:    "annotations:\n  proxy.istio.io/config: |\n    discoveryAddress: istiod.mesh:15012",
		check: func(f *Facts, r *Report) {
			for _, m := range f.metadata()[:2] {
				for _, key := range sortedKeys(m.values) {
					k, ok := policy.Lookup(key, m.kind)
					// The annotation sidecar.istio.io/inject has a rule of its own.
					if !ok || !k.Deprecated || k.Status == policy.Removed || k.Written || key == policy.AnnotationInject {
						continue
					}
					if f.AlreadyInjected() && !f.inOriginal(m.kind, key) {
						continue // an injection wrote it
					}
					d := r.at(m.at(key).key(), "%s is deprecated", key)
					if k.ReplacedBy != "" {
						d.hint("use %s", k.ReplacedBy)
					}
				}
			}
		},
	}
}

// inOriginal tells whether the pod has a label or annotation without an earlier injection.
func (f *Facts) inOriginal(kind policy.KeyKind, key string) bool {
	values := f.Original.Annotations
	if kind == policy.Label {
		values = f.Original.Labels
	}
	_, ok := values[key]
	return ok
}
