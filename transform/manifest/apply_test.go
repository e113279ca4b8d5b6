package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// steps reads a path such as a.b[2].c.
func steps(s string) Path {
	var p Path
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(s, "[", ".["), func(r rune) bool { return r == '.' }) {
		if n, ok := strings.CutPrefix(part, "["); ok {
			i := 0
			for _, c := range strings.TrimSuffix(n, "]") {
				i = i*10 + int(c-'0')
			}
			p = append(p, At(i))
			continue
		}
		p = append(p, Key(part))
	}
	return p
}

func parseDoc(t testing.TB, file, text string) *Parsed {
	t.Helper()
	docs, fs := Split(file, []byte(text))
	if len(docs) != 1 || fs != nil {
		t.Fatalf("%d documents, %v", len(docs), fs)
	}
	p, fs := docs[0].Parse()
	if p == nil {
		t.Fatal(fs)
	}
	return p
}

func TestApply(t *testing.T) {
	t.Parallel()
	val := func(s string) *yaml.Node { return tree(t, s) }
	for name, c := range map[string]struct {
		in, want string
		changes  []Change
		reason   string
	}{
		"move to a list that is absent": {
			in: "spec:\n  containers:\n  # app\n  - name: a\n  # proxy\n  - name: p # sidecar\n    future: yes\n" +
				"    # deep\n\n  restartPolicy: Always\n",
			changes: []Change{
				{Op: Move, Path: steps("spec.containers[1]"), To: steps("spec.initContainers")},
				{Op: Set, Path: steps("spec.containers[1].restartPolicy"), Value: val("Always")},
			},
			want: "spec:\n  containers:\n  # app\n  - name: a\n\n  restartPolicy: Always\n  initContainers:\n  # proxy\n" +
				"  - name: p # sidecar\n    future: yes\n    restartPolicy: Always\n    # deep\n",
		},
		"move to a list of another indentation": {
			in: "containers:\n- name: a\n- name: p\n  args:\n  - |\n    x\n     y\ninit:\n    - name: i\n",
			changes: []Change{
				{Op: Move, Path: steps("containers[1]"), To: steps("init"), Index: 0},
			},
			want: "containers:\n- name: a\ninit:\n    - name: p\n      args:\n      - |\n        x\n         y\n    - name: i\n",
		},
		"swap": {
			in: "l:\n- a # 1\n- b # 2\n- c\n",
			changes: []Change{
				{Op: Move, Path: steps("l[2]"), To: steps("l"), Index: 0},
				{Op: Move, Path: steps("l[0]"), To: steps("l"), Index: 3},
			},
			want: "l:\n- c\n- b # 2\n- a # 1\n",
		},
		"move in JSON": {
			in: "{\n  \"c\": [\n    {\n      \"n\": \"\\u0041\"\n    },\n    {\n      \"n\": 1.0\n    }\n  ]\n}\n",
			changes: []Change{
				{Op: Move, Path: steps("c[0]"), To: steps("i")},
				{Op: Set, Path: steps("c[0].x"), Value: val("y")},
			},
			want: "{\n  \"c\": [\n    {\n      \"n\": 1.0\n    }\n  ],\n  \"i\": [\n    {\n      \"n\": \"\\u0041\",\n      \"x\": \"y\"\n    }\n  ]\n}\n",
		},
		"make all parents": {
			in: "a: 1\n", changes: []Change{
				{Op: Set, Path: steps("b.c.d"), Value: val("x")},
				{Op: Insert, Path: steps("b.c.l"), Value: val("{k: v}")},
				{Op: Set, Path: steps("b.e"), Value: val("{}")},
			},
			want: "a: 1\nb:\n  c:\n    d: x\n    l:\n    - k: v\n  e: {}\n",
		},
		"a collection for a scalar": {
			in: "a: x # why\nb: 2\n", changes: []Change{{Op: Set, Path: steps("a"), Value: val("{c: [1, yes]}")}},
			want: "a: # why\n  c:\n  - 1\n  - \"yes\"\nb: 2\n",
		},
		"a scalar for a collection": {
			in: "a: # why\n  c: 1\n  d: 2\nb: 2\n", changes: []Change{{Op: Set, Path: steps("a"), Value: val("x")}},
			want: "a: x # why\nb: 2\n",
		},
		"lines for a scalar": {
			in: "a: x # why\nb: 2\n", changes: []Change{{Op: Set, Path: steps("a"), Value: keyNode("one\ntwo\n")}},
			want: "a: | # why\n  one\n  two\nb: 2\n",
		},
		"a block for a block": {
			in: "a: >-\n  x\n  y\nb: 2\n", changes: []Change{{Op: Set, Path: steps("a"), Value: keyNode("one\ntwo")}},
			want: "a: |-\n  one\n  two\nb: 2\n",
		},
		"core tag that no longer fits": {
			in: "a: !!str 5\n", changes: []Change{{Op: Set, Path: steps("a"), Value: val("6")}}, want: "a: 6\n",
		},
		"local tag stays": {
			in: "a: !vault x # v\n", changes: []Change{{Op: Set, Path: steps("a"), Value: val("z")}}, want: "a: !vault z # v\n",
		},
		"empty value": {
			in: "a:\nb: # c\n", changes: []Change{
				{Op: Set, Path: steps("a"), Value: val("x")}, {Op: Set, Path: steps("b"), Value: val("[z]")},
			},
			want: "a: x\nb: # c\n- z\n",
		},
		"null item": {
			in: "l:\n-\n- b\n", changes: []Change{{Op: Set, Path: steps("l[0]"), Value: val("{k: v, m: w}")}},
			want: "l:\n- k: v\n  m: w\n- b\n",
		},
		"remove first key of an item with a comment between": {
			in: "l:\n- a: 1\n  # about b\n  b: 2\n", changes: []Change{{Op: Remove, Path: steps("l[0].a")}},
			want: "l:\n- \n  # about b\n  b: 2\n",
		},
		"remove all keys of an item": {
			in: "l:\n- a: 1\n  b: 2 # x\n- c\n", changes: []Change{
				{Op: Remove, Path: steps("l[0].a")}, {Op: Remove, Path: steps("l[0].b")},
			},
			want: "l:\n- {} # x\n- c\n",
		},
		"remove and append at the end without newline": {
			in: "l:\n- a\n- b", changes: []Change{
				{Op: Remove, Path: steps("l[1]")}, {Op: Insert, Path: steps("l"), Index: 2, Value: val("c")},
			},
			want: "l:\n- a\n- c",
		},
		"no change": {
			in: "a: 'x'\nl: [1, 2]\nm: [1]\n", changes: []Change{
				{Op: Set, Path: steps("a"), Value: val("x")},
				{Op: Set, Path: steps("l"), Value: val("[1, 2]")},
				{Op: Remove, Path: steps("zz.y")},
				{Op: Move, Path: steps("m[0]"), To: steps("m"), Index: 1},
			},
			want: "a: 'x'\nl: [1, 2]\nm: [1]\n",
		},
		"remove from flow with comments": {
			in: "l: [\n  a, # first\n  b # second\n]\n", changes: []Change{{Op: Remove, Path: steps("l[1]")}},
			want: "l: [\n  a # first\n]\n",
		},
		"insert first in flow": {
			in: "l: [b]\nm: {k: v}\n", changes: []Change{
				{Op: Insert, Path: steps("l"), Value: val("a")}, {Op: Set, Path: steps("m.x"), Value: keyNode("a, b")},
			},
			want: "l: [a, b]\nm: {k: v, x: \"a, b\"}\n",
		},
		"key alone in flow": {
			in: "a: {b, c}\n", changes: []Change{{Op: Set, Path: steps("a.b"), Value: val("x")}}, want: "a: {b: x, c}\n",
		},
		"fill and empty JSON": {
			in: `{"a": [], "b": {"c": 1}, "d": [1]}`, changes: []Change{
				{Op: Insert, Path: steps("a"), Value: val("0x10")}, {Op: Remove, Path: steps("b.c")}, {Op: Remove, Path: steps("d[0]")},
			},
			want: `{"a": [16], "b": {}, "d": []}`,
		},
		"metadata goes first": {
			in: "{\n\t\"spec\": {\n\t\t\"template\": {\n\t\t\t\"spec\": {}\n\t\t}\n\t}\n}\n", changes: []Change{
				{Op: Set, Path: steps("spec.template.metadata.labels.a"), Value: val("b")},
			},
			want: "{\n\t\"spec\": {\n\t\t\"template\": {\n\t\t\t\"metadata\": {\n\t\t\t\t\"labels\": {\n\t\t\t\t\t\"a\": \"b\"\n" +
				"\t\t\t\t}\n\t\t\t},\n\t\t\t\"spec\": {}\n\t\t}\n\t}\n}\n",
		},
		"alias with another wish": {
			in: "a: &x\n  k: v # c\nb: *x\n", changes: []Change{{Op: Set, Path: steps("b.k"), Value: val("w")}},
			want: "a: &x\n  k: v # c\nb:\n  k: w\n",
		},
		"spelling of what is written out": {
			in: "a: &x {on: yes, n: 0644, s: 'q'}\nb: *x\n", changes: []Change{{Op: Set, Path: steps("b.new"), Value: keyNode("no")}},
			want: "a: &x {on: yes, n: 0644, s: 'q'}\nb:\n  on: yes\n  n: 0644\n  s: 'q'\n  new: 'no'\n",
		},
		"merged key removed": {
			in: "a: &x {k: v, l: w}\nb:\n  <<: *x\n  m: 1\n", changes: []Change{{Op: Remove, Path: steps("b.k")}},
			want: "a: {k: v, l: w}\nb:\n  m: 1\n  l: w\n", reason: "a key that a merge key brings in is removed",
		},
		"clip at the end of the file": {
			in: "l:\n- |\n  x", changes: []Change{{Op: Insert, Path: steps("l"), Index: 1, Value: keyNode("y\n")}},
			want: "l:\n- |-\n  x\n- \"y\\n\"",
		},
		"quotes": {
			in: "a: 'x'\n", changes: []Change{{Op: Set, Path: steps("b"), Value: &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{
				keyNode("it's: x"), keyNode("a\nb\tc\n "), keyNode("10.0.0.1"), keyNode("1_0"), keyNode("12e03"), keyNode("0o7"),
				keyNode("2001-01-01"), keyNode("2001-01-01x"), keyNode("\ufeff"), keyNode("- a"), keyNode("-a"), keyNode("a #b"),
				keyNode("é☃"), keyNode("15:59"), keyNode("="), keyNode(".5"), keyNode("%a"), keyNode("a:"),
			}}}},
			want: "a: 'x'\nb:\n- 'it''s: x'\n- \"a\\nb\\tc\\n \"\n- 10.0.0.1\n- '1_0'\n- '12e03'\n- '0o7'\n- '2001-01-01'\n- 2001-01-01x\n" +
				"- \"\\ufeff\"\n- '- a'\n- -a\n- 'a #b'\n- é☃\n- '15:59'\n- '='\n- '.5'\n- '%a'\n- 'a:'\n",
		},
		"literal forms": {
			in: "a: 1\n\n# end\n", changes: []Change{{Op: Set, Path: steps("b"), Value: &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
				keyNode("c"), keyNode("x\n\n  y"), keyNode("d"), keyNode("  x\ny\n"), keyNode("e"), keyNode("x\n\n"),
			}}}},
			want: "a: 1\nb:\n  c: |-\n    x\n\n      y\n  d: |2\n      x\n    y\n  e: \"x\\n\\n\"\n\n# end\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parseDoc(t, "f.yaml", c.in)
			res, fs := Apply(p, c.changes)
			if fs != nil {
				t.Fatal(fs)
			}
			if d := cmp.Diff(strings.SplitAfter(c.want, "\n"), strings.SplitAfter(string(res.Raw), "\n")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if res.Reason != c.reason {
				t.Errorf("reason %q, want %q", res.Reason, c.reason)
			}
			if res.Changed != (c.in != c.want) {
				t.Errorf("Changed is %v", res.Changed)
			}
			checkEdits(t, p.Doc.Raw, res)
			if _, fs := (Options{NoReencode: true}).Apply(p, c.changes); (fs != nil) != (c.reason != "") {
				t.Errorf("without re-encoding: %v", fs)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Change{
		"through a scalar":  {Op: Set, Path: steps("a.b"), Value: tree(t, "x")},
		"into itself":       {Op: Move, Path: steps("l[0]"), To: steps("l[0].k")},
		"insert in mapping": {Op: Insert, Path: Path{}, Value: tree(t, "x")},
		"index too large":   {Op: Set, Path: steps("l[9]"), Value: tree(t, "x")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parseDoc(t, "f.yaml", "a: 1\nl:\n- k: [x]\n")
			if _, fs := Apply(p, []Change{c}); len(fs) != 1 || fs[0].Code != "E_TYPE" {
				t.Errorf("got %v", fs)
			}
		})
	}
}
