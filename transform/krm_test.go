package transform

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/typed"
)

const krmConfig = `policy: enabled
defaultTemplates: [sidecar]
templates:
  sidecar: |
    metadata:
      annotations:
        seen: "{{ range $k, $v := .ObjectMeta.Annotations }}{{ $k }} {{ end }}"
    spec:
      containers:
      - name: istio-proxy
        image: "{{ .Values.global.hub }}/proxyv2:{{ .Values.global.tag }}"
`

// memory is the files of a functionConfig.
type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) {
	if text, ok := m[name]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) ReadFolder(string) (map[string][]byte, []policy.Finding) {
	return nil, []policy.Finding{{Code: "E_IO", Severity: policy.Error, Message: "no folder"}}
}

func mapOf(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func krmPod(name string, annotations map[string]any) map[string]any {
	meta := mapOf("name", name)
	if annotations != nil {
		meta["annotations"] = annotations
	}
	return mapOf("apiVersion", "v1", "kind", "Pod", "metadata", meta,
		"spec", mapOf("containers", []any{mapOf("name", "web", "image", "x")}))
}

func krmSpec(pairs ...any) map[string]any {
	spec := mapOf("config", mapOf("inline", krmConfig), "values", mapOf("inline", `{"global":{"hub":"h","tag":"1.30.3"}}`), "istioVersion", "1.30")
	for k, v := range mapOf(pairs...) {
		spec[k] = v
	}
	return mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind, "metadata", mapOf("name", "f"), "spec", spec)
}

// krm runs the function and gives the parsed answer.
func krm(t *testing.T, config any, items ...any) (map[string]any, FunctionOutput) {
	t.Helper()
	list := mapOf("apiVersion", "config.kubernetes.io/v1", "kind", "ResourceList", "items", items)
	if config != nil {
		list["functionConfig"] = config
	}
	text, err := yaml.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	out := Function{Files: memory{"v.yaml": "global: {hub: file, tag: 1.30.3}"}}.Run("-", text)
	var n yaml.Node
	if err := yaml.Unmarshal(out.Raw, &n); err != nil {
		t.Fatalf("%v\n%s", err, out.Raw)
	}
	answer, _ := typed.Generic(n.Content[0]).(map[string]any)
	return answer, out
}

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func messages(fs []policy.Finding) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Severity.String()+" "+f.Resource.Kind+"/"+f.Resource.Name+" "+f.Field+" "+ResultMessage(f)+" ["+f.Code+"]")
	}
	return strings.Join(out, "\n")
}

func TestFunctionInjects(t *testing.T) {
	t.Parallel()
	transport := mapOf("internal.config.kubernetes.io/path", "a/b.yaml", "internal.config.kubernetes.io/index", "2",
		"config.k8s.io/id", "4", "postrenderer.helm.sh/postrender-filename", "x", "own", "kept")
	answer, out := krm(t, krmSpec(), krmPod("one", transport), mapOf("apiVersion", "v1", "kind", "Service", "metadata", mapOf("name", "s")))
	if out.Status != Done {
		t.Fatal(messages(out.Findings))
	}
	if got := at(answer, "items", 0, "spec", "containers", 1, "image"); got != "h/proxyv2:1.30.3" {
		t.Errorf("image is %v", got)
	}
	annotations, _ := at(answer, "items", 0, "metadata", "annotations").(map[string]any)
	for k, v := range transport {
		if annotations[k] != v {
			t.Errorf("annotation %s is %v, was %v", k, annotations[k], v)
		}
	}
	if got := annotations["seen"]; got != "own " {
		t.Errorf("the template saw the annotations %q", got)
	}
	want := []any{mapOf("message", "sidecar injected", "severity", "info",
		"resourceRef", mapOf("apiVersion", "v1", "kind", "Pod", "name", "one"),
		"file", mapOf("path", "a/b.yaml", "index", int64(2)), "tags", mapOf("rule", "I_INJECTED"))}
	if d := cmp.Diff(want, answer["results"]); d != "" {
		t.Errorf("results (-want +got)\n%s", d)
	}
}

func TestFunctionKeepsBytes(t *testing.T) {
	t.Parallel()
	text := `apiVersion: config.kubernetes.io/v1beta1
kind: ResourceList
items:
- apiVersion: v1 # a comment
  kind: Pod
  metadata: {name:   one}
  spec:
    containers:
    - name: 'web'   # another
      image: i
      args: [on]
- kind: Other
  apiVersion: example.org/v1
functionConfig: {}
`
	out := Function{}.Run("-", []byte(text))
	if out.Status != Done {
		t.Fatal(messages(out.Findings))
	}
	for _, keep := range []string{
		"config.kubernetes.io/v1beta1", "apiVersion: v1 # a comment", "- name: 'web'   # another", "args: [on]",
		"- kind: Other\n  apiVersion: example.org/v1\nfunctionConfig: {}\n",
	} {
		if !strings.Contains(string(out.Raw), keep) {
			t.Errorf("lost %q:\n%s", keep, out.Raw)
		}
	}
}

func TestFunctionConfigErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config any
		want   string
	}{
		"misspelt":          {krmSpec("reversion", "x"), "error Injector/f spec.reversion unknown field spec.reversion; did you mean spec.revision? [E_FUNCTION]"},
		"outside spec":      {mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind, "sepc", mapOf()), "unknown field sepc; did you mean spec?"},
		"in a part":         {krmSpec("mesh", mapOf("inlin", "x")), "did you mean spec.mesh.inline?"},
		"both ways":         {krmSpec("mesh", mapOf("inline", "x", "path", "y")), "spec.mesh has inline and path"},
		"no file":           {krmSpec("mesh", mapOf("path", "m.yaml")), "error Injector/f spec.mesh.path cannot read the file"},
		"mode":              {krmSpec("mode", "Check"), `spec.mode "Check" is no mode`},
		"deletes all":       {krmSpec("passItems", false), "would delete every object"},
		"no bool":           {krmSpec("seal", "perhaps"), "spec.seal is neither true nor false"},
		"native":            {krmSpec("nativeSidecar", "yes"), "is not auto, true or false"},
		"kind":              {krmSpec("kinds", []any{"x"}), "error Injector/f spec.kinds[0]"},
		"no list":           {krmSpec("kinds", "x"), "spec.kinds is no list"},
		"another version":   {mapOf("apiVersion", "inject.krm/v2", "kind", FunctionKind), "functionConfig is inject.krm/v2 Injector"},
		"another kind":      {mapOf("apiVersion", "example.org/v1", "kind", "X", "spec", mapOf("a", 1)), "functionConfig is example.org/v1 X"},
		"map, misspelt":     {mapOf("apiVersion", "v1", "kind", "ConfigMap", "data", mapOf("confg", "x")), "did you mean data.config?"},
		"map, both ways":    {mapOf("apiVersion", "v1", "kind", "ConfigMap", "data", mapOf("mesh", "x", "meshPath", "y")), "given twice"},
		"no such map":       {krmSpec("fromConfigMaps", mapOf()), "the input has no ConfigMap istio-system/istio"},
		"set of nothing":    {krmSpec("set", mapOf("", 1)), "error Injector/f"},
		"strict, nobody's":  {mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind, "spec", mapOf("strict", true)), "the embedded profile is nobody's mesh"},
		"broken config":     {krmSpec("config", mapOf("inline", "templates: [")), "error Injector/f  functionConfig spec.config:1"},
		"profile, no files": {krmSpec("profile", "p"), "no folder"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, out := krm(t, tc.config, krmPod("one", nil))
			if out.Status != CannotRun || !strings.Contains(messages(out.Findings), tc.want) {
				t.Errorf("%d: %s\nwant %q", out.Status, messages(out.Findings), tc.want)
			}
			if at(answer, "items", 0, "spec", "containers", 1) != nil {
				t.Error("an item has been injected all the same")
			}
			if at(answer, "results", 0, "severity") == nil {
				t.Error("there are no results")
			}
		})
	}
}

func TestFunctionConfigForms(t *testing.T) {
	t.Parallel()
	local := mapOf("config.kubernetes.io/local-config", "true")
	injector := func(name, namespace string, annotations map[string]any) map[string]any {
		return mapOf("apiVersion", "v1", "kind", "ConfigMap", "metadata", mapOf("name", name, "namespace", namespace, "annotations", annotations),
			"data", mapOf("config", krmConfig, "values", `{"global":{"hub":"map","tag":"1.30.3"}}`))
	}
	mesh := mapOf("apiVersion", "v1", "kind", "ConfigMap", "metadata", mapOf("name", "istio", "namespace", "istio-system", "annotations", local),
		"data", mapOf("mesh", "trustDomain: x"))
	maps := mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind, "spec", mapOf("fromConfigMaps", mapOf(), "istioVersion", "1.30"))
	renamed := mapOf("config.kubernetes.io/local-config", "true",
		"internal.config.kubernetes.io/previousNames", "istio-sidecar-injector,x-istio-sidecar-injector",
		"internal.config.kubernetes.io/previousNamespaces", "istio-system,prod")
	tests := map[string]struct {
		config any
		items  []any
		image  string
		warns  string
	}{
		"none":          {nil, nil, "registry.istio.io/release/proxyv2:1.30.3", ""},
		"metadata only": {mapOf("apiVersion", "v1", "kind", "ConfigMap", "metadata", mapOf("name", "x")), nil, "registry.istio.io/release/proxyv2:1.30.3", ""},
		"set":           {krmSpec("set", mapOf("global.hub", "set", "global.tag", 2)), nil, "set/proxyv2:2", ""},
		"path":          {krmSpec("values", mapOf("path", "v.yaml")), nil, "file/proxyv2:1.30.3", ""},
		"flat": {
			mapOf("apiVersion", "v1", "kind", "ConfigMap", "data", mapOf("config", krmConfig, "valuesPath", "v.yaml", "istioVersion", "1.30", "seal", "false")),
			nil, "file/proxyv2:1.30.3", "",
		},
		"maps":     {maps, []any{injector("istio-sidecar-injector", "istio-system", local), mesh}, "map/proxyv2:1.30.3", ""},
		"renamed":  {maps, []any{injector("x-istio-sidecar-injector", "prod", renamed), mesh}, "map/proxyv2:1.30.3", ""},
		"deployed": {maps, []any{injector("istio-sidecar-injector", "istio-system", mapOf("a", "b")), mesh}, "map/proxyv2:1.30.3", "[W_DEPLOYED]"},
		"own values win": {
			mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind,
				"spec", mapOf("fromConfigMaps", mapOf(), "values", mapOf("path", "v.yaml"), "istioVersion", "1.30")),
			[]any{injector("istio-sidecar-injector", "istio-system", local), mesh},
			"file/proxyv2:1.30.3", "",
		},
		"not read": {nil, []any{injector("istio-sidecar-injector", "istio-system", local)}, "registry.istio.io/release/proxyv2:1.30.3", "this ConfigMap is not read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, out := krm(t, tc.config, append([]any{krmPod("one", nil)}, tc.items...)...)
			if out.Status != Done {
				t.Fatal(messages(out.Findings))
			}
			image := at(answer, "items", 0, "spec", "containers", 1, "image")
			if image == nil {
				image = at(answer, "items", 0, "spec", "initContainers", 1, "image")
			}
			if image != tc.image {
				t.Errorf("image is %v, want %s", image, tc.image)
			}
			warnings := 0
			for _, f := range out.Findings {
				if f.Severity == policy.Warning {
					warnings++
				}
			}
			if !strings.Contains(messages(out.Findings), tc.warns) || (warnings > 0) != (tc.warns != "") {
				t.Errorf("want %q:\n%s", tc.warns, messages(out.Findings))
			}
		})
	}
}

func TestFunctionValidates(t *testing.T) {
	t.Parallel()
	labelled := krmPod("one", nil)
	labelled["metadata"].(map[string]any)["labels"] = mapOf("sidecar.istio.io/inject", "maybe")
	tests := map[string]struct {
		config any
		pod    map[string]any
		status Status
		items  int
		want   string
	}{
		"clean":     {krmSpec("mode", "Validate"), krmPod("one", nil), Done, 1, "warning Pod/one  not injected"},
		"error":     {krmSpec("mode", "Validate"), labelled, FoundErrors, 1, "[inject-value-invalid]"},
		"emptied":   {krmSpec("mode", "Validate", "passItems", false), krmPod("one", nil), Done, 0, "not injected"},
		"bad":       {krmSpec("mode", "Validate"), krmPod("one", mapOf("status.sidecar.istio.io/port", "x")), CannotRun, 1, "[E_ANNOTATION]"},
		"no config": {mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind, "spec", mapOf("mode", "Validate", "x", 1)), labelled, CannotRun, 1, "unknown field spec.x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, out := krm(t, tc.config, tc.pod)
			if out.Status != tc.status || !strings.Contains(messages(out.Findings), tc.want) {
				t.Errorf("%d, want %d %q:\n%s", out.Status, tc.status, tc.want, messages(out.Findings))
			}
			items, ok := answer["items"].([]any)
			if !ok || len(items) != tc.items {
				t.Fatalf("items are %v", answer["items"])
			}
			if tc.items > 0 {
				if d := cmp.Diff(any(tc.pod), items[0]); d != "" {
					t.Errorf("the item has changed (-want +got)\n%s", d)
				}
			}
		})
	}
}

func TestFunctionInput(t *testing.T) {
	t.Parallel()
	own := mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind, "metadata", mapOf("name", "f"))
	tests := map[string]struct {
		input, want string
		// answers tells whether a list with results is given.
		answers bool
	}{
		"empty":     {"", "no input", false},
		"manifests": {"kind: Pod\napiVersion: v1\n", "inject -f -", false},
		"two":       {"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n---\na: b\n", "inject -f -", true},
		"broken":    {"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [\n", "[E_SYNTAX]", true},
		"no items":  {"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: {a: b}\n", "items of the ResourceList is no list", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := Function{}.Run("-", []byte(tc.input))
			if out.Status != CannotRun || !strings.Contains(messages(out.Findings), tc.want) || (len(out.Raw) > 0) != tc.answers {
				t.Errorf("%d %q\n%s", out.Status, out.Raw, messages(out.Findings))
			}
		})
	}
	t.Run("generator", func(t *testing.T) {
		t.Parallel()
		if _, out := krm(t, own, own); out.Status != CannotRun || !strings.Contains(messages(out.Findings), "transformers:") {
			t.Errorf("%d %s", out.Status, messages(out.Findings))
		}
	})
	t.Run("package of the function alone", func(t *testing.T) {
		t.Parallel()
		item := mapOf("apiVersion", FunctionAPIVersion, "kind", FunctionKind,
			"metadata", mapOf("name", "f", "annotations", mapOf("internal.config.kubernetes.io/path", "f.yaml")))
		if _, out := krm(t, own, item); out.Status != Done {
			t.Errorf("%d %s", out.Status, messages(out.Findings))
		}
	})
}

func TestFunctionResultsAdd(t *testing.T) {
	t.Parallel()
	out := Function{}.Run("-", []byte(`apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: x, image: i}]}}
results:
- message: of another function
`))
	text := string(out.Raw)
	first, second := strings.Index(text, "of another function"), strings.Index(text, "sidecar injected")
	if first < 0 || second < first {
		t.Errorf("results:\n%s", text)
	}
}

func TestFilterChangesNothingOnError(t *testing.T) {
	t.Parallel()
	in, err := testFilter()
	if err != nil {
		t.Fatal(err)
	}
	nodes := parseNodes(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: x, image: i}]}",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {containers: [{name: x, image: 3}]}")
	before := nodes[0].MustString()
	_, err = in.Filter(nodes)
	var f policy.Finding
	if !errors.As(err, &f) || f.Resource.Name != "b" {
		t.Errorf("error is %v", err)
	}
	if got := nodes[0].MustString(); got != before {
		t.Errorf("changed all the same:\n%s", got)
	}
}
