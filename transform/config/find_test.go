package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	injectionText = `policy: enabled
templates:
  sidecar: |
    spec:
      containers:
      - name: istio-proxy
        image: "{{ .ProxyImage }}"

      {{- if .Values.global.proxy.privileged }}
      - name: other
      {{- end }}
`
	valuesText = `{
  "global": {
    "hub": "registry.example/istio",
    "tag": "1.29.4",
    "proxy": {"statusPort": 15020, "privileged": false}
  }
}
`
	meshText = `# the mesh
rootNamespace: istio-system
defaultConfig:
  statusPort: 15030
  proxyMetadata:
    A: b
`
)

// indent puts a text into a literal block below a key.
func indent(text string, n int) string {
	pad := strings.Repeat(" ", n)
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(pad)
		}
		b.WriteString(line)
	}
	return b.String()
}

func injectorMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: istio-system\ndata:\n  config: |-\n" +
		indent(injectionText, 4) + "  values: |-\n" + indent(valuesText, 4)
}

func meshMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: istio-system\ndata:\n  meshNetworks: 'networks: {}'\n  mesh: |-\n" +
		indent(meshText, 4)
}

// asJSON prints YAML documents as JSON, a List of them where there are several.
func asJSON(t *testing.T, docs ...string) string {
	t.Helper()
	var items []any
	for _, d := range docs {
		n, f := parse(newText(Source{Data: []byte(d)}))
		if f != nil {
			t.Fatal(f)
		}
		tr, f := treeOf(text{}, n)
		if f != nil {
			t.Fatal(f)
		}
		items = append(items, tr.root)
	}
	var v any = items[0]
	if len(items) > 1 {
		v = map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	}
	out, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestForms: each part in each form people have it in gives the same, and its values point to the lines they stand on.
func TestForms(t *testing.T) {
	t.Parallel()
	service := "apiVersion: v1\nkind: Service\nmetadata:\n  name: istiod\n"
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec:\n  description: |\n    kind: ConfigMap\n    - broken: [\n"
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.TrimLeft(indent(meshMap("istio"), 2), " ") + "- " + strings.TrimLeft(indent(injectorMap("istio-sidecar-injector"), 2), " ")
	stream := "---\n# Source: istiod\n" + service + "---\n" + meshMap("istio") + "---\n" + crd + "---\n" + injectorMap("istio-sidecar-injector") + "--- # end\n# nothing\n"
	withBOM := "\xef\xbb\xbf" + strings.ReplaceAll(stream, "\n", "\r\n")
	for name, file := range map[string]string{
		"stream": stream, "list": list, "crlf": withBOM,
		"json list":        asJSON(t, meshMap("istio"), injectorMap("istio-sidecar-injector")),
		"helm template":    "NAME: x\n---\n" + stream,
		"revision":         "---\n" + meshMap("istio-canary") + "---\n" + injectorMap("istio-sidecar-injector-canary"),
		"with an operator": stream + "---\napiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec:\n  meshConfig: {rootNamespace: other}\n  values: {global: {tag: x}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := &Source{Name: "all.yaml", Data: []byte(file)}
			for how, opts := range map[string]LoadOptions{
				"three flags": {Injection: src, Values: src, Mesh: src}, "from": {From: src},
			} {
				b, findings := Load(opts)
				if len(findings) > 0 {
					t.Fatalf("%s: %v", how, findings)
				}
				checkForm(t, b, file)
			}
		})
	}
	for name, opts := range map[string]LoadOptions{
		"plain": {Injection: &Source{"c", []byte(injectionText)}, Values: &Source{"v", []byte(valuesText)}, Mesh: &Source{"m", []byte(meshText)}},
		"maps": {
			Injection: &Source{"c", []byte(injectorMap("istio-sidecar-injector"))}, Values: &Source{"c", []byte(injectorMap("istio-sidecar-injector"))},
			Mesh: &Source{"m", []byte(meshMap("istio"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, findings := Load(opts)
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			checkParts(t, b)
			lineHas(t, string(opts.Injection.Data), b.Injection.Templates["sidecar"].At(7, 1).Line, "- name: other")
			lineHas(t, string(opts.Values.Data), b.Values.Origin("global", "tag").Line, "1.29.4")
			lineHas(t, string(opts.Mesh.Data), b.Mesh.Origin("defaultConfig", "statusPort").Line, "statusPort")
		})
	}
}

func checkParts(t *testing.T, b *Bundle) {
	t.Helper()
	if got := b.Injection.Templates["sidecar"].Text; !strings.HasPrefix(got, "spec:\n  containers:\n") || !strings.Contains(got, "\n  {{- end }}") {
		t.Errorf("template %q", got)
	}
	if b.Values.Text("global", "hub") != "registry.example/istio" {
		t.Errorf("values %v", b.Values.Tree)
	}
	if c := b.Mesh.Config.DefaultConfig; c.StatusPort != 15030 || c.ProxyMetadata["A"] != "b" {
		t.Errorf("mesh %v", b.Mesh.Config)
	}
	if b.Istio.String() != "1.29" {
		t.Errorf("version %v", b.Istio)
	}
}

func checkForm(t *testing.T, b *Bundle, file string) {
	t.Helper()
	checkParts(t, b)
	if strings.HasPrefix(file, "{") {
		// A JSON string has the whole text on one line.
		lineHas(t, file, b.Injection.Templates["sidecar"].At(7, 1).Line, `"config":`)
		lineHas(t, file, b.Mesh.Origin("defaultConfig", "statusPort").Line, `"mesh":`)
		return
	}
	at := b.Injection.Templates["sidecar"].At(7, 3)
	lineHas(t, file, at.Line, "- name: other")
	line := strings.Split(file, "\n")[at.Line-1]
	if got := line[at.Column-1:]; !strings.HasPrefix(got, "- name: other") {
		t.Errorf("column %d is at %q", at.Column, got)
	}
	lineHas(t, file, b.Values.Origin("global", "tag").Line, "1.29.4")
	lineHas(t, file, b.Mesh.Origin("defaultConfig", "statusPort").Line, "statusPort")
	lineHas(t, file, b.Mesh.Source.Line, "rootNamespace")
}

func lineHas(t *testing.T, file string, line int, want string) {
	t.Helper()
	lines := strings.Split(file, "\n")
	if line < 1 || line > len(lines) || !strings.Contains(lines[line-1], want) {
		t.Errorf("line %d does not have %q", line, want)
	}
}

// TestTaken: the report says what came from where.
func TestTaken(t *testing.T) {
	t.Parallel()
	all := &Source{"all.yaml", []byte(meshMap("istio") + "---\n" + injectorMap("istio-sidecar-injector"))}
	b, findings := Load(LoadOptions{From: all})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	want := []string{
		"injection config: all.yaml, data.config of ConfigMap istio-system/istio-sidecar-injector",
		"values: all.yaml, data.values of ConfigMap istio-system/istio-sidecar-injector",
		"mesh config: all.yaml, data.mesh of ConfigMap istio-system/istio",
	}
	if d := cmp.Diff(want, b.Taken); d != "" {
		t.Error(d)
	}
}

// TestWrongFile: every mistake of giving a file to the wrong flag says what the file looks like and which flag takes it.
func TestWrongFile(t *testing.T) {
	t.Parallel()
	const (
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
		operator   = "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nmetadata: {name: io}\nspec:\n  profile: default\n"
		helmValues = "global:\n  hub: x\npilot:\n  env: {}\n"
		profile    = "istioVersion: '1.30'\nhashes: {}\n"
	)
	for name, c := range map[string]struct {
		w        which
		in       string
		code     string
		says     string
		hint     string
		line     int
		revision string
	}{
		"values as config":              {partInjection, helmValues, CodeKind, "looks like Helm values, not like an injection config", "--values-file", 1, ""},
		"json values as config":         {partInjection, valuesText, CodeKind, "looks like Helm values", "--values-file", 1, ""},
		"mesh as config":                {partInjection, meshText, CodeKind, "looks like a mesh config", "--mesh-config-file", 1, ""},
		"manifest as config":            {partInjection, deployment, CodeKind, "a Kubernetes manifest (apps/v1 Deployment)", "-f", 1, ""},
		"profile as config":             {partInjection, profile, CodeKind, "profile.yaml", "--profile", 1, ""},
		"text as config":                {partInjection, "hello\n", CodeKind, `the text "hello"`, "--inject-config-file", 1, ""},
		"list as config":                {partInjection, "- a\n- b\n", CodeKind, "a list", "--inject-config-file", 1, ""},
		"other keys as config":          {partInjection, "foo: 1\nbar: 2\n", CodeKind, "a mapping with the keys foo, bar", "--inject-config-file", 1, ""},
		"nothing as config":             {partInjection, "# only this\n", CodeMissing, "empty", "ConfigMap istio-sidecar-injector", 1, ""},
		"mesh map as config":            {partInjection, meshMap("istio"), CodeKind, "ConfigMap istio-system/istio holds no injection config, but a mesh config", "--mesh-config-file; all of it is dumped by: kubectl", 1, ""},
		"operator as config":            {partInjection, operator, CodeKind, "IstioOperator io holds no injection config", "ConfigMap", 1, ""},
		"stream of manifests as config": {partInjection, deployment + "---\n" + deployment, CodeKind, "a stream of 2 documents (Deployment) without an injection config", "ConfigMap", 0, ""},
		"injector without config":       {partInjection, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio-sidecar-injector}\ndata: {values: '{}'}\n", CodeMissing, "no data key config", "Take the ConfigMap", 1, ""},
		"injector with another config":  {partInjection, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio-sidecar-injector}\ndata:\n  config: |\n    rootNamespace: x\n", CodeKind, "is no injection config", "Dump", 6, ""},
		"config as values":              {partValues, injectionText, CodeKind, "looks like an injection config, not like values", "--inject-config-file", 1, ""},
		"mesh as values":                {partValues, meshText, CodeKind, "looks like a mesh config", "--mesh-config-file", 1, ""},
		"manifest as values":            {partValues, deployment, CodeKind, "Kubernetes manifest", "-f", 1, ""},
		"mesh map as values":            {partValues, meshMap("istio"), CodeKind, "holds no values, but a mesh config", "--mesh-config-file", 1, ""},
		"a list as values":              {partValues, "[1, 2]", CodeKind, "a list", "--values-file", 1, ""},
		"values as mesh":                {partMesh, helmValues, CodeKind, "looks like Helm values, not like a mesh config", "--values-file", 1, ""},
		"config as mesh":                {partMesh, injectionText, CodeKind, "looks like an injection config", "--inject-config-file", 1, ""},
		"injector map as mesh":          {partMesh, injectorMap("istio-sidecar-injector"), CodeKind, "holds no mesh config, but an injection config", "--inject-config-file", 1, ""},
		"proxy config as mesh":          {partMesh, "concurrency: 2\nproxyMetadata: {A: b}\n", CodeKind, "a ProxyConfig, which belongs under defaultConfig", "--mesh-config-file", 1, ""},
		"networks as mesh":              {partMesh, "networks:\n  a: {}\n", CodeKind, "mesh networks", "--mesh-config-file", 1, ""},
		"map without mesh":              {partMesh, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio}\ndata: {meshNetworks: ''}\n", CodeMissing, "no data key mesh", "", 1, ""},
		"two without a choice":          {partInjection, injectorMap("istio-sidecar-injector") + "---\n" + injectorMap("istio-sidecar-injector-canary"), CodeChoice, "2 objects hold an injection config: ConfigMap istio-system/istio-sidecar-injector (f:1), ConfigMap istio-system/istio-sidecar-injector-canary (f:", "--revision", 28, ""},
		"a revision that is not there":  {partInjection, injectorMap("istio-sidecar-injector-a") + "---\n" + injectorMap("istio-sidecar-injector-b"), CodeMissing, "no injection config for revision c here; there is ConfigMap istio-system/istio-sidecar-injector-a", "--revision", 1, "c"},
		"another revision":              {partMesh, meshMap("istio-a"), CodeMissing, "no mesh config for revision b", "--revision", 1, "b"},
		"duplicate key":                 {partValues, "global:\n  a: 1\n  b: 2\n  a: 3\n", CodeSyntax, `"a" stands twice in this mapping; the first is on line 2`, "Remove one", 4, ""},
		"duplicate key in JSON":         {partValues, "{\"a\": 1,\n \"b\": {\"c\": 1,\n \"c\": 2}}", CodeSyntax, `"c" stands twice`, "Remove one", 3, ""},
		"duplicate key inside a map":    {partMesh, strings.Replace(meshMap("istio"), "    rootNamespace: istio-system\n", "    rootNamespace: istio-system\n    rootNamespace: b\n", 1), CodeSyntax, "stands twice", "", 11, ""},
		"broken yaml":                   {partMesh, "a: b\nrootNamespace: [x\nc: d\n", CodeSyntax, "not valid YAML", "Correct", 2, ""},
		"broken config":                 {partInjection, "policy: [enabled\n", CodeSyntax, "not valid YAML", "Correct", 2, ""},
		"broken inside a map":           {partMesh, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio}\ndata:\n  mesh: |\n    a: b\n    c: [\n    d: e\n", CodeSyntax, "data.mesh is not valid YAML", "", 7, ""},
		"tabs":                          {partMesh, "a:\n\tb: c\n", CodeSyntax, "cannot start any token", "spaces", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p problems
			f := scan(Source{"f", []byte(c.in)}).find(c.w, c.revision, &p)
			if f != nil || len(p) != 1 {
				t.Fatalf("found %v, findings %v", f, p)
			}
			got := p[0]
			if got.Code != c.code || !strings.Contains(got.Message, c.says) || !strings.Contains(got.Hint, c.hint) {
				t.Errorf("got %v\nhint: %s", got, got.Hint)
			}
			if got.Position.Line != c.line || got.Position.File != "f" {
				t.Errorf("position %v, want line %d", got.Position, c.line)
			}
		})
	}
}

// TestBareTemplates: a file that is the text of one template.
func TestBareTemplates(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"a pod's fields":        "spec:\n  containers:\n  - name: istio-proxy\n    image: x\n",
		"no yaml":               "{{- define \"x\" }}\nspec:\n  {{ if .Values.a }}\n  containers: []\n{{ end }}{{ end }}\nmetadata: [\n",
		"actions first":         "{{ $a := 1 }}\nmetadata:\n  labels: {}\n",
		"a pod with actions":    "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations: {a: \"{{ .Values.x }}\"}\n",
		"yaml with other keys":  "foo: \"{{ .Values.x }}\"\n",
		"with document markers": "{{ if true }}\nspec: {}\n{{ end }}\n---\nmetadata: {}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, findings := Load(LoadOptions{Injection: &Source{"t.yaml", []byte(in)}, Values: &Source{"v", []byte(valuesText)}})
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			c := b.Injection
			if !c.Bare || c.Policy != PolicyEnabled || c.Templates["sidecar"].Text != in || c.DefaultTemplates[0] != "sidecar" {
				t.Errorf("got %+v", c)
			}
			if at := c.Templates["sidecar"].At(2, 3).String(); at != "t.yaml:2:3" {
				t.Errorf("line 2 is at %s", at)
			}
		})
	}
}

// TestRevisions: the end of a ConfigMap's name chooses.
func TestRevisions(t *testing.T) {
	t.Parallel()
	both := strings.Replace(injectorMap("istio-sidecar-injector"), "1.29.4", "1.28.0", 1) + "---\n" + injectorMap("istio-sidecar-injector-canary")
	for revision, want := range map[string]string{"default": "1.28.0", "canary": "1.29.4"} {
		b, findings := Load(LoadOptions{From: &Source{"f", []byte(both)}, Revision: revision})
		if len(findings) != 1 || !strings.Contains(findings[0].Message, "no mesh config in it") {
			t.Fatal(findings)
		}
		if got := b.Values.Text("global", "tag"); got != want {
			t.Errorf("%s: tag %s, want %s", revision, got, want)
		}
		if b.Revision != map[string]string{"default": "", "canary": "canary"}[revision] {
			t.Errorf("revision %q", b.Revision)
		}
	}
	// The only one there is taken, with a word where the names do not say the same.
	b, findings := Load(LoadOptions{From: &Source{"f", []byte(injectorMap("istio-sidecar-injector"))}, Revision: "blue"})
	if b == nil || len(findings) != 2 || findings[1].Code != CodeSuspicious {
		t.Errorf("got %v", findings)
	}
	b, findings = Load(LoadOptions{From: &Source{"f", []byte(injectorMap("istio-sidecar-injector-blue"))}})
	if b == nil || len(findings) != 1 || b.Revision != "blue" {
		t.Errorf("got %v", findings)
	}
}
