package template

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
)

// data has the fields that a modern template reads; the real one is transform/pod.Data.
type data struct {
	TypeMeta                 metav1.TypeMeta
	DeploymentMeta           metav1.ObjectMeta
	ObjectMeta               metav1.ObjectMeta
	Spec                     corev1.PodSpec
	ProxyConfig              *meshconfig.ProxyConfig
	MeshConfig               *meshconfig.MeshConfig
	Values                   map[string]any
	Revision, ProxyImage     string
	NativeSidecars           bool
	ProxyUID, ProxyGID       int64
	InboundTrafficPolicyMode string
	CompliancePolicy         string
}

// shared reads a file of the conformance data, or skips.
func shared(t *testing.T, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "shared", "conformance", "istio-1.30"}, elem...)...))
	if err != nil {
		t.Skip("the conformance data are not beside the checkout")
	}
	return b
}

func unmarshal(t *testing.T, b []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

func TestFunctionsTable(t *testing.T) {
	t.Parallel()
	var table struct {
		Contexts map[string]struct {
			TypeMeta       metav1.TypeMeta
			DeploymentMeta metav1.ObjectMeta
			Pod            corev1.Pod
			Mesh           json.RawMessage
			Revision       string
			Values         map[string]any
		}
		Rows []struct{ Context, Func, Template, Want, Error, ErrorAt string }
	}
	unmarshal(t, shared(t, "tables", "template-functions.json"), &table)
	c := table.Contexts["default"]
	mesh := meshDefaults(t)
	unmarshal(t, c.Mesh, mesh)
	unmarshal(t, proxyDefaults, mesh.DefaultConfig)
	var sparse struct{ DefaultConfig json.RawMessage }
	unmarshal(t, c.Mesh, &sparse)
	unmarshal(t, sparse.DefaultConfig, mesh.DefaultConfig)
	uid := int64(1337)
	d := &data{
		TypeMeta: c.TypeMeta, DeploymentMeta: c.DeploymentMeta, ObjectMeta: c.Pod.ObjectMeta, Spec: c.Pod.Spec,
		ProxyConfig: mesh.DefaultConfig, MeshConfig: mesh, Values: c.Values, Revision: c.Revision,
		ProxyImage: "registry.example/istio/proxyv2:1.2.3", ProxyUID: uid, ProxyGID: uid,
		InboundTrafficPolicyMode: "passthrough",
	}
	funcs := Functions(Environment{ProxyDefaults: meshDefaults(t).DefaultConfig})
	for _, row := range table.Rows {
		t.Run(row.Func, func(t *testing.T) {
			tmpl, f := Parse("inject", row.Template, policy.Position{Line: 1}, funcs)
			if f != nil {
				if row.ErrorAt != "parse" {
					t.Fatalf("%s: %v", row.Template, f)
				}
				return
			}
			got, err := tmpl.RenderRaw(d)
			if (err != nil) != (row.Error != "") {
				t.Fatalf("%s: error %v, want %q", row.Template, err, row.Error)
			}
			if err != nil {
				// The texts name Go types; what must agree is the place.
				if a, b := strings.SplitN(err.Error(), ">", 2)[0], strings.SplitN(row.Error, ">", 2)[0]; a != b {
					t.Errorf("place %s, want %s", a, b)
				}
				return
			}
			if diff := cmp.Diff(row.Want, string(got)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", row.Template, diff)
			}
		})
	}
}

var proxyDefaults = []byte(`{"configPath":"./etc/istio/proxy","binaryPath":"/usr/local/bin/envoy",
"serviceCluster":"istio-proxy","drainDuration":"45s","terminationDrainDuration":"5s","proxyAdminPort":15000,
"controlPlaneAuthPolicy":"MUTUAL_TLS","discoveryAddress":"istiod.istio-system.svc:15012","statNameLength":189,
"statusPort":15020}`)

func meshDefaults(t *testing.T) *meshconfig.MeshConfig {
	t.Helper()
	m := &meshconfig.MeshConfig{DefaultConfig: &meshconfig.ProxyConfig{}}
	unmarshal(t, []byte(`{"trustDomain":"cluster.local","rootNamespace":"istio-system","enableTracing":true,`+
		`"connectTimeout":"10s","enablePrometheusMerge":true,"outboundTrafficPolicy":{"mode":"ALLOW_ANY"}}`), m)
	m.DefaultConfig = &meshconfig.ProxyConfig{}
	unmarshal(t, proxyDefaults, m.DefaultConfig)
	return m
}

func TestCleanProxyConfigTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Name, Want  string
		ProxyConfig json.RawMessage
	}
	unmarshal(t, shared(t, "tables", "clean-proxy-config.json"), &rows)
	for _, row := range rows {
		pc := &meshconfig.ProxyConfig{}
		unmarshal(t, row.ProxyConfig, pc)
		got, err := protoToJSON(pc, meshDefaults(t).DefaultConfig)
		if err != nil || got != row.Want {
			t.Errorf("%s: got %s (%v), want %s", row.Name, got, err, row.Want)
		}
	}
}

func TestOmitNilTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Name     string
		In, Want any
	}
	unmarshal(t, shared(t, "tables", "omit-nil.json"), &rows)
	for _, row := range rows {
		if diff := cmp.Diff(row.Want, omitNil(row.In)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", row.Name, diff)
		}
	}
}

func TestMultusTable(t *testing.T) {
	t.Parallel()
	var rows []struct{ Name, In, Network, Want string }
	unmarshal(t, shared(t, "tables", "append-multus-network.json"), &rows)
	for _, row := range rows {
		if got := appendMultusNetwork(row.In, row.Network); got != row.Want {
			t.Errorf("%s: got %q, want %q", row.Name, got, row.Want)
		}
	}
}

func TestOtelTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Name, Namespace, Want string
		Mesh                  json.RawMessage
		Annotations, Labels   map[string]string
		Containers            []corev1.Container
	}
	unmarshal(t, shared(t, "tables", "otel-resource-attributes.json"), &rows)
	for _, row := range rows {
		mesh := &meshconfig.MeshConfig{}
		unmarshal(t, row.Mesh, mesh)
		got := otelResourceAttributes(mesh, row.Annotations, row.Labels, row.Namespace, row.Containers)
		if got != row.Want {
			t.Errorf("%s: got %q, want %q", row.Name, got, row.Want)
		}
	}
}

func TestRenderErrors(t *testing.T) {
	t.Parallel()
	pos := policy.Position{File: "config.yaml", Line: 10}
	values := map[string]any{"Values": map[string]any{"global": map[string]any{"proxy": nil, "n": 5.0}}}
	for name, tc := range map[string]struct{ text, code, message, hint, at string }{
		"missing value": {
			"a: 1\nb: {{ .Values.global.hub }}", CodeValue, `template "t": .Values.global.hub has no value`,
			"set global.hub in the values file, or with --set global.hub=…", "config.yaml:11",
		},
		"misspelt": {
			"{{ .Values.globl.hub }}", CodeValue, `template "t": .Values.globl.hub has no value: there is no .Values.globl`,
			"did you mean .Values.global?", "config.yaml:10",
		},
		"missing argument": {
			"{{ .Values.global.hub | quote }}{{ printf \"%v\" .Mesh }}", CodeValue, `there is no .Mesh`, "newer Istio", "config.yaml:10",
		},
		"open action": {"a\nb: {{ .Values.a ", CodeParse, "the action that starts here with {{ does not end", "close it", "config.yaml:11"},
		"open block": {
			"a\n{{- if .Values }}\n{{ range .Values }}x{{ end }}\nb", CodeParse, "{{ if .Values }} has no {{ end }}", "add {{ end }}", "config.yaml:11",
		},
		"stray end": {"a\n{{ end }}", CodeParse, "this {{ end }} closes nothing", "remove it", "config.yaml:11"},
		"missing map": {
			"{{ .Values.global.proxy.image.name }}", CodeRender,
			`template "t": .Values.global.proxy.image.name: the value that should hold image is missing`,
			"set global.proxy.image.name in the values file", "config.yaml:10",
		},
		"unknown function": {
			"x\n\n{{ frobnicate 1 }}", CodeParse, `template "t": function frobnicate is not known`, "spelling", "config.yaml:12",
		},
		"removed function": {
			"{{ now }}", CodeParse, `template "t": function now is not available: it reads the clock`, "values file", "config.yaml:10",
		},
		"syntax": {"{{ if }}", CodeParse, `template "t": missing value for if`, "", "config.yaml:10"},
		"fail":   {`{{ fail "no way" }}`, CodeRender, `template "t": no way`, "on purpose", "config.yaml:10"},
		"compare": {
			`{{ eq .Values.global.n 5 }}`, CodeRender, `template "t": eq .Values.global.n 5: incompatible types for comparison`,
			"floating point", "config.yaml:10",
		},
		"endless loop": {
			"{{ range 2000000000 }}{{ end }}", CodeLimit, `template "t": the template does not end`, "range", "config.yaml:10",
		},
		"recursion": {
			`{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`, CodeRender, `templates include each other without end`, "includes itself", "config.yaml:10",
		},
		"explosion": {
			`{{ $s := repeat 4000000 "x" }}{{ $s }}{{ $s }}`, CodeLimit, `template "t": the template does not end`, "range", "config.yaml:10",
		},
		"repeat":  {`{{ repeat 2000000000 "xy" }}`, CodeRender, `larger than the limit`, "", "config.yaml:10"},
		"until":   {`{{ until 2000000000 }}`, CodeRender, `more than 65536 items`, "", "config.yaml:10"},
		"nindent": {`{{ nindent 2000000000 "xy" }}`, CodeRender, `wider than`, "", "config.yaml:10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f *policy.Finding
			tmpl, f := Parse("t", tc.text, pos, Functions(Environment{}))
			if f == nil {
				_, f = tmpl.Render(values)
			}
			if f == nil {
				t.Fatal("no finding")
			}
			if f.Code != tc.code || !strings.Contains(f.Message, tc.message) || !strings.Contains(f.Hint, tc.hint) ||
				!strings.HasPrefix(f.Position.String(), tc.at) {
				t.Errorf("got %s at %s: %s (%s)", f.Code, f.Position, f.Message, f.Hint)
			}
		})
	}
}

func TestMutatorsAreSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{{ $x := set .Values "a" 1 }}`:                           true,
		`{{ if true }}{{ (merge .Values .Values).a }}{{ end }}`:   true,
		`{{ .Values.set }}{{ omit (strdict "a" "b") "a" }}`:       false,
		`{{ define "x" }}{{ unset . "a" }}{{ end }}{{ print 1 }}`: true,
	} {
		tmpl, f := Parse("t", text, policy.Position{}, Functions(Environment{}))
		if f != nil {
			t.Fatal(f)
		}
		if got := tmpl.Mutates(); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestSkipUDPTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Container corev1.Container
		Want      []string
	}
	unmarshal(t, shared(t, "tables", "ports-skip-udp.json"), &rows)
	for _, row := range rows {
		if got := tcpPorts([]corev1.Container{row.Container}, ""); got != strings.Join(row.Want, ",") {
			t.Errorf("%v: got %s, want %v", row.Container.Ports, got, row.Want)
		}
	}
}
