package transform

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
)

const proxyResources = `
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: {name: mesh, namespace: istio-system}
spec: {concurrency: 1, environmentVariables: {A: root, B: root, C: root, D: root}, image: {imageType: debug}}
---
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: {name: young, namespace: shop, creationTimestamp: "2026-02-01T00:00:00Z"}
spec: {concurrency: 9}
---
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: {name: old, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {concurrency: 2, environmentVariables: {B: ns, C: ns, D: ns}}
---
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: {name: one, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  concurrency: 0
  environmentVariables: {D: pod}
---
apiVersion: networking.istio.io/v1beta1
kind: ProxyConfig
metadata: {name: bad, namespace: bad}
spec: {concurrency: many, selector: [], other: 1, environmentVariables: {A: {b: c}}}
`

func TestProxyConfigLayers(t *testing.T) {
	t.Parallel()
	found := surveyed([]byte(proxyResources), 64)
	if len(found.Findings) != 3 {
		t.Errorf("findings %v", found.Findings)
	}
	b, fs := config.Load(config.LoadOptions{Embedded: Embedded()})
	if policy.HasErrors(fs) {
		t.Fatal(fs)
	}
	mesh := b.Mesh
	type want struct {
		concurrency int32
		metadata    map[string]string
		image       string
	}
	const annotation = "concurrency: 5\nproxyMetadata: {C: note, D: note}\nimage: {imageType: distroless}\n"
	for name, tt := range map[string]struct {
		namespace, app, annotation string
		want                       want
	}{
		"root alone":       {"other", "web", "", want{1, map[string]string{"A": "root", "B": "root", "C": "root", "D": "root"}, "debug"}},
		"in the root":      {"istio-system", "web", "", want{1, map[string]string{"A": "root", "B": "root", "C": "root", "D": "root"}, "debug"}},
		"oldest namespace": {"shop", "api", "", want{2, map[string]string{"A": "root", "B": "ns", "C": "ns", "D": "ns"}, "debug"}},
		"annotation":       {"shop", "api", annotation, want{5, map[string]string{"A": "root", "B": "ns", "C": "note", "D": "note"}, "distroless"}},
		"workload on top":  {"shop", "web", annotation, want{0, map[string]string{"A": "root", "B": "ns", "C": "note", "D": "pod"}, "distroless"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			layers := found.ProxyConfigs("istio-system", tt.namespace, map[string]string{"app": tt.app})
			pc, err := layers.effective(mesh, tt.annotation)
			if err != nil {
				t.Fatal(err)
			}
			got := want{pc.GetConcurrency().GetValue(), pc.GetProxyMetadata(), pc.GetImage().GetImageType()}
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{})); d != "" {
				t.Error(d)
			}
			if pc.GetDrainDuration().GetSeconds() != 45 {
				t.Error("the defaults are lost")
			}
		})
	}
	if d := cmp.Diff(config.DefaultProxyConfig(config.Modern), mesh.Config.DefaultConfig, protocmp.Transform()); d != "" {
		t.Errorf("the mesh's own config is changed:\n%s", d)
	}
	var none *Surroundings
	if !none.ProxyConfigs("istio-system", "shop", nil).empty() {
		t.Error("no surroundings have resources")
	}
}

func TestProxyConfigDefaultNamespace(t *testing.T) {
	t.Parallel()
	found := surveyed([]byte("kind: ProxyConfig\napiVersion: networking.istio.io/v1\nmetadata: {name: a}\nspec: {concurrency: 3}\n"), 64)
	for namespace, want := range map[string]bool{"": true, "shop": false} {
		if got := found.ProxyConfigs("istio-system", namespace, nil).Namespace != nil; got != want {
			t.Errorf("namespace %q: counts %v, want %v", namespace, got, want)
		}
	}
	found.DefaultNamespace = "shop"
	if found.ProxyConfigs("istio-system", "shop", nil).Namespace == nil {
		t.Error("--namespace does not place a resource without one")
	}
}
