package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1.30": "1.30", "1.30.3": "1.30", "v1.30.3": "1.30", "1.30.3-distroless": "1.30", "1.31.0-rc.0": "1.31", "1.31-alpha.abc": "1.31",
		"1.6.14": "1.6", " 1.7 ": "1.7", "1.30.3+build": "1.30",
		"latest": "", "": "", "1": "", "1.x": "", "1.30.3_x": "", "release-1.30": "", "1.30 3": "", "1.30.3.4.5/x": "",
	} {
		v, ok := ParseVersion(in)
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("%q: %v %v, want %q", in, v, ok, want)
		}
	}
}

// TestVersionOfTheMeshesOwnConfigs: what the templates call tells each minor version's config, without values.
func TestVersionOfTheMeshesOwnConfigs(t *testing.T) {
	t.Parallel()
	// What tells 1.25 from 1.24 and so on is one name each.
	want := map[string]string{
		"istio-1.24": "1.24", "istio-1.25": "1.25", "istio-1.26": "1.26", "istio-1.27": "1.27", "istio-1.28": "1.28",
		"istio-1.29": "1.29", "istio-1.30": "1.30", "istio-1.31": "1.31",
	}
	for _, dir := range conformance(t) {
		files, _ := filepath.Glob(filepath.Join(dir, "_shared", "config-*"))
		for _, file := range files {
			src := sourceOf(t, file)
			if want[filepath.Base(dir)] == "" || len(src.Data) < 90_000 {
				continue
			}
			var p problems
			c := readInjection(scan(*src).find(partInjection, "", &p), &p)
			if v, why := templateVersion(c); v.String() != want[filepath.Base(dir)] {
				t.Errorf("%s/%s: %s (%s)", filepath.Base(dir), filepath.Base(file), v, why)
			}
		}
	}
}

// TestDetect: which of the sources of a version counts.
func TestDetect(t *testing.T) {
	t.Parallel()
	const modern, newer = "templates: {sidecar: '{{ .NativeSidecars }}'}", "templates: {sidecar: '{{ .ProxyInitImage }}'}"
	const plain, old, older = "templates: {sidecar: 'spec: {}'}", "template: '{{ .ProxyConfig.Concurrency.GetValue }}'", "template: '{{ if gt .ProxyConfig.Concurrency 0 }}{{ end }}'"
	for name, c := range map[string]struct {
		config, values, flag string
		version, reason      string
		engine               Engine
		code                 string
	}{
		"flag":                      {modern, "global: {tag: 1.28.0}", "1.25", "1.25", "--istio-version", Modern, ""},
		"tag":                       {modern, "global: {tag: 1.28.0}", "", "1.28", "global.tag 1.28.0 in v:1:10", Modern, ""},
		"tag is no version":         {modern, "global: {tag: latest}", "", "1.27", "the templates use .NativeSidecars", Modern, ""},
		"tag is a number":           {newer, "global: {tag: 1.30}", "", "1.31", "the templates use .ProxyInitImage", Modern, ""},
		"nothing tells":             {plain, "{}", "", "1.30", "assumed: neither global.tag nor the templates tell one", Modern, ""},
		"tag is newer than known":   {modern, "global: {tag: 9.9.9}", "", "1.27", "the templates use .NativeSidecars (global.tag 9.9.9 in v:1:10 is newer than any version known here)", Modern, ""},
		"newer, templates mute":     {plain, "global: {tag: 9.9.9}", "", "9.9", "global.tag 9.9.9 in v:1:10", Modern, ""},
		"bad flag":                  {modern, "{}", "one", "", "", Modern, CodeVersion},
		"legacy by what it calls":   {old, "{}", "", "1.7", "the legacy template has Concurrency.GetValue", Legacy17, ""},
		"legacy, older":             {older, "{}", "", "1.6", "the legacy template takes .ProxyConfig.Concurrency as a number", Legacy16, ""},
		"legacy by tag":             {old, "global: {tag: 1.6.14}", "", "1.6", "global.tag 1.6.14 in v:1:10", Legacy16, ""},
		"legacy by flag":            {older, "global: {tag: 1.6.14}", "1.7", "1.7", "--istio-version", Legacy17, ""},
		"legacy, nothing tells":     {"template: 'containers: []'", "{}", "", "1.7", "assumed: neither global.tag nor the templates tell one", Legacy17, ""},
		"flat format of 1.8":        {old, "global: {tag: 1.8.1}", "", "1.8", "global.tag 1.8.1 in v:1:10", Legacy17, ""},
		"legacy config, modern tag": {older, "global: {tag: 1.30.1}", "", "1.6", "the legacy template takes .ProxyConfig.Concurrency as a number", Legacy16, CodeVersionGuess},
		"modern config, old tag":    {modern, "global: {tag: 1.7.8}", "", "1.27", "the templates use .NativeSidecars", Modern, CodeVersionGuess},
		"legacy config, flag 1.30":  {old, "{}", "1.30", "", "", Modern, CodeVersion},
		"modern config, flag 1.7":   {modern, "{}", "1.7", "", "", Modern, CodeVersion},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, findings := Load(LoadOptions{
				Embedded: builtIn(), IstioVersion: c.flag, Injection: &Source{"c", []byte(c.config)}, Values: &Source{"v", []byte(c.values)},
			})
			if c.code != "" {
				if len(findings) != 1 || findings[0].Code != c.code {
					t.Fatalf("want %s, got %v", c.code, findings)
				}
			} else if len(findings) > 0 {
				t.Fatal(findings)
			}
			if (b == nil) != (c.version == "") {
				t.Fatalf("bundle %v", b)
			}
			if b == nil {
				return
			}
			if b.Istio.String() != c.version || b.Istio.Reason != c.reason || b.Istio.Engine != c.engine {
				t.Errorf("got %s, %q, %s", b.Istio, b.Istio.Reason, b.Istio.Engine)
			}
			if b.Mesh.engine != c.engine {
				t.Errorf("the mesh defaults are those of %s", b.Mesh.engine)
			}
		})
	}
}

// TestBehaviours: the row of each version, and what changes with it.
func TestBehaviours(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"1.6": "1.6", "1.7": "1.7", "1.12": "1.24", "1.24": "1.24", "1.25": "1.25", "1.26": "1.25", "1.27": "1.27", "1.30": "1.27", "1.31": "1.31", "1.40": "1.31", "2.0": "1.31",
	} {
		v, _ := ParseVersion(version)
		if got := BehaviourOf(v).Since; got != want {
			t.Errorf("%s: row %s, want %s", version, got, want)
		}
	}
	var on []string
	for _, b := range Behaviours() {
		on = append(on, string(b.InjectValues)+flags(b))
	}
	want := "legacy------ legacy+----- loose+----- loose++---- strict+++--- strict++++++"
	if got := strings.Join(on, " "); got != strings.ReplaceAll(want, "  ", " ") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func flags(b Behaviour) string {
	var s strings.Builder
	for _, f := range []bool{b.StartupProbes, b.LifecycleHandlers, b.NativeByDefault, b.ProxyInitImage, b.ScrapeTargets && b.PrometheusPortChecks, b.SecurePort} {
		s.WriteByte(map[bool]byte{true: '+', false: '-'}[f])
	}
	return s.String()
}

func TestNewerVersion(t *testing.T) {
	t.Parallel()
	for flag, warns := range map[string]bool{"1.31": false, "1.31.2": false, "1.32": true, "2.0": true, "1.6": false} {
		var p problems
		versionSources{flag: flag}.stated(&p)
		if got := len(p) > 0; got != warns {
			t.Errorf("--istio-version %s: warning %v", flag, p)
		}
	}
}
