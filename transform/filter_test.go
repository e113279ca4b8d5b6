package transform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// testFilter is an injector of one small template.
func testFilter() (*Injector, error) {
	b, fs := config.Load(config.LoadOptions{
		Embedded: Embedded(), IstioVersion: "1.30",
		Injection: &config.Source{Name: "c", Data: []byte(krmConfig)},
		Values:    &config.Source{Name: "v", Data: []byte(`{"global":{"hub":"on","tag":"y"}}`)},
	})
	if b == nil {
		return nil, fmt.Errorf("%v", fs)
	}
	c, fs := Compile(b, Setup{Registry: workload.Default()})
	if c == nil {
		return nil, fmt.Errorf("%v", fs)
	}
	return New(c.Options), nil
}

func parseNodes(t *testing.T, texts ...string) []*kyaml.RNode {
	t.Helper()
	out := make([]*kyaml.RNode, len(texts))
	for i, text := range texts {
		n, err := kyaml.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = n
	}
	return out
}

func TestFilterWords(t *testing.T) {
	t.Parallel()
	in, err := testFilter()
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := in.Filter(parseNodes(t, `apiVersion: v1
kind: Pod
metadata:
  name: a # kept
  labels: {x: yes}
spec:
  containers:
  - name: web
    image: i
    args: [on, n]
`))
	if err != nil {
		t.Fatal(err)
	}
	text := nodes[0].MustString()
	for _, want := range []string{"name: a # kept", "labels: {x: yes", "args: [on, n]", `image: on/proxyv2:y`} {
		if !strings.Contains(text, want) {
			t.Errorf("lost %q:\n%s", want, text)
		}
	}
}

func TestFilterTextStaysText(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"on": `"on"`, "0644": `"0644"`, "1e3": `"1e3"`, "word": "word", "": `""`, "y": `"y"`} {
		n := plainSafe(textNode(value))
		text, err := kyaml.NewRNode(n).String()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, strings.TrimSpace(text)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

func TestNodeTells(t *testing.T) {
	t.Parallel()
	in, err := testFilter()
	if err != nil {
		t.Fatal(err)
	}
	n := parseNodes(t, `apiVersion: v1
kind: Pod
metadata:
  name: a
  labels: {sidecar.istio.io/inject: "false"}
  annotations: {internal.config.kubernetes.io/path: dir/a.yaml, internal.config.kubernetes.io/index: "1"}
spec: {containers: [{name: web, image: i}]}
`)[0].YNode()
	after, r := in.Node(n)
	if after != n || r.Changed || len(r.Workloads) != 1 {
		t.Fatalf("%v %+v", after == n, r)
	}
	w := r.Workloads[0]
	if w.Action != Skipped || w.File != "dir/a.yaml" || w.Document != 2 || w.Line != 0 {
		t.Errorf("%+v", w)
	}
	if after, r := in.Node(nil); after != nil || r.Failed() {
		t.Error("nothing became something")
	}
}
