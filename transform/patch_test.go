package transform

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

func parseJSON(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCompare(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, after, want string }{
		"same":   {`{"a":1}`, `{"a":1}`, ``},
		"scalar": {`{"a":1}`, `{"a":"1"}`, `{"op":"replace","path":"/a","value":"1"}`},
		"keys in order": {
			`{"c":1,"b":2}`, `{"b":3,"a":1,"d":4}`,
			`{"op":"add","path":"/a","value":1}
{"op":"replace","path":"/b","value":3}
{"op":"remove","path":"/c"}
{"op":"add","path":"/d","value":4}`,
		},
		"missing parent comes whole": {`{}`, `{"a":{"b":[1]}}`, `{"op":"add","path":"/a","value":{"b":[1]}}`},
		"another kind":               {`{"a":{"b":1}}`, `{"a":[1]}`, `{"op":"replace","path":"/a","value":[1]}`},
		"null is a value":            {`{"a":null}`, `{"b":null}`, "{\"op\":\"remove\",\"path\":\"/a\"}\n{\"op\":\"add\",\"path\":\"/b\",\"value\":null}"},
		"pointer is escaped":         {`{}`, `{"a~/b":1}`, `{"op":"add","path":"/a~0~1b","value":1}`},
		"html is not escaped":        {`{}`, `{"a":"<&>"}`, `{"op":"add","path":"/a","value":"<&>"}`},
		"appended": {
			`{"l":[{"name":"a"}]}`, `{"l":[{"name":"a"},{"name":"b"},{"name":"c"}]}`,
			`{"op":"add","path":"/l/-","value":{"name":"b"}}
{"op":"add","path":"/l/-","value":{"name":"c"}}`,
		},
		"put in front moves the rest": {
			`{"l":[{"name":"a","image":"x"}]}`, `{"l":[{"name":"p"},{"name":"a","image":"y"}]}`,
			`{"op":"add","path":"/l/0","value":{"name":"p"}}
{"op":"replace","path":"/l/1/image","value":"y"}`,
		},
		"taken out from the last": {
			`{"l":["a","b","c","d"]}`, `{"l":["b","d"]}`,
			`{"op":"remove","path":"/l/2"}
{"op":"remove","path":"/l/0"}`,
		},
		"another order": {
			`{"l":[{"name":"a"},{"name":"b"}]}`, `{"l":[{"name":"b"},{"name":"a"}]}`,
			`{"op":"remove","path":"/l/0"}
{"op":"add","path":"/l/-","value":{"name":"a"}}`,
		},
		"ports by number and protocol": {
			`{"l":[{"containerPort":53,"protocol":"UDP"}]}`,
			`{"l":[{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP","name":"dns"}]}`,
			`{"op":"add","path":"/l/0","value":{"containerPort":53,"protocol":"TCP"}}
{"op":"add","path":"/l/1/name","value":"dns"}`,
		},
		"names that repeat are no names": {
			`{"l":[{"name":"a","v":1},{"name":"a","v":2}]}`, `{"l":[{"name":"a","v":2}]}`,
			`{"op":"remove","path":"/l/0"}`,
		},
		"the root": {`1`, `2`, `{"op":"replace","path":"","value":2}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, o := range Compare(parseJSON(t, tc.before), parseJSON(t, tc.after)) {
				got = append(got, o.String())
			}
			if d := cmp.Diff(tc.want, strings.Join(got, "\n")); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestCompareApplies holds on random trees that what another library makes of the patch is "after".
func TestCompareApplies(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	for range 3000 {
		before, after := map[string]any{"x": randomTree(r, 4)}, map[string]any{"x": randomTree(r, 4)}
		ops := Compare(before, after)
		patch, err := jsonpatch.DecodePatch(PatchText(ops, ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := patch.Apply([]byte(canonical(before)))
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, canonical(before), PatchText(ops, ""))
		}
		if d := cmp.Diff(parseJSON(t, canonical(after)), parseJSON(t, string(got))); d != "" {
			t.Fatalf("(-want +got)\n%s\n%s", d, PatchText(ops, ""))
		}
	}
}

// randomTree is a small tree in which names and values come again, as in two versions of one object.
func randomTree(r *rand.Rand, depth int) any {
	names := []string{"a", "b", "c", "name", "x/y", "m~n"}
	switch n := r.IntN(6); {
	case depth == 0 || n < 2:
		return []any{"v", "w", 1.0, true, nil}[r.IntN(5)]
	case n < 4:
		m := map[string]any{}
		for range r.IntN(4) {
			m[names[r.IntN(len(names))]] = randomTree(r, depth-1)
		}
		return m
	default:
		list := []any{}
		named := r.IntN(2) == 0
		for i := range r.IntN(5) {
			e := randomTree(r, depth-1)
			if named {
				e = map[string]any{"name": names[(i*5+r.IntN(3))%len(names)], "v": e}
			}
			list = append(list, e)
		}
		return list
	}
}

func TestComponent(t *testing.T) {
	t.Parallel()
	guard := PatchOp{Op: OpTest, Path: "/spec/containers/0/name", Value: "y"}
	ops := []PatchOp{{Op: OpAdd, Path: "/a", Value: "on"}}
	got, fs := Component([]Patch{
		{Target: PatchTarget{APIVersion: "v1", Kind: "Pod", Name: "on"}, Guard: guard, Ops: ops},
		{Target: PatchTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "a.b", Namespace: "n"}, Guard: guard, Ops: ops},
	})
	want := `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target:
      version: v1
      kind: Pod
      name: "on"
    patch: |-
      [
        {"op":"test","path":"/spec/containers/0/name","value":"y"},
        {"op":"add","path":"/a","value":"on"}
      ]
  - target:
      group: apps
      version: v1
      kind: Deployment
      name: a\.b
      namespace: "n"
    patch: |-
      [
        {"op":"test","path":"/spec/containers/0/name","value":"y"},
        {"op":"add","path":"/a","value":"on"}
      ]
`
	if d := cmp.Diff(want, string(got)); d != "" || len(fs) > 0 {
		t.Errorf("%v (-want +got)\n%s", fs, d)
	}
}

func TestComponentOfNothing(t *testing.T) {
	t.Parallel()
	got, fs := Component(nil)
	want := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: []\n"
	if d := cmp.Diff(want, string(got)); d != "" || len(fs) > 0 {
		t.Errorf("%v (-want +got)\n%s", fs, d)
	}
}

func TestComponentNeedsNames(t *testing.T) {
	t.Parallel()
	text, fs := Component([]Patch{
		{Target: PatchTarget{Kind: "Job", GenerateName: "a-"}, Position: policy.Position{File: "f", Line: 3}},
		{Target: PatchTarget{Kind: "Job", Name: "b"}},
		{Target: PatchTarget{Kind: "Job", GenerateName: "c-"}, Position: policy.Position{File: "f", Line: 9}},
	})
	if text != nil || len(fs) != 2 || fs[0].Position.Line != 3 || fs[1].Resource.GenerateName != "c-" {
		t.Errorf("%q %v", text, fs)
	}
}

// fixed makes of every document another text.
type fixed struct{ after string }

func (f fixed) Document(manifest.Document) Result { return Result{Raw: []byte(f.after), Changed: true} }

func TestPatcherObjects(t *testing.T) {
	t.Parallel()
	item := func(name, image string) string {
		return "- apiVersion: v1\n  kind: Pod\n  metadata: {name: " + name + "}\n  spec:\n    containers: [{name: web, image: " + image + "}]\n"
	}
	list := func(items ...string) string { return "apiVersion: v1\nkind: List\nitems:\n" + strings.Join(items, "") }
	docs, _ := manifest.Split("f.yaml", []byte(list(item("a", "x"), item("b", "x"), item("c", "x"))))
	p := Patcher{fixed{list(item("a", "x"), item("b", "z"), item("c", "w"))}, workload.Default()}
	r := p.Document(docs[0])
	var got []string
	for _, x := range r.Patches {
		got = append(got, x.Target.String()+" "+x.Guard.String()+" "+x.Ops[0].String())
	}
	guard := `{"op":"test","path":"/spec/containers/0/name","value":"web"}`
	want := []string{
		`{"apiVersion":"v1","kind":"Pod","name":"b","file":"f.yaml","index":0} ` + guard + ` {"op":"replace","path":"/spec/containers/0/image","value":"z"}`,
		`{"apiVersion":"v1","kind":"Pod","name":"c","file":"f.yaml","index":0} ` + guard + ` {"op":"replace","path":"/spec/containers/0/image","value":"w"}`,
	}
	if d := cmp.Diff(want, got); d != "" || r.Raw != nil {
		t.Errorf("%q (-want +got)\n%s", r.Raw, d)
	}
}

func TestJSONPrinter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"yaml":        {"b: 0644\na: [on, \"on\", <&>]\n", "{\n    \"a\": [\n        true,\n        \"on\",\n        \"<&>\"\n    ],\n    \"b\": 420\n}\n"},
		"json stays":  {` {"b": 1.0, "a":2}`, "{\"b\": 1.0, \"a\":2}\n"},
		"nothing":     {"# only a comment\n", ""},
		"null":        {"null\n", ""},
		"not in JSON": {"a: .inf\n", "E_TYPE"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, _ := manifest.Split("f.yaml", []byte(tc.in))
			var got strings.Builder
			for _, d := range docs {
				r := JSONPrinter{untouched{}}.Document(d)
				got.Write(r.Raw)
				for _, f := range r.Findings {
					got.WriteString(f.Code)
				}
			}
			if d := cmp.Diff(tc.want, got.String()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// untouched leaves every document.
type untouched struct{}

func (untouched) Document(d manifest.Document) Result { return Result{Raw: d.Raw} }
