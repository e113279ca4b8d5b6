package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sharedKey is an entry of the shared catalogue.
type sharedKey struct {
	Name                string
	Kind                KeyKind
	Scope, Enum         []string
	Deprecated          bool
	ValidatedByInjector string
	OnInvalid           string
	ReplacedBy          string
	UserSet             *bool
	Resources           []string
}

func TestCatalogueIsComplete(t *testing.T) {
	t.Parallel()
	var shared struct {
		Prefixes                     []string
		Entries, KnownOther, Removed []sharedKey
	}
	readShared(t, "spec/annotations.json", &shared)
	for _, e := range shared.Entries {
		k, ok := Lookup(e.Name, e.Kind)
		if !ok {
			t.Errorf("%s %s is missing", e.Kind, e.Name)
			continue
		}
		values := e.Enum
		if k.Type == Bool {
			values = nil // the parser says it
		}
		want := Key{
			Name: e.Name, Kind: e.Kind, Status: Read, Scope: e.Scope, Values: values, Deprecated: e.Deprecated,
			Validated: e.ValidatedByInjector != "", Written: e.UserSet != nil && !*e.UserSet,
		}
		got := k
		got.Type, got.Default, got.Summary, got.ReadBy, got.OnInvalid, got.ReplacedBy, got.Since = "", "", "", "", "", "", ""
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", e.Kind, e.Name, diff)
		}
		if (e.OnInvalid != "") != (k.OnInvalid != "") {
			t.Errorf("%s: effect of a bad value %q, want one like %q", e.Name, k.OnInvalid, e.OnInvalid)
		}
		if (e.ReplacedBy != "") && k.ReplacedBy == "" {
			t.Errorf("%s: replacement missing: %s", e.Name, e.ReplacedBy)
		}
	}
	for _, e := range shared.KnownOther {
		if k, ok := Lookup(e.Name, e.Kind); !ok || k.Status != Elsewhere || k.Deprecated != e.Deprecated ||
			!slices.Equal(k.Scope, e.Resources) {
			t.Errorf("%s %s: got %+v", e.Kind, e.Name, k)
		}
	}
	for _, e := range shared.Removed {
		if k, ok := Lookup(e.Name, e.Kind); !ok || k.Status != Removed {
			t.Errorf("%s %s: got %+v", e.Kind, e.Name, k)
		}
	}
	slices.Sort(shared.Prefixes)
	if diff := cmp.Diff(shared.Prefixes, KeyPrefixes()); diff != "" {
		t.Errorf("prefixes (-want +got):\n%s", diff)
	}
}

func TestCatalogueRows(t *testing.T) {
	t.Parallel()
	keys := Keys()
	for i, k := range keys {
		if i > 0 && keys[i-1].Name == k.Name && keys[i-1].Kind == k.Kind {
			t.Errorf("%s %s stands there twice", k.Kind, k.Name)
		}
		if k.Status != Elsewhere && k.Summary == "" {
			t.Errorf("%s %s has no summary", k.Kind, k.Name)
		}
		if strings.ContainsAny(k.Summary, "\n") || strings.HasSuffix(k.Summary, ".") {
			t.Errorf("%s %s: the summary is no one-line phrase: %q", k.Kind, k.Name, k.Summary)
		}
		if k.Validated && k.Type != ProxyConfig && len(k.Values) == 0 {
			if _, parse := k.Type.rules(); parse == nil {
				t.Errorf("%s is validated, but type %s has no parser", k.Name, k.Type)
			}
		}
	}
	keys[0].Name = "changed"
	if Keys()[0].Name == "changed" {
		t.Error("a caller can change the catalogue")
	}
}

func TestKeyCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value, want string
	}{
		{AnnotationNativeSidecar, "True", "it must be true or false"},
		{AnnotationNativeSidecar, "false", ""},
		{AnnotationRewriteProbers, "no", "it must be true or false"},
		{AnnotationRewriteProbers, "T", ""},
		{"sidecar.istio.io/statsFlushInterval", "5", "it must be a duration such as 5s or 1m30s"},
		{"sidecar.istio.io/statsFlushInterval", "5s", ""},
		{"sidecar.istio.io/statsHistogramBuckets", "[]", "it must be a JSON object"},
		{"sidecar.istio.io/statsHistogramBuckets", `{"istio":[1]}`, ""},
		{AnnotationUserVolume, "{", "it must be JSON"},
		{AnnotationIncludeOutbound, "80,http", `item "http" is not accepted; it must be a comma-separated list of ports from 0 to 65535`},
		{AnnotationStatusPort, "70000", "it is out of range; it must be a port from 0 to 65535"},
		{AnnotationProxyImage, "anything", ""},
		{AnnotationProxyConfig, "{", ""},
	} {
		k, ok := Lookup(tt.name, Annotation)
		if !ok {
			t.Fatalf("%s is missing", tt.name)
		}
		got := ""
		if err := k.Check(tt.value); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestRevisionName(t *testing.T) {
	t.Parallel()
	k, _ := Lookup(LabelRevision, Label)
	for value, want := range map[string]bool{
		"canary": true, "1-30-3": true, "a": true, "": false, "-a": false, "a-": false, "A": false, "a.b": false,
	} {
		if got := k.Check(value) == nil; got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		kind KeyKind
		want []string
	}{
		{"sidecar.istio.io/proxyCpu", Annotation, []string{AnnotationProxyCPU}},
		{"sidecar.istio.io/proxyCUP", Annotation, []string{AnnotationProxyCPU}},
		{"sidecar.istio.io/interceptionMod", Annotation, []string{AnnotationInterceptionMode}},
		{"sidecar.istio.io/excludeInboundPorts", Annotation, []string{AnnotationExcludeInbound}},
		{"sidecar.istio.io/config", Annotation, []string{AnnotationProxyConfig}},
		{"sidecar.istio.io/injct", Label, []string{LabelInject}},
		{"sidecar.istio.io/injct", Annotation, []string{AnnotationInject}},
		{"ap", Label, []string{"app"}},
		{"abc", Label, nil},
		{"sidecar.istio.io/proxyMemoryy", Annotation, []string{AnnotationProxyMemory}},
		{"sidecar.istio.io/enableCoreDumps", Annotation, nil},
		{"sidecar.istio.io/statsInclusionSufixes", Annotation, []string{AnnotationStatsSuffixes}},
	} {
		got := Suggest(tt.name, tt.kind)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 2, 0},
		{"abc", "ABC", 2, 0},
		{"abc", "acb", 2, 1},
		{"abc", "ab", 2, 1},
		{"abc", "xabc", 2, 1},
		{"abc", "axc", 2, 1},
		{"ca", "abc", 3, 3}, // the restricted form: no edit inside a swap
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3},
		{"abcdef", "uvwxyz", 2, 3},
		{"a", "abcd", 2, 3},
	} {
		if got := Distance(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("%q %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a, tt.limit); got != tt.want {
			t.Errorf("%q %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
