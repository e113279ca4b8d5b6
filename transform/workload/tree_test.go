package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// parse gives the document node of one YAML document.
func parse(t *testing.T, source string) *yaml.Node {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(source), &n); err != nil {
		t.Fatal(err)
	}
	return &n
}

func TestChild(t *testing.T) {
	t.Parallel()
	root := parse(t, `
base: &base {a: base, b: base, c: base}
other: &other {b: other, d: other, <<: {e: deep, b: deep}}
plain: {a: own}
merged: {<<: *base, a: own}
late: {a: own, <<: *base}
list: {<<: [*other, *base], c: own}
quoted: {"<<": *base}
alias: *base
nothing: {<<: 1}
`).Content[0]
	for _, tt := range []struct{ mapping, key, want string }{
		{"plain", "a", "own"},
		{"plain", "b", ""},
		{"merged", "a", "own"},
		{"merged", "b", "base"},
		{"late", "a", "own"},
		{"list", "a", "base"},
		{"list", "b", "other"},
		{"list", "c", "own"},
		{"list", "d", "other"},
		{"list", "e", "deep"},
		{"quoted", "a", ""},
		{"alias", "c", "base"},
		{"nothing", "a", ""},
	} {
		_, m := Child(root, tt.mapping)
		key, v := Child(m, tt.key)
		if got := scalar(v); got != tt.want || (key == nil) != (tt.want == "") {
			t.Errorf("%s.%s: %q, want %q", tt.mapping, tt.key, got, tt.want)
		}
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	root := parse(t, `
base: &base {a: base, b: base}
merged: {<<: *base, b: own, c: own}
`).Content[0]
	_, m := Child(root, "merged")
	var got []string
	for _, p := range pairs(m) {
		got = append(got, p.key.Value+"="+p.value.Value)
	}
	if diff := cmp.Diff([]string{"b=own", "c=own", "a=base"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCyclesEnd feeds trees that refer to themselves, which a parser may hand over.
func TestCyclesEnd(t *testing.T) {
	t.Parallel()
	loop := &yaml.Node{Kind: yaml.AliasNode}
	loop.Alias = loop
	if got := Resolve(loop); got != nil {
		t.Errorf("a cycle of aliases gives %v", got)
	}
	self := parse(t, "&m\n<<: [*m, *m]\na: 1\n").Content[0]
	if k, _ := Child(self, "b"); k != nil {
		t.Errorf("a key came out of nowhere: %v", k)
	}
	if got := len(pairs(self)); got != 1 {
		t.Errorf("%d pairs", got)
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		steps []Step
		want  string
	}{
		{nil, ""},
		{[]Step{{Key: "spec"}, {Key: "tasks"}, {Index: 2, IsIndex: true}, {Key: "template"}}, "spec.tasks[2].template"},
		{[]Step{{Key: "metadata"}, {Key: "labels"}, {Key: "a.b/c"}}, `metadata.labels["a.b/c"]`},
		{[]Step{{Key: "a"}, {Key: ""}, {Key: "b"}}, `a[""].b`},
	} {
		if got := Field(tt.steps); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
