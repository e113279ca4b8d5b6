package lint

import (
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// metadata is one map of labels or annotations and where it stands.
type metadata struct {
	place  policy.Place
	kind   policy.KeyKind
	values map[string]string
}

func (m metadata) name() string {
	if m.kind == policy.Label {
		return "labels"
	}
	return "annotations"
}

func (m metadata) at(key string) Where {
	return Where{Place: m.place, Path: []string{"metadata", m.name(), key}}
}

// metadata gives the maps of the pod template and of the workload itself.
func (f *Facts) metadata() []metadata {
	return []metadata{
		{policy.InTemplate, policy.Label, f.Template.Labels},
		{policy.InTemplate, policy.Annotation, f.Template.Annotations},
		{policy.InWorkload, policy.Label, f.Own.Labels},
		{policy.InWorkload, policy.Annotation, f.Own.Annotations},
	}
}

// other is the other kind of key.
func other(k policy.KeyKind) policy.KeyKind {
	if k == policy.Label {
		return policy.Annotation
	}
	return policy.Label
}

// istioKey tells whether a key claims to be Istio's: its prefix is one of Istio's, or nearly so.
func istioKey(key string) bool {
	slash := strings.IndexByte(key, '/')
	if slash < 0 || !strings.Contains(strings.ToLower(key[:slash]), "ist") {
		return false
	}
	prefix := key[:slash+1]
	return slices.ContainsFunc(policy.KeyPrefixes(), func(known string) bool {
		if prefix == known {
			return true
		}
		return len(prefix) > len("istio.io/")+3 && policy.Distance(prefix, known, 3) <= 3
	})
}

// lookupAny finds a key of either kind.
func lookupAny(key string) bool {
	_, label := policy.Lookup(key, policy.Label)
	_, annotation := policy.Lookup(key, policy.Annotation)
	return label || annotation
}
