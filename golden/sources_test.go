package golden

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
)

// Every way of giving the same configuration injects the same bytes: the bare files, the ConfigMaps as kubectl prints them
// in YAML and in JSON, what config.Show prints, and a profile. Each configuration of the shared data is tried once, on the
// first of the cases that use it.
func TestSourcesInjectTheSame(t *testing.T) {
	t.Parallel()
	type key struct{ config, values, mesh, revision string }
	for _, corpus := range []string{
		"istio-1.6", "istio-1.7", "istio-1.24", "istio-1.25", "istio-1.26", "istio-1.27", "istio-1.28", "istio-1.29",
		"istio-1.30", "istio-1.31",
	} {
		seen := map[key]bool{}
		for _, c := range conformanceCases(t, corpus) {
			k := key{c.Config, c.Values, c.Mesh, c.Revision}
			if c.fails() || seen[k] {
				continue
			}
			seen[k] = true
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				sameFromAllSources(t, c)
			})
		}
	}
}

func sameFromAllSources(t *testing.T, c conformanceCase) {
	t.Helper()
	files := config.LoadOptions{
		Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh), Revision: c.Revision,
		Embedded: transform.Embedded(),
	}
	b, fs := config.Load(files)
	if b == nil {
		t.Skipf("the bare files do not load: %v", fs)
	}
	want, fs := c.run(t, files, transform.Setup{})
	if len(fs) > 0 {
		t.Skipf("the bare files do not inject: %v", fs)
	}
	version := b.Istio.Version.String()
	check := func(form string, o config.LoadOptions) {
		t.Helper()
		o.Revision, o.Embedded = c.Revision, transform.Embedded()
		got, fs := c.run(t, o, transform.Setup{})
		if len(fs) > 0 {
			t.Errorf("%s: %v", form, fs)
			return
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%s (-bare files +%s):\n%s", form, form, cmp.Diff(string(want), string(got)))
		}
	}
	if !b.Injection.Bare {
		dump := configMaps(files)
		check("ConfigMaps as YAML", config.LoadOptions{From: asYAML(t, dump)})
		check("ConfigMaps as JSON", config.LoadOptions{From: asJSON(t, dump)})
	}
	injection, values, mesh := config.Show(b)
	check("what is shown", config.LoadOptions{
		Injection: &config.Source{Name: "config.yaml", Data: injection}, Values: &config.Source{Name: "values.yaml", Data: values},
		Mesh: &config.Source{Name: "mesh.yaml", Data: mesh}, IstioVersion: version,
	})
	profile, fs := config.ReadProfile("prof", config.WriteProfile(b, config.About{IstioVersion: version, Revision: b.Revision}))
	if profile == nil {
		t.Fatalf("the profile does not load: %v", fs)
	}
	check("a profile", config.LoadOptions{Profile: profile})
}

// configMaps gives the List that kubectl get configmap prints.
func configMaps(o config.LoadOptions) map[string]any {
	object := func(name string, data map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{"name": name, "namespace": "istio-system", "resourceVersion": "17"},
		}
	}
	injector := map[string]any{"config": string(o.Injection.Data)}
	if o.Values != nil {
		injector["values"] = string(o.Values.Data)
	}
	items := []any{object("istio-sidecar-injector", injector)}
	if o.Mesh != nil {
		items = append(items, object("istio", map[string]any{"mesh": string(o.Mesh.Data), "meshNetworks": "networks: {}"}))
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}
}

func asYAML(t testing.TB, v any) *config.Source {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return &config.Source{Name: "dump.yaml", Data: text}
}

func asJSON(t testing.TB, v any) *config.Source {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return &config.Source{Name: "dump.json", Data: text}
}
