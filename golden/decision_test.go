package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// decideConfig is an injection config whose template is as small as can be.
const decideConfig = `policy: %s
neverInjectSelector: %s
alwaysInjectSelector: %s
templates:
  sidecar: |
    spec:
      containers:
      - {name: istio-proxy, image: "registry.example/proxy:1"}
`

// decide runs one pod through the whole pipeline and gives what became of it.
func decide(t *testing.T, input string, o config.LoadOptions, s transform.Setup) (transform.Workload, []policy.Finding) {
	t.Helper()
	b, fs := config.Load(o)
	if b == nil {
		return transform.Workload{}, fs
	}
	s.Registry = workload.Default()
	compiled, fs := transform.Compile(b, s)
	if compiled == nil {
		return transform.Workload{}, fs
	}
	var found []transform.Workload
	err := transform.New(compiled.Options).Stream(t.Context(), "in.yaml", strings.NewReader(input), 1, func(b transform.Batch) error {
		for _, r := range b.Results {
			found = append(found, r.Workloads...)
			fs = append(fs, r.Findings...)
		}
		return nil
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v: %d workloads, %v", err, len(found), fs)
	}
	return found[0], fs
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// podWith is a Pod with this metadata.
func podWith(t *testing.T, meta metav1.ObjectMeta, host bool) string {
	t.Helper()
	if meta.Name == "" && meta.GenerateName == "" {
		meta.Name = "p"
	}
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": %s, "spec": {"hostNetwork": %v, "containers": [{"name": "a", "image": "b"}]}}`,
		toJSON(t, meta), host)
}

// TestInjectRequiredPipeline runs Istio's own table of decisions from bytes to bytes.
func TestInjectRequiredPipeline(t *testing.T) {
	t.Parallel()
	path := needShared(t, "conformance", "istio-1.30", "tables", "inject-required.json")
	var rows []struct {
		Name   string
		Config struct {
			Policy                                    string
			NeverInjectSelector, AlwaysInjectSelector []metav1.LabelSelector
		}
		Metadata metav1.ObjectMeta
		PodSpec  struct{ HostNetwork bool }
		Want     bool
	}
	if err := json.Unmarshal(readFile(t, path), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 100 {
		t.Fatalf("%d rows: the table is not what it was", len(rows))
	}
	refused := 0
	for _, row := range rows {
		text := fmt.Sprintf(decideConfig, toJSON(t, row.Config.Policy), toJSON(t, row.Config.NeverInjectSelector), toJSON(t, row.Config.AlwaysInjectSelector))
		o := config.LoadOptions{Embedded: transform.Embedded(), Injection: &config.Source{Name: "config.yaml", Data: []byte(text)}}
		w, fs := decide(t, podWith(t, row.Metadata, row.PodSpec.HostNetwork), o, transform.Setup{Native: transform.NativeFalse})
		if w.File == "" {
			refused++ // a policy or selector that Istio would only log is an error of the config
			continue
		}
		if w.Decision.Inject != row.Want || (w.Action == transform.Injected) != row.Want {
			t.Errorf("%s: inject %v (%s), %v, want %v; %v", row.Name, w.Decision.Inject, w.Decision.Reason(), w.Action, row.Want, fs)
		}
	}
	if refused > 20 {
		t.Errorf("%d of %d configs are refused", refused, len(rows))
	}
}

// TestWebhookSelectorsPipeline runs the API server's table of selectors through flags, values and manifests.
func TestWebhookSelectorsPipeline(t *testing.T) {
	t.Parallel()
	path := needShared(t, "conformance", "istio-1.30", "tables", "webhook-selectors.json")
	var table struct {
		Rows []struct {
			Install                    string
			NamespaceLabels, PodLabels map[string]string
			WantWebhooks               []string
		}
	}
	if err := json.Unmarshal(readFile(t, path), &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) < 400 {
		t.Fatalf("%d rows: the table is not what it was", len(table.Rows))
	}
	type install struct {
		revision, values, config string
	}
	installs := map[string][]install{
		"default":                 {{config: "istio-sidecar-injector/"}},
		"default+revision-canary": {{config: "istio-sidecar-injector/"}, {revision: "canary", config: "istio-sidecar-injector-canary/"}},
		"enableNamespacesByDefault+revision-canary": {
			{values: "sidecarInjectorWebhook: {enableNamespacesByDefault: true}", config: "istio-sidecar-injector/"},
			{revision: "canary", config: "istio-sidecar-injector-canary/"},
		},
		"revision-canary+tag-default": {{revision: "canary", config: "istio-sidecar-injector-canary/"}},
		"revision-canary+tag-prod":    {{revision: "canary", values: "revisionTags: [prod]", config: "istio-"}},
	}
	for _, row := range table.Rows {
		all, ok := installs[row.Install]
		if !ok {
			t.Fatalf("install %s is not known", row.Install)
		}
		for _, in := range all {
			selected := false
			for _, w := range row.WantWebhooks {
				selected = selected || strings.HasPrefix(w, in.config)
			}
			o := config.LoadOptions{Embedded: transform.Embedded(), Revision: in.revision}
			if in.values != "" {
				o.Values = &config.Source{Name: "values.yaml", Data: []byte(in.values)}
			}
			namespace := metav1.ObjectMeta{Name: "shop", Labels: row.NamespaceLabels}
			var survey transform.Survey
			stream := survey.Stream("ns.json")
			_, _ = fmt.Fprintf(stream, `{"apiVersion": "v1", "kind": "Namespace", "metadata": %s}`, toJSON(t, namespace))
			_ = stream.Close()
			pod := podWith(t, metav1.ObjectMeta{Namespace: "shop", Labels: row.PodLabels}, false)
			w, _ := decide(t, pod, o, transform.Setup{Surroundings: survey.Found, NamespacesDecide: true})
			if (w.Decision.Rule == policy.RuleWebhook) == selected {
				t.Errorf("%s %v %v: rule %s (%s), want selected %v by %s", row.Install, row.NamespaceLabels, row.PodLabels,
					w.Decision.Rule, w.Decision.Reason(), selected, in.config)
			}
		}
	}
}

// TestNamespacesDecideOnlyWhenAsked: a Namespace in the input says nothing about injection unless asked.
func TestNamespacesDecideOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	const stream = `apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec: {containers: [{name: a, image: b}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: disabled}}
`
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"not asked":         {nil, "1 injected, 0 passed"},
		"asked":             {[]string{"--namespaces-from-input"}, "0 injected, 1 passed"},
		"labels given":      {[]string{"--namespace-labels", "istio-injection=enabled"}, "0 injected, 1 passed"},
		"of another place":  {[]string{"--namespace-labels", "istio-injection=enabled", "-n", "else"}, "0 injected, 1 passed"},
		"labels not labels": {[]string{"--namespace-labels", "enabled"}, "no key=value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := runProgram(t, ".", stream, tt.args...); !strings.Contains(got.err, tt.want) {
				t.Error(got.err)
			}
		})
	}
	alone, _, _ := strings.Cut(stream, "---")
	for labels, want := range map[string]string{
		"istio-injection=enabled": "1 injected", "istio-injection=disabled": "0 injected", "": "0 injected", "istio.io/rev=canary": "0 injected",
	} {
		if got := runProgram(t, ".", alone, "--namespace-labels", labels); !strings.Contains(got.err, want) {
			t.Errorf("%q: %s", labels, got.err)
		}
	}
}

// TestAmbient: the label of ambient mode decides nothing; a sidecar in such a pod is warned of.
func TestAmbient(t *testing.T) {
	t.Parallel()
	for mode, warned := range map[string]bool{"ambient": true, "none": false} {
		o := config.LoadOptions{Embedded: transform.Embedded()}
		pod := podWith(t, metav1.ObjectMeta{Labels: map[string]string{policy.LabelDataplaneMode: mode}}, false)
		w, fs := decide(t, pod, o, transform.Setup{})
		if !w.Decision.Inject {
			t.Errorf("%s: not injected: %s", mode, w.Decision.Reason())
		}
		got := false
		for _, f := range fs {
			got = got || f.Code == policy.CodeAmbient
		}
		if got != warned {
			t.Errorf("%s: warned %v, want %v", mode, got, warned)
		}
		if s := w.Decision.Trail[len(w.Decision.Trail)-1]; s.Rule != policy.RuleAmbient || s.Saw != mode {
			t.Error(cmp.Diff(policy.RuleAmbient, s.Rule))
		}
	}
}

// TestSurroundingsCount: Namespaces and ProxyConfigs count from a file, from standard input, from another file of the run
// and, ProxyConfigs, from --config-from; wherever they stand.
func TestSurroundingsCount(t *testing.T) {
	t.Parallel()
	const objects = openShiftNamespace + `---
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: {name: pc, namespace: shop}
spec: {environmentVariables: {COLOR: red}}
`
	dir := t.TempDir()
	_, resource, _ := strings.Cut(objects, "2000/5\n")
	dump := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio-sidecar-injector, namespace: istio-system}\ndata:\n  config: |\n" +
		indented(string(readFile(t, "explain", "custom-files", "config.yaml")), 4) + "  values: |\n" +
		indented(string(readFile(t, "explain", "custom-files", "values.yaml")), 4) + resource
	for name, text := range map[string]string{
		"pod.yaml": sealPod, "objects.yaml": objects, "both.yaml": sealPod + objects,
		"dump.yaml": dump,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		input      string
		args       []string
		ids, color bool
	}{
		"nothing":         {"", []string{"-f", "pod.yaml"}, false, false},
		"one file":        {"", []string{"-f", "both.yaml"}, true, true},
		"a later file":    {"", []string{"-f", "pod.yaml", "-f", "objects.yaml"}, true, true},
		"standard input":  {sealPod + objects, nil, true, true},
		"input and file":  {objects, []string{"-f", "pod.yaml", "-f", "-"}, true, true},
		"config-from":     {"", []string{"-f", "pod.yaml", "--config-from", "dump.yaml"}, false, true},
		"after -n":        {strings.Replace(sealPod, "  namespace: shop\n", "", 1) + objects, []string{"-n", "shop"}, true, true},
		"other namespace": {strings.Replace(sealPod, "namespace: shop", "namespace: pay", 1) + objects, nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runProgram(t, dir, tt.input, append([]string{"-q"}, tt.args...)...)
			if got.code != 0 {
				t.Fatal(got.err)
			}
			if ids := strings.Contains(got.out, "runAsUser: 1009") && strings.Contains(got.out, "runAsGroup: 2004"); ids != tt.ids {
				t.Errorf("user and group of the namespace: %v, want %v", ids, tt.ids)
			}
			if color := strings.Contains(got.out, "- name: COLOR") || strings.Contains(got.out, `\"COLOR\":\"red\"`); color != tt.color {
				t.Errorf("variable of the ProxyConfig: %v, want %v", color, tt.color)
			}
		})
	}
}
