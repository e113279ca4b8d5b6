package profile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/template"
)

// shared gives a path in the conformance data of Istio 1.30, and skips the test where they are not there.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "shared", "conformance", "istio-1.30", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("the conformance data are not beside the checkout")
	}
	return path
}

// decode reads YAML or JSON into v, numbers of a tree as float64.
func decode(t testing.TB, data []byte, v any) {
	t.Helper()
	js, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(json.Unmarshaler); ok {
		err = m.UnmarshalJSON(js)
	} else {
		err = json.Unmarshal(js, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func decodeFile(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, data, v)
}

func proxyDefaults(t testing.TB) *meshconfig.ProxyConfig {
	t.Helper()
	pc := &meshconfig.ProxyConfig{}
	decode(t, []byte(`{configPath: ./etc/istio/proxy, binaryPath: /usr/local/bin/envoy, serviceCluster: istio-proxy,
drainDuration: 45s, terminationDrainDuration: 5s, proxyAdminPort: 15000, controlPlaneAuthPolicy: MUTUAL_TLS,
discoveryAddress: "istiod.istio-system.svc:15012", statNameLength: 189, statusPort: 15020}`), pc)
	return pc
}

func defaultMesh(t testing.TB) *meshconfig.MeshConfig {
	t.Helper()
	mesh := &meshconfig.MeshConfig{}
	decode(t, []byte(`{trustDomain: cluster.local, rootNamespace: istio-system, proxyListenPort: 15001,
proxyInboundListenPort: 15006, enablePrometheusMerge: true}`), mesh)
	mesh.DefaultConfig = proxyDefaults(t)
	return mesh
}

func parse(t testing.TB, name, text string) *template.Template {
	t.Helper()
	tmpl, f := template.Parse(name, text, policy.Position{File: name, Line: 1},
		template.Functions(template.Environment{ProxyDefaults: proxyDefaults(t)}))
	if f != nil {
		t.Fatal(*f)
	}
	return tmpl
}

// deployment is the template data of a Deployment whose pod template is p.
func deployment(t testing.TB, p corev1.Pod, values map[string]any) *pod.Data {
	t.Helper()
	mesh := defaultMesh(t)
	return &pod.Data{
		TypeMeta:       metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		DeploymentMeta: metav1.ObjectMeta{Name: "web"},
		ObjectMeta:     p.ObjectMeta, Spec: p.Spec,
		ProxyConfig: mesh.DefaultConfig, MeshConfig: mesh, Values: values,
		ProxyImage: "registry.example/proxyv2:1", ProxyUID: policy.ProxyUserID, ProxyGID: policy.ProxyUserID,
		InboundTrafficPolicyMode: "passthrough",
	}
}

// merged lays over on top of base, map by map; a null takes the key out. It changes base.
func merged(base, over map[string]any) map[string]any {
	for k, v := range over {
		switch v := v.(type) {
		case nil:
			delete(base, k)
		case map[string]any:
			if b, ok := base[k].(map[string]any); ok {
				merged(b, v)
				continue
			}
			base[k] = v
		default:
			base[k] = v
		}
	}
	return base
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	}
	return v
}
