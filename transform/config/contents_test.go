package config

import (
	"strings"
	"testing"
)

func TestContentsOf(t *testing.T) {
	t.Parallel()
	const injector = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio-sidecar-injector}\ndata:\n  config: 'templates: {}'\n  values: '{}'\n"
	const mesh = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio}\ndata:\n  mesh: 'trustDomain: a'\n"
	for _, c := range []struct {
		name, data string
		want       Contents
		message    string
	}{
		{name: "config", data: "templates:\n  sidecar: ''\n", want: Contents{Injection: true}},
		{name: "bare template", data: "spec:\n  {{ if .Values.a }}\n", want: Contents{Injection: true}},
		{name: "values", data: "global: {}\n", want: Contents{Values: true}},
		{name: "values with mesh", data: "global: {}\nmeshConfig: {}\n", want: Contents{Values: true, Mesh: true}},
		{name: "mesh", data: "trustDomain: a\n", want: Contents{Mesh: true}},
		{name: "injector", data: injector, want: Contents{Injection: true, Values: true, Dump: true}},
		{name: "stream", data: injector + "---\n" + mesh, want: Contents{Injection: true, Values: true, Mesh: true, Dump: true}},
		{
			name: "operator", data: "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nmetadata: {name: a}\nspec:\n  values: {}\n  meshConfig: {}\n",
			want: Contents{Values: true, Mesh: true},
		},
		{name: "empty", data: "# none\n", message: "the file is empty"},
		{name: "broken", data: "templates: [\n", message: "not valid YAML"},
		{name: "chart template", data: "{{- if .Values.a }}\napiVersion: v1\nkind: ConfigMap\n{{- end }}\n", message: "the unrendered template of a chart"},
		{name: "manifest", data: "apiVersion: v1\nkind: Pod\n", message: "looks like a Kubernetes manifest"},
		{name: "manifests", data: "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Service\n", message: "a stream of 2 documents (Pod, Service)"},
		{name: "text", data: "hello\n", message: `looks like the text "hello"`},
		{name: "other keys", data: "resources: []\n", message: "a mapping with the keys resources"},
		{name: "other ConfigMap", data: strings.ReplaceAll(mesh, "mesh:", "root:"), message: "no injection config, no values and no mesh config here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, f := ContentsOf(Source{Name: "a.yaml", Data: []byte(c.data)})
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			switch {
			case f == nil && c.message != "":
				t.Errorf("no finding, want %q", c.message)
			case f != nil && (c.message == "" || !strings.Contains(f.Message, c.message)):
				t.Errorf("finding %v, want %q", f, c.message)
			}
		})
	}
}
