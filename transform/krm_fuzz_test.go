package transform

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/transform/typed"
)

// FuzzFunction feeds the reader of ResourceLists. Whatever comes, the answer is a list with as many items as there were,
// or an error.
func FuzzFunction(f *testing.F) {
	const head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
	for _, seed := range []string{
		head + "items:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: x, image: i}]}}\n",
		head + "items: []\nfunctionConfig: {apiVersion: inject.krm/v1alpha1, kind: Injector, spec: {mode: Validate, passItems: false}}\n",
		head + "items: [null, 3, {kind: List, apiVersion: v1, items: [{}]}]\nresults: [{message: x}]\n",
		head + "functionConfig: {apiVersion: v1, kind: ConfigMap, data: {config: 'templates: {a: {}}'}}\nitems:\n- &a {kind: Pod}\n- *a\n",
		"{\"apiVersion\":\"config.kubernetes.io/v1\",\"kind\":\"ResourceList\",\"items\":[]}",
		"kind: ResourceList\n---\n", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		out := Function{}.Run("-", input)
		if out.Status != Done && len(out.Findings) == 0 {
			t.Fatalf("status %d without a finding", out.Status)
		}
		if out.Status != Done || out.Raw == nil {
			return
		}
		list, fs := parseResourceList("-", out.Raw)
		if list == nil {
			t.Fatalf("the answer is no list: %v\n%s", fs, out.Raw)
		}
		before, _ := parseResourceList("-", input)
		if len(list.items) != len(before.items) && len(list.items) != 0 {
			t.Fatalf("%d items became %d", len(before.items), len(list.items))
		}
		var n yaml.Node
		if err := yaml.Unmarshal(out.Raw, &n); err == nil && len(n.Content) > 0 && !isResourceList(typed.Deref(n.Content[0])) {
			t.Fatalf("the answer is no list:\n%s", out.Raw)
		}
	})
}
