package transform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/transform/typed"
)

// longList is a list of n items in different clothes, and what stands around them.
func longList(n int, before, after string) string {
	var b strings.Builder
	b.WriteString("# head\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\n" + before + "items: # all of them\n")
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "- apiVersion: v1\n  kind: Pod\n  metadata: {name: p%d}\n  spec:\n    containers:\n    - {name: x, image: i} # c%d\n", i, i)
		case 1:
			fmt.Fprintf(&b, "  # before\n- kind: ConfigMap\n  apiVersion: v1\n  metadata: {name: m%d}\n  data:\n    text: |\n      - a\n\n      items:\n", i)
		case 2:
			fmt.Fprintf(&b, "-   {apiVersion: v1, kind: Pod, metadata: {name: p%d}, spec: {containers: [{name: x, image: i}]}}\n", i)
		case 3:
			fmt.Fprintf(&b, "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: d%d}\n  spec: {template: {metadata: {labels: {sidecar.istio.io/inject: \"no\"}}, spec: {containers: [{name: x, image: i}]}}}\n", i)
		}
	}
	return b.String() + after
}

// TestFunctionPieces holds that a long list comes out as a short one does, item by item.
func TestFunctionPieces(t *testing.T) {
	t.Parallel()
	const fn = "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: f}}\n"
	for name, around := range map[string][2]string{
		"config behind": {"", fn}, "config in front": {fn, ""}, "comment behind": {fn, "# the end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 3*pieceItems + 2
			text := longList(n, around[0], around[1])
			long := Function{}.Run("-", []byte(text))
			// An anchor keeps the list in one piece.
			plain := Function{}.Run("-", []byte(strings.Replace(text, "# all of them\n", "&a # all of them\n", 1)))
			if long.Status != Done || plain.Status != Done {
				t.Fatalf("%d %d: %s", long.Status, plain.Status, messages(long.Findings))
			}
			if d := cmp.Diff(messages(plain.Findings), messages(long.Findings)); d != "" {
				t.Errorf("findings (-whole +pieces)\n%s", d)
			}
			want := strings.Replace(string(plain.Raw), "&a # all of them\n", "# all of them\n", 1)
			// A comment at the end stands behind the results or before them.
			cut := func(s string) string {
				s, _, _ = strings.Cut(strings.ReplaceAll(s, "# the end", ""), "results:")
				return strings.TrimRight(s, "\n")
			}
			if d := cmp.Diff(cut(want), cut(string(long.Raw))); d != "" {
				t.Errorf("items (-whole +pieces)\n%s", d)
			}
			if d := cmp.Diff(data(t, want), data(t, string(long.Raw))); d != "" {
				t.Errorf("data (-whole +pieces)\n%s", d)
			}
			if len(long.Workloads) != n-(n+2)/4 {
				t.Errorf("%d workloads", len(long.Workloads))
			}
		})
	}
}

func data(t *testing.T, text string) any {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return typed.Generic(n.Content[0])
}
