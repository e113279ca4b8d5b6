package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/labels"
)

// combination is one input of the model, in plain words; "-" stands for absent.
type combination struct {
	generation        Generation
	host              bool
	namespace         string
	label, annotation string
	never, always     bool
	disabled, ignore  bool
	seal              string
	parity            bool
	injection, nsRev  string
	podRev, ownRev    string
	enableByDefault   bool
	tags              []string
}

// facts writes a combination as Decide takes it. The selectors look at labels of their own.
func (c combination) facts() Facts {
	f := Facts{
		HostNetwork: c.host, Namespace: c.namespace, Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{},
		Rules: Rules{
			Generation: c.generation, IgnorePolicy: c.ignore,
			Webhooks: Webhooks{Revision: c.ownRev, Tags: c.tags, EnableNamespacesByDefault: c.enableByDefault},
			Never:    []labels.Selector{labels.Everything(), labels.SelectorFromSet(labels.Set{"never": "x"})},
			Always:   []labels.Selector{labels.SelectorFromSet(labels.Set{"always": "x"}), labels.Everything()},
		},
	}
	set := func(m map[string]string, key, value string) {
		if value != "-" {
			m[key] = value
		}
	}
	set(f.Labels, "sidecar.istio.io/inject", c.label)
	set(f.Annotations, "sidecar.istio.io/inject", c.annotation)
	set(f.Annotations, "inject.krm/sealed", c.seal)
	set(f.Labels, "istio.io/rev", c.podRev)
	if c.never {
		f.Labels["never"] = "x"
	}
	if c.always {
		f.Labels["always"] = "x"
	}
	if c.disabled {
		f.Policy = PolicyDisabled
	}
	if c.parity {
		f.NamespaceLabels = map[string]string{}
		set(f.NamespaceLabels, "istio-injection", c.injection)
		set(f.NamespaceLabels, "istio.io/rev", c.nsRev)
	}
	return f
}

// model is the contract once more, written as plainly as it reads and without a table.
func (c combination) model() (inject bool, rule string) {
	if c.seal != "-" && !c.ignore {
		c.label = c.seal
		if c.seal == "" {
			c.label = "-"
		}
	}
	if c.ignore {
		return !c.host, map[bool]string{true: "host-network", false: "ignore-policy"}[c.host]
	}
	if c.parity && !c.selected() {
		return false, "webhook"
	}
	if c.host {
		return false, "host-network"
	}
	switch c.namespace {
	case "kube-system", "kube-public":
		return false, "ignored-namespace"
	case "kube-node-lease", "local-path-storage":
		if c.generation != Legacy {
			return false, "ignored-namespace"
		}
	}
	value, from := c.annotation, "inject-annotation"
	if c.generation != Legacy && c.label != "-" {
		value, from = c.label, "inject-label"
		if c.seal != "-" {
			from = "sealed"
		}
	}
	if c.generation == Modern {
		switch value {
		case "true":
			return true, from
		case "false":
			return false, from
		}
	} else if value != "-" && value != "" {
		switch strings.ToLower(value) {
		case "y", "yes", "true", "on":
			return true, from
		}
		return false, from
	}
	switch {
	case c.never:
		return false, "never-selector"
	case c.always:
		return true, "always-selector"
	}
	return !c.disabled, "policy"
}

// selected says which pods the API server sends to the injector, by precedence instead of by selectors.
func (c combination) selected() bool {
	own := c.ownRev
	if own == "" {
		own = "default"
	}
	isDefault := own == "default"
	mine := func(rev string) bool {
		for _, tag := range c.tags {
			if rev == tag {
				return true
			}
		}
		return rev == own
	}
	for _, tag := range c.tags {
		isDefault = isDefault || tag == "default"
	}
	switch {
	case c.label == "false":
		return false
	case c.injection != "-":
		return c.injection == "enabled" && isDefault
	case c.nsRev != "-":
		return mine(c.nsRev)
	case c.podRev != "-":
		return mine(c.podRev)
	case c.label == "true":
		return isDefault
	case c.label == "-" && c.enableByDefault:
		return isDefault && c.namespace != "kube-system" && c.namespace != "kube-node-lease" &&
			c.namespace != "kube-public" && c.namespace != "local-path-storage"
	}
	return false
}

func both() []bool { return []bool{false, true} }

func compare(t *testing.T, c combination) {
	t.Helper()
	want, rule := c.model()
	d := Decide(c.facts())
	if d.Inject != want || d.Rule != rule {
		t.Errorf("%+v: %v by %s, want %v by %s", c, d.Inject, d.Rule, want, rule)
		return
	}
	checkTrail(t, c, d)
}

// checkTrail holds what is true of every trail: one answer, nothing reached behind it, nothing unanswered before it.
func checkTrail(t *testing.T, c combination, d Decision) {
	t.Helper()
	answered := false
	for _, s := range d.Trail {
		switch {
		case s.Rule == RuleAmbient:
		case answered != (s.Result == NotReached):
			t.Errorf("%+v: step %+v, answered before: %v", c, s, answered)
		case s.Result == Yes || s.Result == No:
			answered = true
			if s.Rule != d.Rule || s.Field != d.Field || s.Place != d.Place || (s.Result == Yes) != d.Inject || s.Field == "" {
				t.Errorf("%+v: step %+v does not carry the decision %+v", c, s, d)
			}
		}
	}
	if !answered {
		t.Errorf("%+v: no step answers: %+v", c, d.Trail)
	}
	if r := d.Reason(); r == "" || r == d.Rule || strings.Contains(r, "\n") {
		t.Errorf("%+v: reason %q", c, r)
	}
}

// TestDecideAgainstModel runs every combination of what the rules read.
func TestDecideAgainstModel(t *testing.T) {
	t.Parallel()
	words := []string{"-", "", "true", "false", "True", "yes", "no", "bogus"}
	namespaces := []string{"", "shop", "kube-system", "kube-public", "kube-node-lease", "local-path-storage"}
	n := 0
	for _, generation := range []Generation{Modern, Modern126, Legacy} {
		for _, namespace := range namespaces {
			for _, label := range words {
				for _, annotation := range words {
					for bits := range 32 {
						c := combination{
							generation: generation, namespace: namespace, label: label, annotation: annotation,
							seal: "-", injection: "-", nsRev: "-", podRev: "-",
							host: bits&1 > 0, never: bits&2 > 0, always: bits&4 > 0, disabled: bits&8 > 0, ignore: bits&16 > 0,
						}
						compare(t, c)
						n++
					}
				}
			}
		}
	}
	if n != 3*6*8*8*32 {
		t.Errorf("%d combinations", n)
	}
}

// TestDecideWithWebhooksAgainstModel adds what the API server reads.
func TestDecideWithWebhooksAgainstModel(t *testing.T) {
	t.Parallel()
	revs := []string{"-", "default", "canary", "prod"}
	installs := []combination{
		{},
		{ownRev: "default"},
		{ownRev: "canary"},
		{ownRev: "canary", tags: []string{"prod"}},
		{ownRev: "canary", tags: []string{"default"}},
		{enableByDefault: true},
		{ownRev: "canary", enableByDefault: true},
	}
	for _, install := range installs {
		for _, injection := range []string{"-", "enabled", "disabled", "bogus"} {
			for _, nsRev := range revs {
				for _, podRev := range revs {
					for _, label := range []string{"-", "", "true", "false", "bogus"} {
						for _, seal := range []string{"-", "", "true", "false"} {
							for _, namespace := range []string{"shop", "kube-system"} {
								for bits := range 4 {
									c := install
									c.parity, c.injection, c.nsRev, c.podRev = true, injection, nsRev, podRev
									c.label, c.annotation, c.seal, c.namespace = label, "-", seal, namespace
									c.host, c.disabled = bits&1 > 0, bits&2 > 0
									compare(t, c)
								}
							}
						}
					}
				}
			}
		}
	}
}

func TestDecideSealed(t *testing.T) {
	t.Parallel()
	for _, generation := range []Generation{Modern, Modern126, Legacy} {
		for _, seal := range []string{"", "true", "false", "bogus"} {
			for _, label := range []string{"-", "false", "true"} {
				for _, annotation := range []string{"-", "true", "false"} {
					for _, never := range both() {
						compare(t, combination{
							generation: generation, seal: seal, label: label, annotation: annotation, never: never,
							injection: "-", nsRev: "-", podRev: "-",
						})
					}
				}
			}
		}
	}
}

// TestSelectorsSeeTheLabelFromBeforeSealing keeps a selector on the inject label true to the original pod.
func TestSelectorsSeeTheLabelFromBeforeSealing(t *testing.T) {
	t.Parallel()
	absent, err := labels.Parse("!sidecar.istio.io/inject")
	if err != nil {
		t.Fatal(err)
	}
	f := Facts{
		Rules:       Rules{Policy: PolicyDisabled, Always: []labels.Selector{absent}},
		Labels:      map[string]string{LabelInject: "false", "app": "web"},
		Annotations: map[string]string{AnnotationSealed: ""},
	}
	if d := Decide(f); !d.Inject || d.Rule != RuleAlwaysSelector {
		t.Errorf("sealed: %v by %s", d.Inject, d.Rule)
	}
	f.Annotations[AnnotationSealed] = "bogus"
	if d := Decide(f); d.Inject || d.Rule != RulePolicy {
		t.Errorf("sealed with a kept value: %v by %s", d.Inject, d.Rule)
	}
}

func TestDecideTrail(t *testing.T) {
	t.Parallel()
	d := Decide(Facts{
		Rules:     Rules{Policy: PolicyDisabled},
		Namespace: "shop", NamespacePlace: InWorkload,
		Labels:      map[string]string{LabelInject: "yes"},
		Annotations: map[string]string{AnnotationInject: "true"},
	})
	want := Decision{
		Rule: RulePolicy, Place: InConfig, Field: "policy", Asked: true, Table: "istio-1.27",
		Trail: []TrailStep{
			{Rule: RuleHostNetwork, Field: "spec.hostNetwork", Saw: "false", Result: Pass},
			{Rule: RuleIgnoredNamespace, Place: InWorkload, Field: "metadata.namespace", Saw: "shop", Present: true, Result: Pass},
			{
				Rule: RuleInjectLabel, Field: "metadata.labels[sidecar.istio.io/inject]", Saw: "yes", Present: true, Result: Ignored,
				Note: `only "true" and "false" count`,
			},
			{
				Rule: RuleInjectAnnotation, Field: "metadata.annotations[sidecar.istio.io/inject]", Saw: "true", Present: true,
				Result: Ignored, Note: "the label of that name hides it",
			},
			{Rule: RuleNeverSelector, Place: InConfig, Field: "neverInjectSelector", Result: Pass},
			{Rule: RuleAlwaysSelector, Place: InConfig, Field: "alwaysInjectSelector", Result: Pass},
			{Rule: RulePolicy, Place: InConfig, Field: "policy", Saw: "disabled", Present: true, Result: No},
		},
		Warnings: []Finding{{
			Code: CodeInjectValue, Severity: Warning, Field: "metadata.labels[sidecar.istio.io/inject]",
			Message: `sidecar.istio.io/inject is "yes": only "true" and "false" count, so selectors and policy decide, ` +
				`and the annotation of that name is hidden`,
			Hint: `write "true"`,
		}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecideReason(t *testing.T) {
	t.Parallel()
	app := labels.SelectorFromSet(labels.Set{"app": "web"})
	for name, tt := range map[string]struct {
		facts Facts
		want  string
	}{
		"host":      {Facts{HostNetwork: true}, "pod uses the host network (spec.hostNetwork)"},
		"namespace": {Facts{Namespace: "kube-system"}, "namespace kube-system is never injected (metadata.namespace)"},
		"flag": {
			Facts{Namespace: "kube-public", NamespacePlace: InFlags}, "namespace kube-public is never injected (--namespace)",
		},
		"label": {
			Facts{Labels: map[string]string{LabelInject: "false"}},
			`label sidecar.istio.io/inject is "false" (metadata.labels[sidecar.istio.io/inject])`,
		},
		"annotation": {
			Facts{Annotations: map[string]string{AnnotationInject: "true"}},
			`annotation sidecar.istio.io/inject is "true" (metadata.annotations[sidecar.istio.io/inject])`,
		},
		"sealed": {
			Facts{Annotations: map[string]string{AnnotationSealed: "true"}},
			`label sidecar.istio.io/inject was "true" before the pod was sealed (metadata.annotations[inject.krm/sealed])`,
		},
		"never": {
			Facts{Rules: Rules{Never: []labels.Selector{app}}, Labels: map[string]string{"app": "web"}},
			"labels match app=web (neverInjectSelector[0] of the injection config)",
		},
		"policy": {Facts{}, "policy is enabled (policy of the injection config)"},
		"ignore": {Facts{Rules: Rules{IgnorePolicy: true}}, "selectors, labels and policy are ignored (--ignore-policy)"},
		"webhook disabled": {
			Facts{NamespaceLabels: map[string]string{LabelNamespaceInject: "disabled"}},
			`the namespace's label istio-injection is "disabled" (metadata.labels[istio-injection])`,
		},
		"webhook revision": {
			Facts{NamespaceLabels: map[string]string{LabelRevision: "canary"}},
			`the namespace's label istio.io/rev names "canary", this revision is "default" (metadata.labels[istio.io/rev])`,
		},
		"webhook nothing": {
			Facts{NamespaceLabels: map[string]string{}},
			`neither the namespace nor the pod asks for injection by revision "default" (metadata.labels)`,
		},
	} {
		if got := Decide(tt.facts).Reason(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

func TestAsked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		generation        Generation
		label, annotation string
		want              bool
	}{
		{Modern, "-", "-", false},
		{Modern, "true", "-", true},
		{Modern, "-", "true", true},
		{Modern, "false", "true", false},
		{Modern, "true", "false", true},
		{Modern, "", "true", true},
		{Modern, "yes", "-", false},
		{Modern126, "yes", "-", true},
		{Legacy, "true", "-", false},
		{Legacy, "false", "on", true},
	} {
		c := combination{
			generation: tt.generation, label: tt.label, annotation: tt.annotation,
			seal: "-", injection: "-", nsRev: "-", podRev: "-", host: true,
		}
		if got := Decide(c.facts()).Asked; got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

func TestInjectValueWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		generation        Generation
		label, annotation string
		want              []string // field and hint
	}{
		{Modern, "", "-", nil},
		{Modern, "True", "-", []string{`metadata.labels[sidecar.istio.io/inject] write "true"`}},
		{Modern, "-", "Off", []string{`metadata.annotations[sidecar.istio.io/inject] write "false"`}},
		{Modern, "-", "maybe", []string{`metadata.annotations[sidecar.istio.io/inject] write "true" or "false"`}},
		{Modern126, "maybe", "-", []string{`metadata.labels[sidecar.istio.io/inject] write "true" or "false"`}},
		{Modern126, "No", "-", nil},
		{Legacy, "maybe", "yes", nil},
		{Legacy, "-", "enabled", []string{`metadata.annotations[sidecar.istio.io/inject] write "true"`}},
	} {
		c := combination{
			generation: tt.generation, label: tt.label, annotation: tt.annotation,
			seal: "-", injection: "-", nsRev: "-", podRev: "-",
		}
		var got []string
		for _, w := range Decide(c.facts()).Warnings {
			if w.Code != CodeInjectValue || w.Severity != Warning || w.Message == "" {
				t.Errorf("%+v: %+v", tt, w)
			}
			got = append(got, w.Field+" "+w.Hint)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt, diff)
		}
	}
}

func TestAmbient(t *testing.T) {
	t.Parallel()
	ambient := map[string]string{LabelDataplaneMode: "ambient"}
	enrolled := map[string]string{LabelDataplaneMode: "ambient", LabelNamespaceInject: "enabled"}
	for name, tt := range map[string]struct {
		facts Facts
		place Place
		warns bool
	}{
		"pod":              {Facts{Labels: ambient}, InTemplate, true},
		"pod not injected": {Facts{Labels: ambient, HostNetwork: true}, InTemplate, false},
		"namespace":        {Facts{NamespaceLabels: enrolled}, InNamespace, true},
		"pod says none": {
			Facts{NamespaceLabels: enrolled, Labels: map[string]string{LabelDataplaneMode: "none"}}, InTemplate, false,
		},
	} {
		d := Decide(tt.facts)
		last := d.Trail[len(d.Trail)-1]
		if last.Rule != RuleAmbient || last.Place != tt.place || last.Result != Ignored {
			t.Errorf("%s: %+v", name, last)
		}
		if got := len(d.Warnings) == 1 && d.Warnings[0].Code == CodeAmbient; got != tt.warns {
			t.Errorf("%s: warnings %+v", name, d.Warnings)
		}
	}
}

func TestGenerations(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int]Generation{24: Modern126, 26: Modern126, 27: Modern, 31: Modern} {
		if got := ModernGeneration(minor); got != want {
			t.Errorf("1.%d: %v", minor, got)
		}
	}
	got := fmt.Sprint(Modern, Modern126, Legacy, Generation(9))
	if want := "istio-1.27 istio-1.26 istio-1.7 istio-1.27"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"kube-system", "kube-public"}, decisionTable(Legacy).ignored, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestDecideAllocations(t *testing.T) {
	f := benchmarkFacts()
	if n := testing.AllocsPerRun(100, func() { Decide(f) }); n > 2 {
		t.Errorf("%v allocations, want at most 2 (the trail and slack)", n)
	}
}

func benchmarkFacts() Facts {
	return Facts{
		Rules: Rules{
			Never: []labels.Selector{labels.SelectorFromSet(labels.Set{"openshift.io/build.name": "x"})},
		},
		Namespace:   "shop",
		Labels:      map[string]string{"app": "web", "version": "v1"},
		Annotations: map[string]string{"prometheus.io/scrape": "true"},
	}
}

func BenchmarkDecide(b *testing.B) {
	f := benchmarkFacts()
	b.ReportAllocs()
	for b.Loop() {
		Decide(f)
	}
}

func BenchmarkValidateAnnotations(b *testing.B) {
	annotations := map[string]string{
		AnnotationProxyCPU: "100m", AnnotationExcludeInbound: "80,443", AnnotationPrometheusScrape: "true", "team": "shop",
	}
	b.ReportAllocs()
	for b.Loop() {
		ValidateAnnotations(annotations, ValidateOptions{})
	}
}
