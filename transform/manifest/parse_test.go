package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// where prints a finding as "line:col code".
func where(fs []policy.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%d:%d %s", f.Position.Line, f.Position.Column, f.Code))
	}
	return out
}

func TestParseFindings(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1001) + strings.Repeat("]", 1001)
	for name, c := range map[string]struct {
		file, in string
		want     []string
		text     string
	}{
		"good":                  {"f.yaml", "a: 1\n", nil, ""},
		"duplicate":             {"f.yaml", "a: 1\nb:\n  c: 1\n  'c': 2\n\"a\": 3\n", []string{"5:1 E_DUPKEY", "4:3 E_DUPKEY"}, "first on line 1"},
		"duplicate, many keys":  {"f.yaml", "a: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\ng: 1\nh: 1\ni: 1\nj: 1\nk: 1\nl: 1\nm: 1\na: 2\n", []string{"14:1 E_DUPKEY"}, "first on line 1"},
		"duplicate in JSON":     {"f.json", "{\"a\": 1,\n \"\\u0061\": 2}", []string{"2:2 E_DUPKEY"}, "first on line 1"},
		"two merge keys":        {"f.yaml", "a: &a {b: c}\nd:\n  <<: *a\n  <<: *a\n", []string{"4:3 E_DUPKEY"}, ""},
		"alias without anchor":  {"f.yaml", "a: \"*x\" # *x\nb: |\n  *x\nc: [1, *x]\n", []string{"4:8 E_ALIAS"}, "*x"},
		"anchor comes later":    {"f.yaml", "a: *x\nb: &x 1\n", []string{"1:4 E_ALIAS"}, "no anchor"},
		"alias to itself":       {"f.yaml", "a: &x\n  b: *x\n", []string{"2:6 E_ALIAS"}, "itself"},
		"merge of a scalar":     {"f.yaml", "a: &x 1\nb:\n  <<: *x\n", []string{"3:3 E_ALIAS"}, "merge"},
		"local tag":             {"f.yaml", "a: !x 1\nb: !x 2\nc: !!str 3\n", []string{"1:4 W_TAG"}, "!x"},
		"array":                 {"f.json", "[{\"kind\": \"Pod\"}]", []string{"1:1 W_ARRAY"}, "array"},
		"deep":                  {"f.yaml", "a: " + deep + "\n", []string{"1:1003 E_LIMIT"}, "nested"},
		"deep JSON":             {"f.json", deep, []string{"1:1001 E_LIMIT"}, "nested"},
		"version 2":             {"f.yaml", "# c\n%YAML 2.0\n---\na: 1\n", []string{"2:1 E_SYNTAX"}, "%YAML 2.0"},
		"version 1.2":           {"f.yaml", "%YAML 1.2\n---\na: 1\n", nil, ""},
		"open quote":            {"f.yaml", "a: 'x'\nb: [\"é\",\n  \"y\n", []string{"3:3 E_SYNTAX"}, "quoted scalar"},
		"open bracket":          {"f.yaml", "a: 1\nb: [x,\n  {y: z\n", []string{"3:3 E_SYNTAX"}, "flow mapping {"},
		"tab":                   {"f.yaml", "a:\n\tb: 1\n", []string{"2:1 E_SYNTAX"}, "tab"},
		"two values":            {"f.yaml", "a: b: c\n", []string{"1:1 E_SYNTAX"}, "': '"},
		"bad start":             {"f.yaml", "a: 1\nb: @x\n", []string{"2:1 E_SYNTAX"}, "'@'"},
		"control":               {"f.yaml", "a: é\u0080\n", []string{"1:5 E_ENCODING"}, "U+0080"},
		"action in place":       {"f.yaml", "a: 1\nb: {{ .Values.x }}\n", []string{"2:4 E_TEMPLATE"}, "{{ .Values.x }}"},
		"action in a scalar":    {"f.yaml", "a: 'x {{ .Values.x }}'\nb: x-{{ .Values.x }}\n", []string{"2:6 E_TEMPLATE"}, ""},
		"action on a line":      {"f.yaml", "a:\n  {{- toYaml .x | nindent 2 }}\n", []string{"2:3 E_TEMPLATE"}, ""},
		"action in plain lines": {"f.yaml", "a: b\n  {% c %}\n", []string{"2:3 E_TEMPLATE"}, "{% c %}"},
		"actions as data":       {"f.yaml", "a: '{{ .Values.x }}'\nb: |\n  {{ if }}\nc: ${{ github.sha }}\nd: x{{.ID}}\n", nil, ""},
		"JSON comma":            {"f.json", "{\"a\": 1,\n}", []string{"2:1 E_SYNTAX"}, "JSON"},
		"JSON text after":       {"f.json", "{\"a\": 1} x", []string{"1:10 E_SYNTAX"}, "JSON"},
		"JSON string":           {"f.json", "{\"a\": \"x\n\"}", []string{"1:9 E_SYNTAX"}, "JSON"},
		"YAML in a JSON file":   {"f.json", "a: 1\n", []string{"1:1 E_SYNTAX"}, "JSON"},
		"not quite JSON":        {"f.yaml", "{\"a\": 1,}\n", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, fs := Split(c.file, []byte(c.in))
			if len(docs) != 1 || fs != nil {
				t.Fatalf("%d documents, %v", len(docs), fs)
			}
			p, fs := docs[0].Parse()
			if d := cmp.Diff(c.want, where(fs)); d != "" {
				t.Errorf("(-want +got):\n%s%v", d, fs)
			}
			if len(fs) > 0 && !strings.Contains(fs[0].Message, c.text) {
				t.Errorf("message %q lacks %q", fs[0].Message, c.text)
			}
			if broken := len(fs) > 0 && fs[0].Severity == policy.Error; broken != (p == nil) {
				t.Errorf("tree is %v with %v", p, fs)
			}
		})
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	text := "\ufeff# c\n---\r\na: é ☃\rb: [x, \"é😀\", &k y]\u2028c:\n  - d: e\n---\nz: 1\n"
	docs, _ := Split("f.yaml", []byte(text))
	p, fs := docs[0].Parse()
	if p == nil {
		t.Fatal(fs)
	}
	for path, want := range map[string]string{
		"a": "f.yaml:3:4", "b": "f.yaml:4:4", "b[1]": "f.yaml:4:8", "b[2]": "f.yaml:4:14", "c[0].d": "f.yaml:6:8",
	} {
		if got := p.Position(p.Get(steps(path))).String(); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
	if got := p.Position(KeyNode(p.Root, "c")).String(); got != "f.yaml:5:1" {
		t.Errorf("key c is at %s", got)
	}
	q, _ := docs[1].Parse()
	if got := q.Position(q.Get(steps("z"))).String(); got != "f.yaml:8:4" {
		t.Errorf("z is at %s", got)
	}
	j := parseDoc(t, "f.json", "{\n  \"é\": [1,\n \"😀\", {\"x\": null}]}")
	if got := j.Position(j.Get(Path{Key("é"), At(2), Key("x")})).String(); got != "f.json:3:13" {
		t.Errorf("x is at %s", got)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	p := parseDoc(t, "f.yaml", "a: &a {k: 1, l: 2}\nb: &b {k: 3, m: 4}\nc: {<<: [*a, *b], l: 5}\nd: {<<: *a}\n")
	for path, want := range map[string]string{"c.k": "1", "c.l": "5", "c.m": "4", "d.l": "2"} {
		if n := p.Get(steps(path)); n == nil || n.Value != want {
			t.Errorf("%s is %v, want %s", path, n, want)
		}
	}
	if n := p.Get(steps("c.x[0]")); n != nil {
		t.Errorf("found %v", n)
	}
	if got := (Path{Key("spec"), Key("containers"), At(0), Key("a.b/c")}).String(); got != `spec.containers[0]["a.b/c"]` {
		t.Errorf("path prints %s", got)
	}
	if _, ok := p.Sops(); ok {
		t.Error("sops found")
	}
	s := parseDoc(t, "f.yaml", "kind: Pod\nsops:\n  mac: x\n")
	if n, ok := s.Sops(); !ok || n.Line != 2 {
		t.Error("sops not found")
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	kinds := KindSet{"Pod": nil, "Service": {"serving.knative.dev"}}
	for name, c := range map[string]struct {
		in   string
		want Class
		kind string
	}{
		"registered":           {"kind: Pod\n", Parse, "Pod"},
		"quoted":               {"'kind' : \"Pod\" # c\n", Parse, "Pod"},
		"other":                {"apiVersion: v1\nkind: ConfigMap\r\ndata:\n  {{ x }}\n", Pass, ""},
		"no kind":              {"a: 1\nb: \"x\\n\"\n", Pass, ""},
		"kind nested":          {"a:\n  kind: Pod\n", Parse, ""},
		"two kinds":            {"kind: ConfigMap\nkind: Pod\n", Parse, ""},
		"list":                 {"kind: FooList\n", Parse, "FooList"},
		"template":             {"kind: Template\n", Parse, "Template"},
		"off without group":    {"apiVersion: v1\nkind: Service\n", Pass, ""},
		"off with group":       {"apiVersion: serving.knative.dev/v1\nkind: Service\n", Parse, "Service"},
		"anchor":               {"kind: &k ConfigMap\n", Parse, ""},
		"value below":          {"kind:\n  Pod\n", Parse, ""},
		"escape":               {"kind: \"Po\\x64\"\n", Parse, ""},
		"escaped key":          {"\"k\\x69nd\": Pod\n", Parse, ""},
		"complex key":          {"kind: ConfigMap\n? a\n: b\n", Parse, ""},
		"merge":                {"kind: ConfigMap\n<<: {}\n", Parse, ""},
		"flow":                 {"{kind: Pod}\n", Parse, ""},
		"content on separator": {"--- {kind: ConfigMap}\n", Parse, ""},
		"comment on separator": {"--- # c\nkind: ConfigMap\n", Pass, ""},
		"action":               {"a:\n  {{ if }}\n", Parse, ""},
		"comments":             {"# kind: Pod\n", Pass, ""},
		"CR":                   {"kind: ConfigMap\rdata: {}\r", Pass, ""},
		"LS":                   {"# c\u2028kind: Pod\nkind: ConfigMap\n", Parse, ""},
		"indented":             {" kind: ConfigMap\n", Parse, ""},
		"JSON without kind":    {"{\"a\": 1}", Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, _ := Split("f.yaml", []byte(c.in))
			if got, kind := docs[0].Sniff(kinds); got != c.want || kind != c.kind {
				t.Errorf("%v %q, want %v %q", got, kind, c.want, c.kind)
			}
		})
	}
}

func TestPlainSafe(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"abc": true, "a b": true, "a:b": true, "a: b": false, "a #b": false, "a#b": true, "": false, " a": false, "y": false,
		"No": false, "yesno": true, "~": false, "0": false, "-1": false, "0x1f": false, "0xg": true, "1_000": false, "1.5e3": false,
		"1:20": false, "1:2x": true, "12:30:45.5": false, "2020-01-02": false, "2020-01-02T10:00:00Z": false, "2020-1": true,
		"v1": true, "1.2.3": true, "-": false, "-a": true, "- a": false, "?a": true, ":a": true, "...": false, "---": false,
		"---a": false, "<<": false, "=": false, ".inf": false, ".5": false, ".": true, "_1": true, "1,2": true, "\u0085": false,
		"a\tb": false, "null": false, "nullx": true, "é": true, "+1": false, "++1": true, "0o17": false, "0b11": false, "1e3": false,
	} {
		if got := plainSafe(s, false); got != want {
			t.Errorf("plainSafe(%q) is %v", s, got)
		}
		if !want {
			continue
		}
		var n yaml.Node
		if err := yaml.Unmarshal([]byte("k: "+s), &n); err != nil || n.Content[0].Content[1].ShortTag() != "!!str" || n.Content[0].Content[1].Value != s {
			t.Errorf("plain %q does not read back", s)
		}
	}
}
