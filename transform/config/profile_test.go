package config

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kube-inject/inject/policy"
)

func sampleProfile(t *testing.T) map[string][]byte {
	t.Helper()
	b, findings := Load(LoadOptions{
		Injection: &Source{"c", []byte(injectionText)}, Values: &Source{"v", []byte(valuesText)}, Mesh: &Source{"m", []byte(meshText)},
	})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return WriteProfile(b, About{IstioVersion: "1.30", KubeVersion: "1.31", Revision: "canary", Source: "ConfigMaps: of a cluster"})
}

func TestProfile(t *testing.T) {
	t.Parallel()
	files := sampleProfile(t)
	for name, data := range sampleProfile(t) {
		if !bytes.Equal(data, files[name]) {
			t.Errorf("%s differs from run to run", name)
		}
	}
	p, findings := ReadProfile("prod", files)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if p.IstioVersion != "1.30" || p.KubeVersion != "1.31" || p.Revision != "canary" || p.Origin != "ConfigMaps: of a cluster" || len(p.Hashes) != 3 {
		t.Errorf("got %+v", p)
	}
	b, findings := Load(LoadOptions{Embedded: builtIn(), Profile: p})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if b.Istio.String() != "1.30" || b.Istio.Reason != "the profile, prod" || b.Revision != "canary" || b.KubeVersion != "1.31" || b.Values.Origin("global", "hub").File != "prod/values.yaml" {
		t.Errorf("got %+v", b)
	}
	if d := cmp.Diff([]string{"injection config: prod/config.yaml", "values: prod/values.yaml", "mesh config: prod/mesh.yaml"}, b.Taken); d != "" {
		t.Error(d)
	}
	// A part of one's own takes the place of the profile's; values that are not complete go over its values.
	b, findings = Load(LoadOptions{Embedded: builtIn(), Profile: p, Values: &Source{"v", []byte("global: {hub: mine}")}, Mesh: &Source{"m", []byte("rootNamespace: x")}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	if b.Values.Text("global", "hub") != "mine" || b.Values.Text("global", "tag") != "1.29.4" || b.Mesh.Config.DefaultConfig.StatusPort != 15020 {
		t.Errorf("got %v", b.Values.Tree)
	}
}

func TestProfileProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(files map[string][]byte)
		want     string
		severity policy.Severity
	}{
		"edited":       {func(f map[string][]byte) { f[MeshFile] = append(f[MeshFile], "# x\n"...) }, "p/mesh.yaml: info: mesh.yaml was edited since the profile was made [W_CONFIG_EDITED]", policy.Info},
		"file gone":    {func(f map[string][]byte) { delete(f, ValuesFile) }, "p/profile.yaml:8:16: error: hashes.values.yaml: the profile names values.yaml, which is not there [E_CONFIG_MISSING]", policy.Error},
		"two values":   {func(f map[string][]byte) { f[ValuesJSON] = nil }, "p: error: the profile has both values.yaml and values.json [E_CONFIG_CHOICE]", policy.Error},
		"no profile":   {func(f map[string][]byte) { clear(f) }, "p: error: this folder is no profile: it has no profile.yaml [E_CONFIG_MISSING]", policy.Error},
		"no about":     {func(f map[string][]byte) { delete(f, ProfileFile) }, "p: warning: the profile has no profile.yaml [W_CONFIG_VALUE]", policy.Warning},
		"version":      {func(f map[string][]byte) { f[ProfileFile] = []byte("istioVersion: new\n") }, "p/profile.yaml:1:1: error: istioVersion: \"new\" is no Istio version [E_CONFIG_VERSION]", policy.Error},
		"unknown":      {func(f map[string][]byte) { f[ProfileFile] = []byte("istio: 1\n") }, "p/profile.yaml:1:8: warning: istio: there is no such field in a profile [W_CONFIG_UNKNOWN]", policy.Warning},
		"no text":      {func(f map[string][]byte) { f[ProfileFile] = []byte("source: []\n") }, "p/profile.yaml:1:9: error: source: a list where a text is needed [E_CONFIG_VALUE]", policy.Error},
		"syntax":       {func(f map[string][]byte) { f[ProfileFile] = []byte("a: [\n") }, "p/profile.yaml:2: error: the file is not valid YAML: did not find expected node content [E_CONFIG_SYNTAX]", policy.Error},
		"plain number": {func(f map[string][]byte) { f[ProfileFile] = []byte("istioVersion: 1.30\n") }, "", policy.Info},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(sampleProfile(t))
			c.change(files)
			p, findings := ReadProfile("p", files)
			if (p == nil) != (c.severity == policy.Error) {
				t.Errorf("profile %v", p)
			}
			if c.want == "" {
				if len(findings) > 0 || p.IstioVersion != "1.30" {
					t.Errorf("got %v, version %s", findings, p.IstioVersion)
				}
				return
			}
			if len(findings) != 1 || findings[0].Error() != c.want {
				t.Errorf("got  %v\nwant %s", findings, c.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b, findings := Load(LoadOptions{
		Embedded: builtIn(),
		Injection: &Source{"c", []byte("defaultTemplates: [sidcar]\naliases: {a: [x], sidecar: [sidecar]}\nneverInjectSelector: [{}, {matchLabels: {a: b}}]\n" +
			"alwaysInjectSelector: [{matchLabels: {a: b}}]\ntemplates: {sidecar: '{{ .ProxyImage }}{{ .ProxyInitImage }}', empty: ' '}\n")},
		Values: &Source{"v", []byte("global:\n  tag: 1.30\n  variant: 5\n  proxy: {holdApplicationUntilProxyStarts: 'true'}\n")}, IstioVersion: "1.30",
	})
	if b == nil || len(findings) > 0 {
		t.Fatal(findings)
	}
	var got []string
	for _, f := range Check(b) {
		got = append(got, f.Error())
		if f.Hint == "" {
			t.Errorf("no hint: %v", f)
		}
	}
	want := strings.Split(strings.TrimSpace(`
c:1:1: error: defaultTemplates: there is no template sidcar, which is run by default [E_CONFIG_MISSING]
c:1:1: warning: the version is taken as 1.30 (--istio-version), but the templates use .ProxyInitImage, which came with 1.31 [W_CONFIG_VERSION]
c:2:1: warning: aliases.sidecar: there is a template of the same name; the alias wins [W_CONFIG_VALUE]
c:2:1: warning: aliases.a: there is no template x, so that a pod that asks for this alias cannot be injected [W_CONFIG_VALUE]
c:3:23: warning: neverInjectSelector: an empty selector matches no pod [W_CONFIG_VALUE]
c:4:24: warning: alwaysInjectSelector: neverInjectSelector has a=b too and is asked first [W_CONFIG_VALUE]
c:5:72: warning: templates.empty: the template is empty [W_CONFIG_VALUE]
v:1:1: warning: global.hub: it is not set, so that the proxy has no proper image [W_CONFIG_VALUE]
v:2:3: warning: global.tag: the tag is the number 1.3, so that images end in :1.3 [W_CONFIG_VALUE]
v:3:3: warning: global.variant: the number 5 where the injector reads a text [W_CONFIG_VALUE]
v:4:11: warning: global.proxy.holdApplicationUntilProxyStarts: the text "true" where the injector reads true or false [W_CONFIG_VALUE]`), "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	b, _ = Load(LoadOptions{Embedded: builtIn()})
	if f := Check(b); len(f) > 0 {
		t.Errorf("nothing is wrong: %v", f)
	}
}
