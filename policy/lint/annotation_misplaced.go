package lint

import (
	"slices"

	"github.com/kube-inject/inject/policy"
)

func annotationMisplaced() Rule {
	return Rule{
		ID: "annotation-misplaced", Category: Annotations, Severity: policy.Error, Link: linkInjection,
		Scope: Always, Fixes: true,
		Summary: "a pod's annotation or label on the workload's own metadata",
		Why:     "The injector reads the pod template; what stands on the Deployment or Job itself never reaches the pod.",
		Remedy:  "move it to the metadata of the pod template",
		Bad: "kind: Deployment\nmetadata:\n  annotations:\n    sidecar.istio.io/logLevel: debug\n" +
			"spec:\n  template:\n    metadata: {}",
		Good: "kind: Deployment\nmetadata: {}\nspec:\n  template:\n    metadata:\n      annotations:\n" +
			"        sidecar.istio.io/logLevel: debug",
		check: func(f *Facts, r *Report) {
			for _, m := range f.metadata()[2:] {
				for _, key := range sortedKeys(m.values) {
					misplaced(f, r, m, key)
				}
			}
		},
	}
}

func misplaced(f *Facts, r *Report, m metadata, key string) {
	k, ok := policy.Lookup(key, m.kind)
	if !ok || k.Status != policy.Read || k.Written || !istioKey(key) || !slices.Contains(k.Scope, "Pod") ||
		slices.Contains(k.Scope, "Any") || slices.Contains(k.Scope, f.Resource.Kind) {
		return
	}
	// The revision is a label of many objects that belong to a control plane, which do not ask for injection.
	if key == policy.LabelRevision {
		return
	}
	in := f.metadata()[0]
	if m.kind == policy.Annotation {
		in = f.metadata()[1]
	}
	if _, there := in.values[key]; there {
		return
	}
	if _, there := f.Unquoted[in.name()][key]; there {
		return
	}
	r.at(m.at(key).key(), "%s is read on the pod template, here it stands on the %s", key, f.Resource.Kind).
		fix("move to the pod template", r.remove(m.at(key)), r.set(in.at(key), m.values[key]))
}
