package pod

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/transform/typed"
)

// sameTree compares what both readers read: shape, text and whether a scalar is quoted.
func sameTree(a, b *yaml.Node) bool {
	a, b = typed.Deref(a), typed.Deref(b)
	if a == nil || b == nil {
		return typed.IsNull(a) && typed.IsNull(b)
	}
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode && (a.Value != b.Value || typed.ScalarKind(a) != typed.ScalarKind(b)) {
		return false
	}
	for i := range a.Content {
		if !sameTree(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

func library(text string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// blockTexts are read fast or not, as the value says.
func blockTexts() map[string]bool {
	return map[string]bool{
		"":              true,
		"# nothing\n\n": true,
		"a: b\n":        true,
		"a:\n  b: c\n  d:\n  - 1\n  - x: y\n    z: w\n": true,
		"a:\n- b\n- c: d\ne: f\n":                       true,
		"a:\n  - b\n  -\n  - - c\n    - d\n":            true,
		"a: \"q \\\"x\\\" \\n\"\nb: 'it'\n":             true,
		"a: |\n  one\n   two\n\n  three\nb: c\n":        true,
		"a: |-\n  {\n  }\nb: c\n":                       true,
		"a: |\n  one":                                   false,
		"a: |2\n   one\n":                               false,
		"a: >\n  one\n":                                 false,
		"a: b\n  c\n":                                   false,
		"a: b # c\n":                                    false,
		"a: &x b\n":                                     false,
		"a: *x\n":                                       false,
		"a: !!str 5\n":                                  false,
		"? a\n: b\n":                                    false,
		"<<: {a: b}\n":                                  false,
		"a: {}\nb: []\nc: {d: e, f: [g]}\n":             true,
		"a: {\n  b: \"c\",\n  }\nd: e\n":                true,
		"a: {b: c} d\n":                                 false,
		"a: 'it''s'\n":                                  false,
		"a: \"\\x41\"\n":                                false,
		"a: \u00e9\n":                                   false,
		"---\na: b\n":                                   false,
		"a:\n   b: c\n  d: e\n":                         false,
		"a:\tb\n":                                       false,
		"--flag=x: y\n":                                 true,
		"a: --flag=x\nb: $(POD).svc\nc: 1:2\n":          true,
	}
}

func TestReadBlocks(t *testing.T) {
	t.Parallel()
	for text, fast := range blockTexts() {
		got, ok := readBlocks([]byte(text))
		if ok != fast {
			t.Errorf("%q: read fast %v", text, ok)
		}
		if want, err := library(text); ok && (err != nil || !sameTree(got, want)) {
			t.Errorf("%q: not as the library reads it (%v)", text, err)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	for text := range blockTexts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := readBlocks([]byte(text))
		if !ok {
			return
		}
		want, err := library(text)
		if err != nil {
			t.Fatalf("%q: read, but the library says %v", text, err)
		}
		if !sameTree(got, want) {
			t.Fatalf("%q: not as the library reads it", text)
		}
	})
}
