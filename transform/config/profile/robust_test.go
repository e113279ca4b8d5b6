package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// nasty is text with all that YAML reads in a way of its own.
const nasty = "a\"b'c\\d\n- e: f # g\t\x7f\u0085\u2028\ufeff{[é😀]} *&!|>%@` ~: no"

func nastyTexts() []string {
	return []string{nasty, "yes", "~", "1e3", "# c", `"`, "{{ .Values }}", "\n"}
}

// tries gives how many of the texts a template is tested with; the blocks that the others share are tested with the first.
func tries(template string) int {
	if template == Sidecar {
		return len(nastyTexts())
	}
	return 1
}

// paths gives the paths of all texts in a values tree.
func paths(v any, at []string) [][]string {
	switch v := v.(type) {
	case string:
		return [][]string{at}
	case map[string]any:
		var out [][]string
		for k, e := range v {
			out = append(out, paths(e, append(slices.Clone(at), k))...)
		}
		return out
	}
	return nil
}

func put(tree map[string]any, path []string, v any) map[string]any {
	out := clone(tree).(map[string]any)
	in := out
	for _, k := range path[:len(path)-1] {
		in = in[k].(map[string]any)
	}
	if in[path[len(path)-1]] = v; v == nil {
		delete(in, path[len(path)-1])
	}
	return out
}

func somePod(t testing.TB, annotations map[string]string) corev1.Pod {
	t.Helper()
	var p corev1.Pod
	decode(t, []byte(`{metadata: {labels: {app: web}}, spec: {containers: [{name: web, ports: [{containerPort: 80}]}]}}`), &p)
	p.Annotations = annotations
	return p
}

// optional turns on what the defaults leave off, with a text wherever one can stand.
func optional() map[string]any {
	v := Values()
	global := v["global"].(tree)
	global["network"], global["trustBundleName"], global["meshID"] = "n", "t", "m"
	global["imagePullPolicy"], global["caAddress"], global["trustDomain"] = "Always", "ca:1", "td"
	global["multiCluster"] = tree{"clusterName": "c"}
	global["mountMtlsCerts"], global["logAsJson"] = true, true
	proxy := global["proxy"].(tree)
	proxy["outlierLogPath"], proxy["excludeOutboundPorts"], proxy["includeOutboundPorts"] = "/o", "1", "2"
	proxy["seccompProfile"] = tree{"type": "Localhost", "localhostProfile": "p"}
	proxy["lifecycle"] = tree{"preStop": tree{"httpGet": tree{"path": "/x"}}}
	pilot := v["pilot"].(tree)
	pilot["crlConfigMapName"] = "crl"
	pilot["cni"] = tree{"enabled": true, "provider": "multus"}
	v["revision"] = "r"
	return v
}

// TestAnyTextRenders sets each text of the values in turn to each nasty one: what comes out is always YAML, and the text
// is in it as it was, if it is at all.
func TestAnyTextRenders(t *testing.T) {
	t.Parallel()
	for name, text := range Templates() {
		tmpl := parse(t, name, text)
		for _, values := range []map[string]any{Values(), optional()} {
			for _, path := range paths(values, nil) {
				for _, bad := range nastyTexts()[:tries(name)] {
					at := name + " " + strings.Join(path, ".")
					got := renderTree(t, at, tmpl.Render, deployment(t, somePod(t, nil), put(values, path, bad)))
					if bad == nasty && len(got) > 0 {
						checkWhole(t, at, got)
					}
				}
			}
		}
	}
}

// TestAnyAnnotationRenders does so with the annotations, all of which come from the user.
func TestAnyAnnotationRenders(t *testing.T) {
	t.Parallel()
	names := []string{
		"sidecar.istio.io/proxyImage", "sidecar.istio.io/proxyCPU", "sidecar.istio.io/proxyMemoryLimit",
		"sidecar.istio.io/logLevel", "sidecar.istio.io/componentLogLevel", "sidecar.istio.io/agentLogLevel",
		"sidecar.istio.io/interceptionMode", "sidecar.istio.io/capNetBindService", "sidecar.istio.io/nativeSidecar",
		"sidecar.istio.io/bootstrapOverride", "status.sidecar.istio.io/port",
		"readiness.status.sidecar.istio.io/initialDelaySeconds", "readiness.status.sidecar.istio.io/periodSeconds",
		"readiness.status.sidecar.istio.io/failureThreshold", "traffic.sidecar.istio.io/includeOutboundIPRanges",
		"traffic.sidecar.istio.io/excludeOutboundIPRanges", "traffic.sidecar.istio.io/includeInboundPorts",
		"traffic.sidecar.istio.io/excludeInboundPorts", "traffic.sidecar.istio.io/includeOutboundPorts",
		"traffic.sidecar.istio.io/excludeOutboundPorts", "traffic.sidecar.istio.io/kubevirtInterfaces",
		"traffic.sidecar.istio.io/excludeInterfaces", "istio.io/reroute-virtual-interfaces", "k8s.v1.cni.cncf.io/networks",
	}
	for name, text := range Templates() {
		tmpl := parse(t, name, text)
		for _, values := range []map[string]any{Values(), optional()} {
			for _, a := range names {
				for _, bad := range nastyTexts()[:tries(name)] {
					p := somePod(t, map[string]string{a: bad})
					p.Labels = map[string]string{"service.istio.io/canonical-name": bad, "service.istio.io/workload-name": bad}
					d := deployment(t, p, values)
					d.DeploymentMeta.Namespace, d.Revision = bad, bad
					got := renderTree(t, name+" "+a, tmpl.Render, d)
					if bad == nasty {
						checkWhole(t, name+" "+a, got)
					}
				}
			}
		}
	}
}

// TestQuoteInProxyMetadata is case g067: with Istio's own template the quote breaks the pod.
func TestQuoteInProxyMetadata(t *testing.T) {
	t.Parallel()
	d := deployment(t, somePod(t, nil), Values())
	d.ProxyConfig.ProxyMetadata = map[string]string{"A": `quote " inside`, "B": nasty}
	out, f := parse(t, Sidecar, Templates()[Sidecar]).Render(d)
	if f != nil {
		t.Fatal(*f)
	}
	var p corev1.Pod
	var tree any
	if err := yaml.Unmarshal(out, &tree); err != nil {
		t.Fatal(err)
	}
	js, _ := yaml.Marshal(tree)
	decode(t, js, &p)
	for _, c := range [][]corev1.EnvVar{p.Spec.Containers[0].Env, p.Spec.InitContainers[0].Env} {
		got := map[string]string{}
		for _, e := range c {
			got[e.Name] = e.Value
		}
		for k, want := range d.ProxyConfig.ProxyMetadata {
			if got[k] != want {
				t.Errorf("%s is %q, want %q", k, got[k], want)
			}
		}
	}
}

// TestMissingValues takes each value out in turn. Those that Istio's template can do without must do no harm here; for
// the others the finding names the key.
func TestMissingValues(t *testing.T) {
	t.Parallel()
	var theirs struct{ Templates map[string]string }
	decodeFile(t, shared(t, "_shared/"+config), &theirs)
	missing := [][]string{{"gateways"}, {"pilot"}, {"pilot", "cni"}, {"pilot", "env"}, {"revision"}, {"sidecarInjectorWebhook"}}
	for k := range globalValues() {
		missing = append(missing, []string{"global", k})
	}
	for k := range proxyValues() {
		missing = append(missing, []string{"global", "proxy", k})
	}
	for name, text := range Templates() {
		ours, istio := parse(t, name, text), parse(t, name, theirs.Templates[name])
		for _, path := range missing {
			at := strings.Join(path, ".")
			if at == "global.proxy" {
				continue
			}
			d := deployment(t, somePod(t, nil), put(Values(), path, nil))
			out, f := ours.Render(d)
			want, g := istio.Render(d)
			switch {
			case f == nil && strings.Contains(string(out), "<nil>"):
				t.Errorf("%s without %s: <nil> in the result", name, at)
			case f != nil && g == nil:
				t.Errorf("%s without %s: %s; Istio's template does without", name, at, f.Message)
			case f == nil && g == nil && !slices.Equal(rendered(t, want), rendered(t, out)):
				t.Errorf("%s without %s: another result than Istio's", name, at)
			case f != nil && !strings.Contains(f.Message, path[len(path)-1]) && at != "global.sds" && at != "global.logging":
				t.Errorf("%s without %s: the finding does not name it: %s", name, at, f.Message)
			}
		}
	}
}

type renderer func(any) ([]byte, *policy.Finding)

func renderTree(t *testing.T, at string, render renderer, d any) []string {
	t.Helper()
	out, f := render(d)
	if f != nil {
		t.Errorf("%s: %s", at, f.Message)
		return nil
	}
	var tree any
	if err := yaml.Unmarshal(out, &tree); err != nil {
		t.Errorf("%s: %v", at, err)
		return nil
	}
	return texts(tree)
}

// texts gives all texts in a tree, keys too.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case map[string]any:
		var out []string
		for k, e := range v {
			out = append(append(out, k), texts(e)...)
		}
		return out
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, texts(e)...)
		}
		return out
	case nil, bool, int, float64:
		return nil
	default:
		return []string{fmt.Sprintf("%T", v)}
	}
}

// checkWhole tells where a text has a part of the nasty one but not the whole.
func checkWhole(t *testing.T, at string, texts []string) {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(s, "- e: f") && !strings.Contains(s, strings.TrimSpace(nasty)) && !strings.Contains(s, `\n- e: f`) {
			t.Errorf("%s: %q is not what was given", at, s)
		}
	}
}
