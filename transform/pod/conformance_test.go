package pod

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/typed"
)

const proxyDefaults = `{"configPath":"./etc/istio/proxy","binaryPath":"/usr/local/bin/envoy",
"serviceCluster":"istio-proxy","drainDuration":"45s","terminationDrainDuration":"5s","proxyAdminPort":15000,
"controlPlaneAuthPolicy":"MUTUAL_TLS","discoveryAddress":"istiod.istio-system.svc:15012","statNameLength":189,
"statusPort":15020}`

func defaults(t testing.TB) *meshconfig.ProxyConfig {
	pc := &meshconfig.ProxyConfig{}
	if err := pc.UnmarshalJSON([]byte(proxyDefaults)); err != nil {
		t.Fatal(err)
	}
	return pc
}

func mergeProxy(base *meshconfig.ProxyConfig, js []byte) (*meshconfig.ProxyConfig, error) {
	full, err := base.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &meshconfig.ProxyConfig{}
	if err := out.UnmarshalJSON(full); err != nil {
		return nil, err
	}
	md := out.ProxyMetadata
	out.ProxyMetadata = nil
	if err := out.UnmarshalJSON(js); err != nil {
		return nil, err
	}
	for k, v := range out.ProxyMetadata {
		if md == nil {
			md = map[string]string{}
		}
		md[k] = v
	}
	out.ProxyMetadata = md
	return out, nil
}

type options struct {
	Config, Values, Mesh, Revision string
	NativeSidecars                 bool
	ExpectError                    *string
}

func newEngine(t testing.TB, dir string, o options) *Engine {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var cfg struct {
		Templates           map[string]string
		Aliases             map[string][]string
		DefaultTemplates    []string
		InjectedAnnotations map[string]string
	}
	raw := read(o.Config)
	if err := sigsyaml.Unmarshal(raw, &cfg); err != nil || len(cfg.Templates) == 0 {
		cfg.Templates = map[string]string{"sidecar": string(raw)}
	}
	values := map[string]any{}
	js, err := sigsyaml.YAMLToJSON(read(o.Values))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(js, &values); err != nil {
		t.Fatal(err)
	}
	mesh := &meshconfig.MeshConfig{}
	js, err = sigsyaml.YAMLToJSON(read(o.Mesh))
	if err != nil {
		t.Fatal(err)
	}
	if err := mesh.UnmarshalJSON(js); err != nil {
		t.Fatal(err)
	}
	texts := map[string]Text{}
	for k, v := range cfg.Templates {
		texts[k] = Text{v, policy.Position{File: "config", Line: 1}}
	}
	return New(Options{
		Templates: texts, Aliases: cfg.Aliases, DefaultTemplates: cfg.DefaultTemplates, InjectedAnnotations: cfg.InjectedAnnotations,
		Values: values, Mesh: mesh, ProxyDefaults: defaults(t), Revision: o.Revision, Native: o.NativeSidecars,
		Env:       map[string]string{"ENABLE_NATIVE_SIDECARS": fmt.Sprint(o.NativeSidecars)},
		Behaviour: Behaviour{RewriteLifecycle: true},
		ProxyConfig: func(text string) (*meshconfig.ProxyConfig, error) {
			js, err := sigsyaml.YAMLToJSON([]byte(text))
			if err != nil {
				return nil, err
			}
			return mergeProxy(mesh.DefaultConfig, js)
		},
	})
}

func templatePath(kind string) []string {
	switch kind {
	case "Pod":
		return []string{}
	case "CronJob":
		return []string{"spec", "jobTemplate", "spec", "template"}
	case "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "ReplicationController", "DeploymentConfig":
		return []string{"spec", "template"}
	}
	return nil
}

func injectDoc(e *Engine, doc *yaml.Node) ([]policy.Finding, bool) {
	doc = typed.Deref(doc)
	kind := typed.Get(doc, "kind")
	if kind == nil {
		return nil, false
	}
	if kind.Value == "List" {
		for _, it := range typed.Get(doc, "items").Content {
			if fs, _ := injectDoc(e, it); len(fs) > 0 {
				return fs, true
			}
		}
		return nil, true
	}
	path := templatePath(kind.Value)
	if path == nil {
		return nil, false
	}
	t := doc
	for _, k := range path {
		t = typed.Get(t, k)
	}
	if t == nil {
		return nil, false
	}
	var pt corev1.PodTemplateSpec
	if ps := e.Schema().Decode(t, &pt, false); len(ps) > 0 {
		return []policy.Finding{{Message: ps[0].Message, Field: ps[0].Path}}, true
	}
	if pt.Spec.HostNetwork || pt.Annotations["sidecar.istio.io/inject"] == "false" || pt.Labels["sidecar.istio.io/inject"] == "false" {
		return nil, true
	}
	get := func(n *yaml.Node, k string) string {
		if v := typed.Get(n, k); v != nil {
			return v.Value
		}
		return ""
	}
	md := typed.Get(doc, "metadata")
	in := Input{
		Template: pt, TypeMeta: metav1.TypeMeta{Kind: kind.Value, APIVersion: get(doc, "apiVersion")},
		Owner: metav1.ObjectMeta{Name: get(md, "name"), Namespace: get(md, "namespace")},
	}
	out, fs := e.Inject(in)
	if len(fs) > 0 {
		return fs, true
	}
	enc := e.Schema().Encode(&out.Template, nil)
	for i := 0; i+1 < len(enc.Content); i += 2 {
		set(t, enc.Content[i].Value, enc.Content[i+1])
	}
	return nil, true
}

func set(m *yaml.Node, key string, v *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content[i+1] = v
			return
		}
	}
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v)
}

func docs(t testing.TB, file string) []*yaml.Node {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(string(b)))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if err != nil {
			break
		}
		if len(n.Content) > 0 && !typed.IsNull(n.Content[0]) {
			out = append(out, n.Content[0])
		}
	}
	return out
}

func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e = normal(e); e != nil && k != "status" {
				out[k] = e
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		var out []any
		for _, e := range v {
			out = append(out, normal(e))
		}
		return out
	case int64:
		return float64(v)
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"istio-1.30"} {
		root := filepath.Join("..", "..", "..", "shared", "conformance", version)
		cases, _ := filepath.Glob(filepath.Join(root, "*", "options.json"))
		if len(cases) == 0 {
			t.Skip("the conformance data are not beside the checkout")
		}
		pass := 0
		for _, c := range cases {
			dir := filepath.Dir(c)
			t.Run(filepath.Base(dir), func(t *testing.T) {
				var o options
				b, _ := os.ReadFile(c)
				if err := json.Unmarshal(b, &o); err != nil {
					t.Fatal(err)
				}
				e := newEngine(t, dir, o)
				in := docs(t, filepath.Join(dir, "input.yaml"))
				var fs []policy.Finding
				for _, d := range in {
					f, _ := injectDoc(e, d)
					fs = append(fs, f...)
				}
				if o.ExpectError != nil {
					if len(fs) == 0 {
						t.Fatalf("no error, want %s", *o.ExpectError)
					}
					pass++
					return
				}
				if len(fs) > 0 {
					t.Fatal(fs)
				}
				want := docs(t, filepath.Join(dir, "want.yaml"))
				var g, w []any
				for _, d := range in {
					g = append(g, normal(typed.Generic(d)))
				}
				for _, d := range want {
					w = append(w, normal(typed.Generic(d)))
				}
				if !reflect.DeepEqual(g, w) {
					d := cmp.Diff(w, g)
					if len(d) > 3000 {
						d = d[:3000]
					}
					t.Error(d)
					return
				}
				pass++
			})
		}
		t.Logf("%s: %d of %d", version, pass, len(cases))
	}
}
