package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

// builtIn stands in for the embedded profile.
func builtIn() Embedded {
	return Embedded{
		Injection:    Source{"embedded config.yaml", []byte("templates:\n  sidecar: |\n    {{ .Values.global.proxy.logLevel }}{{ .Values.global.proxy.resources }}\n")},
		Values:       Source{"embedded values.yaml", []byte("global:\n  hub: h\n  tag: 1.30.3\n  proxy:\n    statusPort: 15020\n    logLevel: warning\n    resources: {limits: {cpu: 2000m}, requests: {cpu: 100m}}\nrevision: ''\n")},
		IstioVersion: "1.30",
	}
}

func TestNothingGiven(t *testing.T) {
	t.Parallel()
	b, findings := Load(LoadOptions{Embedded: builtIn()})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if !b.EmbeddedTemplates || b.Mesh.Given || b.Istio.String() != "1.30" || b.Istio.Reason != "the embedded profile" || b.Istio.Engine != Modern {
		t.Errorf("got %+v", b)
	}
	want := []string{"injection config: embedded profile (Istio 1.30)", "values: embedded profile (Istio 1.30)", "mesh config: defaults"}
	if d := cmp.Diff(want, b.Taken); d != "" {
		t.Error(d)
	}
}

// TestValuesForms: values as people keep them, over the embedded defaults or as they are.
func TestValuesForms(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"helm":               "global:\n  tag: x\n  proxy:\n    resources: {limits: null}\n    logLevel: debug\nmeshConfig: {rootNamespace: r}\n",
		"helm get values":    "USER-SUPPLIED VALUES:\nglobal:\n  tag: x\n  proxy:\n    resources: {limits: null}\n    logLevel: debug\nmeshConfig: {rootNamespace: r}\n",
		"json":               `{"global": {"tag": "x", "proxy": {"resources": {"limits": null}, "logLevel": "debug"}}, "meshConfig": {"rootNamespace": "r"}}`,
		"operator":           "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec:\n  tag: x\n  meshConfig: {rootNamespace: r}\n  values:\n    global: {proxy: {logLevel: debug, resources: {limits: null}}}\n",
		"operator in stream": "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec:\n  values:\n    global: {tag: x, proxy: {logLevel: debug, resources: {limits: null}}}\n    meshConfig: {rootNamespace: r}\n",
		"sail":               "apiVersion: sailoperator.io/v1\nkind: Istio\nspec:\n  values:\n    global: {tag: x, proxy: {logLevel: debug, resources: {limits: null}}}\n    meshConfig: {rootNamespace: r}\n",
		"old chart":          "_internal_defaults_do_not_set:\n  global: {tag: y, proxy: {logLevel: debug, resources: {limits: null}}}\n  meshConfig: {rootNamespace: r}\nglobal: {tag: x}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, findings := Load(LoadOptions{Embedded: builtIn(), Values: &Source{"v", []byte(in)}})
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			want := map[string]any{"hub": "h", "tag": "x", "proxy": map[string]any{
				"statusPort": 15020.0, "logLevel": "debug", "resources": map[string]any{"requests": map[string]any{"cpu": "100m"}},
			}}
			if d := cmp.Diff(want, b.Values.Tree["global"]); d != "" {
				t.Error(d)
			}
			if b.Values.Origin("global", "hub").File != "embedded values.yaml" || b.Values.Origin("global", "proxy", "logLevel").File != "v" {
				t.Errorf("origins %v %v", b.Values.Origin("global", "hub"), b.Values.Origin("global", "proxy", "logLevel"))
			}
			if name != "old chart" && b.Mesh.Config.RootNamespace != "r" {
				t.Errorf("the mesh config of the values is not read: %v", b.Taken)
			}
			if !strings.HasSuffix(b.Taken[1], ", laid over the embedded values") {
				t.Errorf("taken %v", b.Taken)
			}
		})
	}
	own := &Source{"c", []byte("templates: {sidecar: x}")}
	b, findings := Load(LoadOptions{Embedded: builtIn(), Injection: own, Values: &Source{"v", []byte("global: {tag: x}\n")}})
	if len(findings) > 0 || len(b.Values.Tree["global"].(map[string]any)) != 1 {
		t.Errorf("with templates of one's own: %v %v", findings, b)
	}
	b, findings = Load(LoadOptions{Embedded: builtIn(), Values: &Source{"v", []byte("global: {tag: x, proxy: {statusPort: 1}}\n")}})
	if len(findings) > 0 || b.Values.Text("global", "hub") != "" {
		t.Errorf("complete values: %v %v", findings, b)
	}
	b, findings = Load(LoadOptions{Embedded: builtIn(), Values: &Source{"v", nil}})
	if len(findings) != 1 || findings[0].Severity != policy.Warning || b.Values.Text("global", "hub") != "h" {
		t.Errorf("empty values: %v %v", findings, b)
	}
	_, findings = Load(LoadOptions{Embedded: builtIn(), Injection: own})
	if len(findings) != 1 || findings[0].Code != CodeSuspicious {
		t.Errorf("own templates with the embedded values: %v", findings)
	}
}

// TestValuesScalars: numbers are float64, YAML 1.1 booleans are booleans, as in the mesh.
func TestValuesScalars(t *testing.T) {
	t.Parallel()
	const in = "a: 1\nb: 1000000\nc: 1.5\nd: yes\ne: 'yes'\nf: 0x10\ng: 0o17\nh: 017\ni: 2024-01-02\nj: ~\nk: 1_000\nl: -3\nm: 1e3\nn: \"1\"\no: .5\np: 08\nq: !!str 1\nr: off\ns: True\nt: 0.10\nu: 18446744073709551615\n" +
		"base: &b {x: 1, y: 2}\nmerged:\n  <<: *b\n  y: 3\nboth:\n  <<: [*b, {z: 4, x: 9}]\nalias: *b\n"
	b, findings := Load(LoadOptions{Embedded: builtIn(), Injection: &Source{"c", []byte("templates: {a: b}")}, Values: &Source{"v", []byte(in)}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	x, y := 1.0, 2.0
	want := map[string]any{
		"a": 1.0, "b": 1e6, "c": 1.5, "d": true, "e": "yes", "f": 16.0, "g": 15.0, "h": 15.0, "i": "2024-01-02", "j": nil, "k": 1000.0,
		"l": -3.0, "m": 1000.0, "n": "1", "o": .5, "p": 8.0, "q": "1", "r": false, "s": true, "t": .1, "u": 18446744073709551615.0,
		"base": map[string]any{"x": x, "y": y}, "merged": map[string]any{"x": x, "y": 3.0},
		"both": map[string]any{"x": x, "y": y, "z": 4.0}, "alias": map[string]any{"x": x, "y": y},
	}
	if d := cmp.Diff(want, b.Values.Tree); d != "" {
		t.Error(d)
	}
	if got := b.Values.Origin("merged", "x").String(); got != "v:22:11" {
		t.Errorf("origin of a merged key %s", got)
	}
	b.Values.Copy()["alias"].(map[string]any)["x"] = "changed"
	if d := cmp.Diff(want, b.Values.Tree); d != "" {
		t.Errorf("Copy shares:\n%s", d)
	}
}

// TestAliasBomb: a document that unfolds without end is refused, soon.
func TestAliasBomb(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	in.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		n := string(rune('a'+i)) + "1"
		in.WriteString(n + ": &" + n + " [")
		for range 10 {
			prev := "a0"
			if i > 0 {
				prev = string(rune('a'+i-1)) + "1"
			}
			in.WriteString("*" + prev + ", ")
		}
		in.WriteString("]\n")
	}
	_, findings := Load(LoadOptions{Embedded: builtIn(), Values: &Source{"v", []byte(in.String())}})
	if len(findings) != 1 || findings[0].Code != CodeSyntax {
		t.Errorf("got %v", findings)
	}
}

// TestSetsOverFiles: flags override files, and what no template reads is named.
func TestSetsOverFiles(t *testing.T) {
	t.Parallel()
	b, findings := Load(LoadOptions{
		Embedded: builtIn(),
		Set:      []Set{{Text: "global.proxy.logLevel=debug,global.tag=1.29.1"}, {Kind: SetJSON, Text: `global.proxy.resources={"limits":{"cpu":1}}`}, {Kind: SetString, Text: "global.proxy.logLevl=x"}, {Text: "proxy.logLevel=y"}, {Text: "foo=bar"}},
		SetMesh:  []Set{{Text: "defaultConfig.proxyMetadata.A=1,enablePrometheusMerge=false,defaultConfig.drainDuration=50s"}, {Text: "nope=1"}},
	})
	if b == nil {
		t.Fatal(findings)
	}
	var got []string
	for _, f := range findings {
		got = append(got, f.Error()+" | "+f.Hint)
	}
	want := []string{
		"--set foo=bar: warning: foo: setting it changes nothing: no template reads it [W_CONFIG_UNKNOWN] | No template of the injection config names it.",
		"--set proxy.logLevel=y: warning: proxy.logLevel: setting it changes nothing: no template reads it [W_CONFIG_UNKNOWN] | Did you mean global.proxy.logLevel?",
		"--set-mesh nope=1: warning: nope: there is no such field in the mesh config [W_CONFIG_UNKNOWN] | It is left out, as the mesh does; remove it or correct its name.",
		"--set-string global.proxy.logLevl=x: warning: global.proxy.logLevl: setting it changes nothing: no template reads it [W_CONFIG_UNKNOWN] | Did you mean global.proxy.logLevel?",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b.Values.Text("global", "proxy", "logLevel") != "debug" || b.Istio.String() != "1.30" {
		t.Errorf("values %v, version %v", b.Values.Tree, b.Istio)
	}
	if c := b.Mesh.Config; c.DefaultConfig.ProxyMetadata["A"] != "1" || c.EnablePrometheusMerge.GetValue() || c.DefaultConfig.DrainDuration.Seconds != 50 {
		t.Errorf("mesh %v", c)
	}
	_, findings = Load(LoadOptions{Embedded: builtIn(), SetMesh: []Set{{Text: "defaultConfig.statusPort=0"}}, Set: []Set{{Text: "a"}}})
	if len(findings) != 2 || findings[0].Code != CodeSet || findings[1].Code != CodeValue || findings[1].Position.File != "--set-mesh defaultConfig.statusPort=0" {
		t.Errorf("got %v", findings)
	}
}

// TestEverythingReported: problems of all three parts come in one run.
func TestEverythingReported(t *testing.T) {
	t.Parallel()
	b, findings := Load(LoadOptions{
		Embedded: builtIn(), Injection: &Source{"c", []byte("policy: on\ntemplates: {a: b}\n")}, Values: &Source{"v", []byte("a: 1\na: 2\n")},
		Mesh: &Source{"m", []byte("enableTracing: maybe\n")},
	})
	var files []string
	for _, f := range findings {
		files = append(files, f.Position.String())
	}
	if d := cmp.Diff([]string{"c:1:9", "m:1:1", "v:2:1"}, files); b != nil || d != "" {
		t.Errorf("%v\n%s", findings, d)
	}
}
