package policy

import (
	"strings"
	"sync"
)

// Generation says whose reading of the rules applies. The zero value is the newest.
type Generation int

// The generations, newest first.
const (
	// Modern is Istio 1.27 and later: only true and false count.
	Modern Generation = iota
	// Modern126 is Istio 1.8 to 1.26: y, yes, true and on count as yes, all else as no.
	Modern126
	// Legacy is Istio 1.6 and 1.7, recognised by the format of the injection config: labels do not count.
	Legacy
)

// ModernGeneration gives the generation of a config in the modern format by the minor of its Istio 1.x version.
func ModernGeneration(minor int) Generation {
	if minor < 27 {
		return Modern126
	}
	return Modern
}

// String gives the name that reports print, such as "istio-1.27".
func (g Generation) String() string { return decisionTable(g).name }

// The ids of the rules, in the words of `inject explain`.
const (
	RuleHostNetwork      = "host-network"
	RuleIgnoredNamespace = "ignored-namespace"
	RuleInjectLabel      = "inject-label"
	RuleInjectAnnotation = "inject-annotation"
	RuleNeverSelector    = "never-selector"
	RuleAlwaysSelector   = "always-selector"
	RulePolicy           = "policy"
	RuleWebhook          = "webhook"
	// RuleSealed stands in for RuleInjectLabel on a sealed pod: the kept value is read, not the label.
	RuleSealed = "sealed"
	// RuleIgnorePolicy answers yes for --ignore-policy.
	RuleIgnorePolicy = "ignore-policy"
	// RuleAmbient never decides: it notes that pod or namespace are enrolled in ambient mode.
	RuleAmbient = "ambient"
)

// table is one generation's rules: what is asked in which order, and what words mean.
type table struct {
	name    string
	ignored []string
	rules   []string
	words   reading
}

// reading says what a value of sidecar.istio.io/inject means.
type reading struct {
	fold  bool
	yes   []string
	no    []string
	other Result // what any other value but the empty one means: Ignored or No
}

// of gives Yes, No, Ignored, or Pass for the empty value.
func (r reading) of(value string) Result {
	if value == "" {
		return Pass
	}
	for _, word := range r.yes {
		if value == word || r.fold && strings.EqualFold(value, word) {
			return Yes
		}
	}
	for _, word := range r.no {
		if value == word || r.fold && strings.EqualFold(value, word) {
			return No
		}
	}
	return r.other
}

// decisionTable gives the table of a generation; an unknown one reads as the newest.
func decisionTable(g Generation) *table {
	t := decisionTables()
	if g < 0 || int(g) >= len(t) {
		g = Modern
	}
	return &t[g]
}

// decisionTables holds the generations side by side, indexed by Generation.
// Sources: Istio, pkg/kube/inject/inject.go injectRequired, tags 1.30.3, 1.26.8, 1.7.8 and 1.6.14.
var decisionTables = sync.OnceValue(func() []table {
	wide := reading{
		fold: true, other: No,
		yes: []string{"y", "yes", "true", "on"},
		no:  []string{"n", "no", "false", "off"},
	}
	labelled := []string{
		RuleHostNetwork, RuleIgnoredNamespace, RuleInjectLabel, RuleInjectAnnotation,
		RuleNeverSelector, RuleAlwaysSelector, RulePolicy,
	}
	return []table{
		Modern: {
			name: "istio-1.27", ignored: IgnoredNamespaces(), rules: labelled,
			words: reading{yes: []string{"true"}, no: []string{"false"}, other: Ignored},
		},
		Modern126: {
			name: "istio-1.26", ignored: IgnoredNamespaces(), rules: labelled, words: wide,
		},
		Legacy: {
			name: "istio-1.7", ignored: []string{"kube-system", "kube-public"}, words: wide,
			rules: []string{
				RuleHostNetwork, RuleIgnoredNamespace, RuleInjectAnnotation,
				RuleNeverSelector, RuleAlwaysSelector, RulePolicy,
			},
		},
	}
})
