package policy

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
)

// Webhooks says which of a cluster's injection webhooks lead to one control plane.
// The zero value is a default install: no revision, no tags.
type Webhooks struct {
	// Revision of the control plane; empty and "default" are the default install.
	Revision string
	// Tags are the revision tags that point to it; a tag "default" makes it the default injector too.
	Tags []string
	// EnableNamespacesByDefault is the chart's value of that name: namespaces that say nothing are injected.
	EnableNamespacesByDefault bool
}

// requirement is one term of a label selector. The operators are those of Kubernetes; named compares with the
// name of the revision or tag, notSystem keeps out the ignored namespaces.
type requirement struct {
	key, op, value string
}

const (
	opIs        = "is"
	opIsNot     = "is-not"
	opAbsent    = "absent"
	opNamed     = "named"
	opNotSystem = "not-system"
)

// webhookRow is one webhook of a configuration: both selectors must match.
type webhookRow struct {
	name              string
	onlyDefault, auto bool
	namespace, object []requirement
}

// webhookRows are the webhooks of one MutatingWebhookConfiguration in the order of the chart
// (Istio, manifests/charts/istio-control/istio-discovery/templates/mutatingwebhook.yaml, 1.30).
func webhookRows() [5]webhookRow {
	return [...]webhookRow{
		{
			name:      "rev.namespace.sidecar-injector.istio.io",
			namespace: []requirement{{LabelRevision, opNamed, ""}, {LabelNamespaceInject, opAbsent, ""}},
			object:    []requirement{{LabelInject, opIsNot, "false"}},
		},
		{
			name:      "rev.object.sidecar-injector.istio.io",
			namespace: []requirement{{LabelRevision, opAbsent, ""}, {LabelNamespaceInject, opAbsent, ""}},
			object:    []requirement{{LabelInject, opIsNot, "false"}, {LabelRevision, opNamed, ""}},
		},
		{
			name: "namespace.sidecar-injector.istio.io", onlyDefault: true,
			namespace: []requirement{{LabelNamespaceInject, opIs, "enabled"}},
			object:    []requirement{{LabelInject, opIsNot, "false"}},
		},
		{
			name: "object.sidecar-injector.istio.io", onlyDefault: true,
			namespace: []requirement{{LabelNamespaceInject, opAbsent, ""}, {LabelRevision, opAbsent, ""}},
			object:    []requirement{{LabelInject, opIs, "true"}, {LabelRevision, opAbsent, ""}},
		},
		{
			name: "auto.sidecar-injector.istio.io", onlyDefault: true, auto: true,
			namespace: []requirement{
				{LabelNamespaceInject, opAbsent, ""},
				{LabelRevision, opAbsent, ""},
				{LabelNamespaceName, opNotSystem, ""},
			},
			object: []requirement{{LabelInject, opAbsent, ""}, {LabelRevision, opAbsent, ""}},
		},
	}
}

// Match gives the webhook that the API server calls for a pod, as configuration/webhook, or ok false for none.
// The namespace's labels should hold kubernetes.io/metadata.name, as in a cluster; it matters to
// EnableNamespacesByDefault only.
func (w Webhooks) Match(namespace, pod map[string]string) (webhook string, ok bool) {
	return w.match(labels.Set(namespace), labels.Set(pod))
}

func (w Webhooks) match(namespace, pod labels.Labels) (string, bool) {
	rows := webhookRows()
	for i := -1; i < len(w.Tags); i++ {
		name, config := w.revision(), "istio-sidecar-injector"
		if i >= 0 {
			name, config = w.Tags[i], "istio-revision-tag-"+w.Tags[i]
		} else if name != DefaultRevision {
			config += "-" + name
		}
		for j := range rows {
			row := &rows[j]
			if row.onlyDefault && name != DefaultRevision || row.auto && !w.EnableNamespacesByDefault {
				continue
			}
			if matchAll(row.namespace, namespace, name) && matchAll(row.object, pod, name) {
				return config + "/" + row.name, true
			}
		}
	}
	return "", false
}

func (w Webhooks) revision() string {
	if w.Revision == "" {
		return DefaultRevision
	}
	return w.Revision
}

// names tells whether a value of istio.io/rev leads to this control plane.
func (w Webhooks) names(revision string) bool {
	return revision == w.revision() || slices.Contains(w.Tags, revision)
}

func matchAll(reqs []requirement, l labels.Labels, name string) bool {
	for _, r := range reqs {
		value, present := l.Lookup(r.key)
		ok := false
		switch r.op {
		case opIs:
			ok = present && value == r.value
		case opIsNot:
			ok = !present || value != r.value
		case opAbsent:
			ok = !present
		case opNamed:
			ok = present && value == name
		case opNotSystem:
			ok = !slices.Contains(IgnoredNamespaces(), value)
		}
		if !ok {
			return false
		}
	}
	return true
}

// webhook answers No where the API server would not call this injector, and passes with the webhook's name otherwise.
func (a *asker) webhook(s *TrailStep) {
	namespace := labels.Labels(labels.Set(a.facts.NamespaceLabels))
	if _, ok := a.facts.NamespaceLabels[LabelNamespaceName]; !ok && a.facts.Namespace != "" {
		namespace = namedNamespace{labels.Set(a.facts.NamespaceLabels), a.facts.Namespace}
	}
	pod := a.labels()
	if name, ok := a.facts.Webhooks.match(namespace, pod); ok {
		s.Place, s.Field, s.Saw, s.Present = InNamespace, "metadata.labels", name, true
		return
	}
	s.Result = No
	a.unselected(s, pod)
}

// namedNamespace adds the name label that the API server gives every namespace.
type namedNamespace struct {
	labels.Set
	name string
}

// Lookup gives a label of the namespace, the name label among them.
func (n namedNamespace) Lookup(label string) (string, bool) {
	if label == LabelNamespaceName {
		return n.name, true
	}
	value, ok := n.Set[label]
	return value, ok
}

// unselected says which label keeps the pod from the webhooks, in the order the selectors give them weight.
func (a *asker) unselected(s *TrailStep, pod labels.Labels) {
	ns, w := a.facts.NamespaceLabels, a.facts.Webhooks
	injection, hasInjection := ns[LabelNamespaceInject]
	nsRev, hasNsRev := ns[LabelRevision]
	podRev, hasPodRev := pod.Lookup(LabelRevision)
	switch {
	case pod.Get(LabelInject) == "false":
		s.Field, s.Saw, s.Present = fieldInjectLabel, "false", true
		if a.sealed {
			s.Field = fieldSealed
		}
		s.Note = "no webhook takes a pod whose label " + LabelInject + ` is "false"`
	case hasInjection && injection != "enabled":
		s.Place, s.Field, s.Saw, s.Present = InNamespace, "metadata.labels["+LabelNamespaceInject+"]", injection, true
		s.Note = "the namespace's label " + LabelNamespaceInject + " is " + strconv.Quote(injection)
	case hasInjection:
		s.Place, s.Field, s.Saw, s.Present = InNamespace, "metadata.labels["+LabelNamespaceInject+"]", injection, true
		s.Note = "the namespace's label " + LabelNamespaceInject + " leads to the default revision, not to " +
			strconv.Quote(w.revision())
	case hasNsRev && !w.names(nsRev):
		s.Place, s.Field, s.Saw, s.Present = InNamespace, "metadata.labels["+LabelRevision+"]", nsRev, true
		s.Note = "the namespace's label " + LabelRevision + " names " + strconv.Quote(nsRev) + ", this revision is " +
			strconv.Quote(w.revision())
	case hasPodRev && !hasNsRev:
		s.Field, s.Saw, s.Present = "metadata.labels["+LabelRevision+"]", podRev, true
		s.Note = "the pod's label " + LabelRevision + " names " + strconv.Quote(podRev) + ", this revision is " +
			strconv.Quote(w.revision())
	default:
		s.Place, s.Field = InNamespace, "metadata.labels"
		s.Note = "neither the namespace nor the pod asks for injection by revision " + strconv.Quote(w.revision())
	}
}
