package policy

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
)

// Policy is what happens to a pod that says nothing. The zero value injects, as an absent `policy` does.
type Policy int

// The two policies.
const (
	PolicyEnabled Policy = iota
	PolicyDisabled
)

// ParsePolicy reads the word of the injection config; ok is false for any word but enabled and disabled.
func ParsePolicy(word string) (p Policy, ok bool) {
	switch word {
	case "enabled":
		return PolicyEnabled, true
	case "disabled":
		return PolicyDisabled, true
	}
	return PolicyEnabled, false
}

// String gives the word of the injection config.
func (p Policy) String() string {
	if p == PolicyDisabled {
		return "disabled"
	}
	return "enabled"
}

// Place says to what a field path belongs. The zero value is the pod template (a Pod itself).
type Place int

// The places a rule can look at.
const (
	InTemplate Place = iota
	InWorkload
	InNamespace
	InConfig
	InFlags
)

// String gives the word that machine formats print.
func (p Place) String() string {
	return [...]string{"template", "workload", "namespace", "config", "flags"}[p]
}

// Rules is what one run fixes for all its pods. The zero value is Istio's newest reading with nothing configured.
type Rules struct {
	Generation Generation
	Policy     Policy
	// Never and Always are the compiled selectors of the injection config, in its order. An empty one matches nothing.
	Never, Always []labels.Selector
	// IgnorePolicy leaves only the host-network rule, as kube-inject of Istio 1.6 and 1.7 did.
	IgnorePolicy bool
	// Webhooks says which webhooks lead to this injector; read only where NamespaceLabels are known.
	Webhooks Webhooks
}

// Facts is all that decides about one pod. The maps are only read.
type Facts struct {
	Rules
	// HostNetwork is spec.hostNetwork of the pod.
	HostNetwork bool
	// Namespace is the pod's, else the workload's, else that of --namespace; NamespacePlace says which.
	Namespace      string
	NamespacePlace Place
	// Labels and Annotations are the pod template's.
	Labels, Annotations map[string]string
	// NamespaceLabels switches webhook parity on; nil means unknown, an empty map a namespace without labels.
	NamespaceLabels map[string]string
}

// Result is what a rule said.
type Result string

// The results. Ignored is a value that is there but does not count.
const (
	Pass       Result = "pass"
	Yes        Result = "yes"
	No         Result = "no"
	Ignored    Result = "ignored"
	NotReached Result = "not-reached"
)

// TrailStep is one rule: what it looked at, what it saw and what it said.
type TrailStep struct {
	Rule string
	// Place and Field say where the rule looked; Saw is the value there, Present whether there was one.
	Place   Place
	Field   string
	Saw     string
	Present bool
	Result  Result
	// Note adds a reason where the result alone does not tell it.
	Note string
}

// Decision is the verdict on one pod with everything that led to it.
type Decision struct {
	Inject bool
	// Rule is the id of the rule that answered, Place and Field where its answer came from.
	Rule  string
	Place Place
	Field string
	// Asked is true where label or annotation of the pod ask for injection, whatever was decided.
	Asked bool
	// Table names the reading that was used, such as "istio-1.27".
	Table string
	// Trail holds every rule in the order asked; those behind the answer are NotReached.
	Trail []TrailStep
	// Warnings have code, field, message and hint; their position is the caller's to add.
	Warnings []Finding
}

// Step gives the trail step that decided.
func (d Decision) Step() TrailStep {
	for _, s := range d.Trail {
		if s.Rule == d.Rule && (s.Result == Yes || s.Result == No) {
			return s
		}
	}
	return TrailStep{Rule: d.Rule, Place: d.Place, Field: d.Field}
}

// Decide asks the rules about one pod; the first that answers wins (Istio, pkg/kube/inject/inject.go
// injectRequired, by generation). It reads nothing but its facts.
func Decide(facts Facts) Decision {
	a := newAsker(&facts)
	d := Decision{Table: a.table.name, Asked: a.asked(), Trail: make([]TrailStep, 0, len(a.table.rules)+2)}
	switch {
	case facts.IgnorePolicy:
		a.ask(&d, RuleHostNetwork)
		a.ask(&d, RuleIgnorePolicy)
		return d
	case facts.NamespaceLabels != nil:
		a.ask(&d, RuleWebhook)
	}
	for _, rule := range a.table.rules {
		a.ask(&d, rule)
	}
	a.ambient(&d)
	return d
}

// asker answers the rules for one pod.
type asker struct {
	facts *Facts
	table *table
	// label is the inject label as it counts: the kept value on a sealed pod.
	label    string
	hasLabel bool
	sealed   bool
}

func newAsker(f *Facts) asker {
	a := asker{facts: f, table: decisionTable(f.Generation)}
	a.label, a.hasLabel = f.Labels[LabelInject]
	if kept, ok := f.Annotations[AnnotationSealed]; ok {
		a.label, a.hasLabel, a.sealed = kept, kept != "", true
	}
	return a
}

// labels gives the pod's labels as the selectors see them.
func (a *asker) labels() labels.Labels {
	if a.sealed {
		return sealedLabels{Set: a.facts.Labels, inject: a.label}
	}
	return labels.Set(a.facts.Labels)
}

// asked is true where the pod's label, or its annotation with no label against it, says yes.
func (a *asker) asked() bool {
	annotation := a.table.words.of(a.facts.Annotations[AnnotationInject]) == Yes
	if !a.hasLabel || !slices.Contains(a.table.rules, RuleInjectLabel) {
		return annotation
	}
	label := a.table.words.of(a.label)
	return label == Yes || annotation && label != No
}

// ask appends the rule's step to the trail and takes its answer as the decision if it is the first.
func (a *asker) ask(d *Decision, rule string) {
	s := TrailStep{Rule: rule}
	if d.Rule != "" {
		s.Result = NotReached
	} else {
		a.answer(&s, d)
	}
	d.Trail = append(d.Trail, s)
	if s.Result == Yes || s.Result == No {
		d.Inject, d.Rule, d.Place, d.Field = s.Result == Yes, s.Rule, s.Place, s.Field
	}
}

func (a *asker) answer(s *TrailStep, d *Decision) {
	s.Result = Pass
	switch s.Rule {
	case RuleHostNetwork:
		a.hostNetwork(s)
	case RuleIgnoredNamespace:
		a.ignoredNamespace(s)
	case RuleInjectLabel:
		a.injectLabel(s, d)
	case RuleInjectAnnotation:
		a.injectAnnotation(s, d)
	case RuleNeverSelector:
		a.selector(s, "neverInjectSelector", a.facts.Never, No)
	case RuleAlwaysSelector:
		a.selector(s, "alwaysInjectSelector", a.facts.Always, Yes)
	case RulePolicy:
		s.Place, s.Field, s.Saw, s.Present, s.Result = InConfig, "policy", a.facts.Policy.String(), true, Yes
		if a.facts.Policy == PolicyDisabled {
			s.Result = No
		}
	case RuleIgnorePolicy:
		s.Place, s.Field, s.Saw, s.Present, s.Result = InFlags, "--ignore-policy", "true", true, Yes
	case RuleWebhook:
		a.webhook(s)
	default:
		panic("policy: no answer for rule " + strconv.Quote(s.Rule))
	}
}

func (a *asker) hostNetwork(s *TrailStep) {
	s.Field, s.Saw = "spec.hostNetwork", "false"
	if a.facts.HostNetwork {
		s.Saw, s.Present, s.Result = "true", true, No
	}
}

func (a *asker) ignoredNamespace(s *TrailStep) {
	s.Place, s.Field, s.Saw = a.facts.NamespacePlace, "metadata.namespace", a.facts.Namespace
	s.Present = s.Saw != ""
	if s.Place == InFlags {
		s.Field = "--namespace"
	}
	if slices.Contains(a.table.ignored, s.Saw) {
		s.Result = No
	}
}

// selector answers hit where one of the selectors matches the pod's labels.
func (a *asker) selector(s *TrailStep, list string, selectors []labels.Selector, hit Result) {
	s.Place, s.Field = InConfig, list
	if len(selectors) == 0 {
		return
	}
	pod := a.labels()
	for i, sel := range selectors {
		if sel != nil && !sel.Empty() && sel.Matches(pod) {
			s.Field, s.Saw, s.Present = list+"["+strconv.Itoa(i)+"]", sel.String(), true
			s.Result = hit
			return
		}
	}
}

// sealedLabels is a pod's labels with the inject label as it was before sealing.
type sealedLabels struct {
	labels.Set
	inject string
}

// Has tells whether the label was there before sealing.
func (l sealedLabels) Has(label string) bool {
	_, ok := l.Lookup(label)
	return ok
}

// Get gives the label's value before sealing.
func (l sealedLabels) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}

// Lookup gives the label's value before sealing and whether there was one.
func (l sealedLabels) Lookup(label string) (string, bool) {
	if label == LabelInject {
		return l.inject, l.inject != ""
	}
	value, ok := l.Set[label]
	return value, ok
}
