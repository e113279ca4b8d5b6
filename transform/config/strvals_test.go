package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type data = map[string]any

// TestSetExpressions: the cases that Helm documents and tests (docs, "The Format and Limitations of --set"; pkg/strvals), with
// whole numbers as float64.
func TestSetExpressions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind SetKind
		on   data
		in   string
		want data
		err  string
	}{
		"simple":                   {in: "name=value", want: data{"name": "value"}},
		"two":                      {in: "a=b,c=d", want: data{"a": "b", "c": "d"}},
		"trailing comma":           {in: "a=b,", want: data{"a": "b"}},
		"nested":                   {in: "outer.inner=value", want: data{"outer": data{"inner": "value"}}},
		"deeper":                   {in: "a.b.c=1,a.b.d=2,a.e=3", want: data{"a": data{"b": data{"c": 1.0, "d": 2.0}, "e": 3.0}}},
		"list":                     {in: "name={a, b, c}", want: data{"name": []any{"a", " b", " c"}}},
		"list of numbers":          {in: "name={1,2},x=y", want: data{"name": []any{1.0, 2.0}, "x": "y"}},
		"list in json kind":        {kind: SetJSON, in: `name=[1,"b"],x={"y":null}`, want: data{"name": []any{1.0, "b"}, "x": data{"y": nil}}},
		"empty braces":             {in: "name={}", want: data{"name": []any{""}}},
		"index":                    {in: "servers[0].port=80", want: data{"servers": []any{data{"port": 80.0}}}},
		"index, two keys":          {in: "servers[0].port=80,servers[0].host=example", want: data{"servers": []any{data{"port": 80.0, "host": "example"}}}},
		"index beyond":             {in: "list[2]=x", want: data{"list": []any{nil, nil, "x"}}},
		"index of an item":         {on: data{"list": []any{"a", "b"}}, in: "list[1]=x", want: data{"list": []any{"a", "x"}}},
		"nested index":             {in: "nested[1][0]=x", want: data{"nested": []any{nil, []any{"x"}}}},
		"nested index, map":        {in: "nested[0][1].a.b=x", want: data{"nested": []any{[]any{nil, data{"a": data{"b": "x"}}}}}},
		"list in an index":         {in: "l[0]={a,b}", want: data{"l": []any{[]any{"a", "b"}}}},
		"escaped comma":            {in: `name=value1\,value2`, want: data{"name": "value1,value2"}},
		"escaped dot":              {in: `nodeSelector.kubernetes\.io/role=master`, want: data{"nodeSelector": data{"kubernetes.io/role": "master"}}},
		"escaped in a list":        {in: `l={a\,b,c\}d}`, want: data{"l": []any{"a,b", "c}d"}}},
		"escaped bracket":          {in: `a\[0\]=x`, want: data{"a[0]": "x"}},
		"escaped backslash":        {in: `a=b\\c`, want: data{"a": `b\c`}},
		"equals in a value":        {in: "a=b=c", want: data{"a": "b=c"}},
		"braces inside a value":    {in: "a=b{c,d=e}", want: data{"a": "b{c", "d": "e}"}},
		"empty value":              {in: "a=,b=c", want: data{"a": "", "b": "c"}},
		"empty value at the end":   {in: "a=", want: data{"a": ""}},
		"booleans":                 {in: "a=true,b=False", want: data{"a": true, "b": false}},
		"zero":                     {in: "a=0", want: data{"a": 0.0}},
		"leading zeros":            {in: "a=0042,b=00", want: data{"a": "0042", "b": "00"}},
		"negative":                 {in: "a=-3", want: data{"a": -3.0}},
		"large":                    {in: "a=1234567890", want: data{"a": 1234567890.0}},
		"decimals stay text":       {in: "tag=1.30,x=1e3", want: data{"tag": "1.30", "x": "1e3"}},
		"null deletes":             {on: data{"a": data{"b": 1.0, "c": 2.0}}, in: "a.b=null", want: data{"a": data{"c": 2.0}}},
		"null deletes the whole":   {on: data{"a": data{"b": 1.0}, "d": 1.0}, in: "a=null", want: data{"d": 1.0}},
		"null of what is not":      {on: data{"d": 1.0}, in: "a=null", want: data{"d": 1.0}},
		"overrides":                {on: data{"a": data{"b": 1.0, "c": 2.0}}, in: "a.b=x", want: data{"a": data{"b": "x", "c": 2.0}}},
		"below a null":             {on: data{"a": nil}, in: "a.b=x", want: data{"a": data{"b": "x"}}},
		"later wins":               {in: "a=1,a=2", want: data{"a": 2.0}},
		"string kind":              {kind: SetString, in: "a=1,b=true,c={1,2},d=null", want: data{"a": "1", "b": "true", "c": []any{"1", "2"}, "d": "null"}},
		"json object":              {kind: SetJSON, in: `a={"b":1,"c":[true]}`, want: data{"a": data{"b": 1.0, "c": []any{true}}}},
		"json, spaces and commas":  {kind: SetJSON, in: `a="x" , b=2 ,c=[1, 2]`, want: data{"a": "x", " b": 2.0, "c": []any{1.0, 2.0}}},
		"json, empty is null":      {kind: SetJSON, on: data{"a": 1.0}, in: `a=,b=1`, want: data{"b": 1.0}},
		"json, index":              {kind: SetJSON, in: `a[1].b={"c":1}`, want: data{"a": []any{nil, data{"b": data{"c": 1.0}}}}},
		"json, a whole object":     {kind: SetJSON, on: data{"a": data{"x": 1.0}}, in: ` {"a":{"y":2},"b":{},"c":null}`, want: data{"a": data{"x": 1.0, "y": 2.0}, "b": data{}}},
		"json, unicode":            {kind: SetJSON, in: `a="é\u0041",b=1`, want: data{"a": "éA", "b": 1.0}},
		"unicode":                  {in: "ключ=значение,b=é", want: data{"ключ": "значение", "b": "é"}},
		"spaces belong":            {in: "a= b c ,d=e", want: data{"a": " b c ", "d": "e"}},
		"no value":                 {in: "name", err: "has no value"},
		"no value, then one":       {in: "name1,name2=x", err: "has no value"},
		"no value at last":         {in: "a=b,name", err: "has no value"},
		"ends in a dot":            {in: "a.", err: "has no value"},
		"empty key":                {in: "=x", err: "empty"},
		"empty key inside":         {in: "a..b=x", err: "empty"},
		"nothing":                  {in: "", err: "empty"},
		"index without value":      {in: "a[0]", err: "has no value"},
		"no number":                {in: "a[x]=1", err: "no list index"},
		"index open":               {in: "a[0=1", err: "no list index"},
		"negative index":           {in: "a[-1]=1", err: "not within"},
		"huge index":               {in: "a[65537]=1", err: "not within"},
		"behind an index":          {in: "a[0]b=1", err: "unexpected"},
		"open list":                {in: "a={b,c", err: "closing brace"},
		"too deep":                 {in: strings.Repeat("a.", 31) + "a=1", err: "30 levels"},
		"bad json":                 {kind: SetJSON, in: "a={x}", err: "no JSON"},
		"bad json object":          {kind: SetJSON, in: "{x}", err: "no JSON"},
		"a key of a text":          {on: data{"a": "x"}, in: "a.b=1", err: "no mapping"},
		"an index of a text":       {on: data{"a": "x"}, in: "a[0]=1", err: "no list"},
		"a key of a list":          {on: data{"a": []any{1.0}}, in: "a.b=1", err: "no mapping"},
		"one level below the deep": {in: strings.Repeat("a.", 30) + "a=1", want: deep(30, 1.0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTree()
			if c.on != nil {
				tr.root = copyValue(c.on).(data)
			}
			var p problems
			applySets(tr, []Set{{Kind: c.kind, Text: c.in}}, SetKind.Flag, &p)
			if c.err != "" {
				if len(p) != 1 || p[0].Code != CodeSet || !strings.Contains(p[0].Message, c.err) {
					t.Fatalf("want an error with %q, got %v", c.err, p)
				}
				if want := c.kind.Flag() + " " + c.in; p[0].Position.File != want {
					t.Errorf("position %q, want %q", p[0].Position.File, want)
				}
				return
			}
			if len(p) > 0 {
				t.Fatal(p)
			}
			if d := cmp.Diff(c.want, tr.root); d != "" {
				t.Error(d)
			}
		})
	}
}

func deep(n int, v any) data {
	out := data{"a": v}
	for range n {
		out = data{"a": out}
	}
	return out
}

// TestSetPlaces: a value that was set says so; what is below it before is forgotten.
func TestSetPlaces(t *testing.T) {
	t.Parallel()
	n, f := parse(newText(Source{"v.yaml", []byte("a:\n  b: 1\n  c:\n    d: 2\n")}))
	if f != nil {
		t.Fatal(f)
	}
	tr, f := treeOf(newText(Source{Name: "v.yaml"}), n)
	if f != nil {
		t.Fatal(f)
	}
	var p problems
	applySets(tr, []Set{{Text: "a.c={x}"}, {Kind: SetString, Text: "a.e=1"}}, SetKind.Flag, &p)
	for path, want := range map[string]string{
		"a b": "v.yaml:2:3", "a c": "--set a.c={x}", "a c d": "--set a.c={x}", "a c 0": "--set a.c={x}", "a e": "--set-string a.e=1", "a z": "v.yaml:1:1",
	} {
		if got := tr.place(strings.Fields(path)).String(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
