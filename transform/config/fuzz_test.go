package config

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

// inFile fails where a finding points outside the file, or says nothing.
func inFile(t *testing.T, data []byte, p problems) {
	t.Helper()
	lines := bytes.Count(data, []byte("\n")) + 2
	for _, f := range p {
		if f.Position.Line > lines || f.Position.Line < 0 || f.Message == "" || f.Code == "" || !utf8.ValidString(f.Message) {
			t.Errorf("finding %v of a file of %d lines", f, lines)
		}
	}
}

func FuzzInjection(f *testing.F) {
	f.Add([]byte(injectionText))
	f.Add([]byte(injectorMap("istio-sidecar-injector")))
	f.Add([]byte("{{ x }}\n---\nspec: {}"))
	f.Add([]byte("policy: enabled\nneverInjectSelector: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]\ntemplate: >\n  a\n\n  b"))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: istio-sidecar-injector}, data: {config: \"a: b\\nc\"}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p problems
		if found := scan(Source{"f", data}).find(partInjection, "", &p); found != nil {
			c := readInjection(found, &p)
			if (c == nil) != p.failed() {
				t.Errorf("config %v with %v", c, p)
			}
			if c != nil && utf8.Valid(data) {
				for _, text := range c.texts() {
					if at := text.At(1, 1); at.Line < 1 {
						t.Errorf("template at %v", at)
					}
				}
				b := &Bundle{Injection: c, Values: &Values{Tree: map[string]any{}, tree: newTree()}, Istio: IstioVersion{}}
				Check(b)
			}
		} else if !p.failed() {
			t.Error("nothing found and nothing said")
		}
		inFile(t, data, p)
	})
}

func FuzzValues(f *testing.F) {
	f.Add([]byte(valuesText))
	f.Add([]byte("a: &a {b: [1, yes, ~]}\n<<: *a\nc: *a\n"))
	f.Add([]byte("USER-SUPPLIED VALUES:\nglobal: {tag: 1.30}"))
	f.Add([]byte("apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec: {tag: x, values: {global: {}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p problems
		if found := scan(Source{"f", data}).find(partValues, "", &p); found != nil {
			tr := readValues(found, &p)
			if (tr == nil) != p.failed() {
				t.Errorf("tree %v with %v", tr, p)
			}
			if tr != nil && utf8.Valid(data) {
				printed := printDocument(dataNode(tr.root, nil, nil))
				var again problems
				sc := scan(Source{"again", printed})
				if sc.err != nil {
					t.Fatalf("%v\n%s", sc.err, printed)
				}
				back, err := treeOf(newText(sc.source), sc.single)
				if err != nil || len(again) > 0 {
					t.Fatalf("%v %v\n%s", err, again, printed)
				}
				if d := cmp.Diff(tr.root, back.root); d != "" {
					t.Errorf("printed and read again:\n%s", d)
				}
			}
		} else if !p.failed() {
			t.Error("nothing found and nothing said")
		}
		inFile(t, data, p)
	})
}

func FuzzMesh(f *testing.F) {
	f.Add([]byte(meshText))
	f.Add([]byte("extensionProviders: [{name: envoy, envoyFileAccessLog: {path: /x, logFormat: {labels: {a: 1}}}}]\ntrustDomainAliases: [a]"))
	f.Add([]byte("defaultConfig: {tracing: {customTags: {a: {header: {name: x}}}}, proxyHeaders: {server: {disabled: true}}, drainDuration: 1h}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p problems
		found := scan(Source{"f", data}).find(partMesh, "", &p)
		if found == nil {
			return
		}
		tr, err := treeOf(found.text, found.node)
		if err != nil {
			return
		}
		m := readMesh(tr, Modern, &p)
		inFile(t, data, p)
		if p.failed() || !utf8.Valid(data) {
			return
		}
		printed := printDocument(meshNode(m, true))
		sc := scan(Source{"again", printed})
		if sc.err != nil {
			t.Fatalf("%v\n%s", sc.err, printed)
		}
		back, err := treeOf(newText(sc.source), sc.single)
		if err != nil {
			t.Fatal(err)
		}
		var again problems
		if m2 := readMesh(back, Modern, &again); again.failed() || !proto.Equal(m.Config, m2.Config) {
			t.Errorf("%v\n%v\n%v\n%s", again, m.Config, m2.Config, printed)
		}
	})
}

func FuzzSet(f *testing.F) {
	for _, s := range []string{"a.b[0].c=x,d={1,2}", `a\.b=c\,d`, "a=null", `{"a":{"b":1}}`, "a[1][2]=x", `a=[1,{"b":null}],c=`} {
		for kind := range 3 {
			f.Add(kind, s)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, s string) {
		if kind < 0 || kind > 2 {
			return
		}
		tr := newTree()
		tr.root = map[string]any{"a": map[string]any{"b": []any{"x", nil}}}
		var p problems
		changed := applySets(tr, []Set{{SetKind(kind), s}}, SetKind.Flag, &p)
		if len(changed) == 0 && len(p) == 0 {
			t.Errorf("%q does nothing and says nothing", s)
		}
	})
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte("istioVersion: 1.30\nhashes: {config.yaml: x}\n"), []byte(injectionText))
	f.Fuzz(func(t *testing.T, about, injection []byte) {
		p, findings := ReadProfile("p", map[string][]byte{ProfileFile: about, InjectionFile: injection})
		if (p == nil) != problems(findings).failed() {
			t.Errorf("profile %v with %v", p, findings)
		}
	})
}

func FuzzAnnotation(f *testing.F) {
	f.Add("concurrency: 2\nproxyMetadata: {A: b}\n")
	m := defaultMesh(Modern)
	f.Fuzz(func(t *testing.T, annotation string) {
		c, _, findings := m.ProxyConfig(annotation, podPlace())
		if c == nil && !problems(findings).failed() {
			t.Error("nothing and no reason")
		}
		if m.Config.DefaultConfig.StatusPort != 15020 || m.Config.DefaultConfig.ProxyMetadata != nil {
			t.Error("the mesh's own changed")
		}
	})
}
