package profile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestTemplatesRenderAsIstio renders each setting with our templates and with those of Istio's own config, and compares
// the pods as data.
func TestTemplatesRenderAsIstio(t *testing.T) {
	t.Parallel()
	var theirs struct{ Templates map[string]string }
	decodeFile(t, shared(t, "_shared/config-e1626edee6.yaml"), &theirs)
	var defaults map[string]any
	decodeFile(t, shared(t, "_shared/values-ab5e46287c.json"), &defaults)
	for name, text := range Templates() {
		ours, istio := parse(t, name, text), parse(t, name, theirs.Templates[name])
		for _, s := range settings() {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				if why := repaired(name, s); why != "" {
					t.Skip(why)
				}
				values := clone(defaults).(map[string]any)
				if s.values != "" {
					var over map[string]any
					decode(t, []byte(s.values), &over)
					merged(values, over)
				}
				var p corev1.Pod
				if s.containers == "" {
					s.containers = "[{name: web, ports: [{containerPort: 80}]}]"
				}
				decode(t, fmt.Appendf(nil, "metadata: {labels: {%s}, annotations: {%s}}\nspec: {containers: %s, %s}",
					s.labels, s.annotations, s.containers, s.spec), &p)
				d := deployment(t, p, values)
				if s.mesh != "" {
					decode(t, []byte(s.mesh), d.MeshConfig)
					d.ProxyConfig = d.MeshConfig.DefaultConfig
				}
				if s.owner != "" {
					decode(t, []byte(s.owner), &d.DeploymentMeta)
					decode(t, []byte(s.owner), &d.TypeMeta)
				}
				d.NativeSidecars, d.CompliancePolicy, d.Revision = s.native, s.compliance, s.revision
				if s.localhost {
					d.InboundTrafficPolicyMode = "localhost"
				}
				want, f := istio.Render(d)
				if f != nil {
					t.Skipf("Istio's template has no result: %s", f.Message)
				}
				got, f := ours.Render(d)
				if f != nil {
					t.Fatal(f.Message)
				}
				w, g := rendered(t, want), rendered(t, got)
				if diff := cmp.Diff(w, g); diff != "" {
					t.Errorf("-Istio's +ours:\n%s", diff)
				}
			})
		}
	}
}

// repaired tells why Istio's result is not wanted.
func repaired(template string, s setting) string {
	noPort := strings.Contains(s.annotations, `port": "0"`) || strings.Contains(s.values, "statusPort: 0")
	if template == GRPCAgent && noPort {
		return "Istio drops resources and mounts of the agent together with its probe when the status port is 0"
	}
	if (template == Gateway || template == GRPCAgent) && strings.HasPrefix(s.name, "long name") {
		return "Istio cuts the canonical name to the length of a label for sidecars only"
	}
	return ""
}

// rendered gives the lines of a rendered template, after it went through the types of a Pod, and the paths that are null.
func rendered(t testing.TB, text []byte) []string {
	t.Helper()
	js, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var p corev1.Pod
	if err := json.Unmarshal(js, &p); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var tree any
	if err := json.Unmarshal(js, &tree); err != nil {
		t.Fatal(err)
	}
	absent := nulls(tree, "")
	slices.Sort(absent)
	typed, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return append(strings.Split(string(typed), "\n"), absent...)
}

func nulls(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case nil:
		return []string{at}
	case map[string]any:
		for k, e := range v {
			out = append(out, nulls(e, at+"/"+k)...)
		}
	case []any:
		for _, e := range v {
			name := ""
			if m, ok := e.(map[string]any); ok {
				name, _ = m["name"].(string)
			}
			out = append(out, nulls(e, at+"["+name+"]")...)
		}
	}
	return out
}
