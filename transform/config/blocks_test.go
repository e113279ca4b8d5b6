package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

// sameNodes fails where the quick reader of blocks and the YAML library differ. ok says whether the quick one answered.
func sameNodes(t *testing.T, data []byte) (ok bool) {
	t.Helper()
	got, ok := parseBlocks(data)
	if !ok {
		return false
	}
	var want yaml.Node
	if err := yaml.Unmarshal(data, &want); err != nil {
		t.Fatalf("read what is no YAML: %v\n%q", err, data)
	}
	// Comments are for people; nothing here reads them.
	ignore := cmpopts.IgnoreFields(yaml.Node{}, "HeadComment", "LineComment", "FootComment")
	if d := cmp.Diff(want, got, ignore); d != "" {
		t.Errorf("library (-) and quick reader (+):\n%s\n%q", d, data)
	}
	return true
}

// TestBlocksOfTheMeshesOwnConfigs: every injection config of the mesh's own shape takes the quick way.
func TestBlocksOfTheMeshesOwnConfigs(t *testing.T) {
	t.Parallel()
	quick, all := 0, 0
	for _, dir := range conformance(t) {
		files, _ := filepath.Glob(filepath.Join(dir, "_shared", "*.yaml"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ok := sameNodes(t, data)
			if len(data) > 90_000 {
				all++
				if ok {
					quick++
				} else {
					t.Logf("slow: %s/%s", filepath.Base(dir), filepath.Base(file))
				}
			}
		}
	}
	if quick*10 < all*9 {
		t.Errorf("%d of %d large configs take the quick way", quick, all)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    string
		quick bool
	}{
		"clip":                    {"a: |\n  x\n   y\n\n  z\n\n\nb: 1\n", true},
		"strip":                   {"a: |-\n  x\n\nb: |-\n  y\n", true},
		"keep":                    {"a: |+\n  x\n\n\nb: 1\n", true},
		"leading empty lines":     {"a: |\n\n\n  x\n", true},
		"spaces beyond":           {"a: |\n  x\n     \n  y\n", true},
		"short spaces":            {"a: |\n  x\n \n  y\n", true},
		"trailing spaces":         {"a: |\n  x  \n     \n", true},
		"nested":                  {"a:\n  b:\n    c: |\n      x\n  d: |\n   y\n", true},
		"comment after":           {"a: |\n  x\n# it's over\nb: |\n  # in it\n  y\n", true},
		"looks like a header":     {"a: |\n  b: |\n    c\n  d: 'x\nb: c\n", true},
		"in a list item":          {"items:\n- k: v\n  a: |\n    x\n", true},
		"quoted actions":          {"t: \"{{ x }}\"\na: |\n  x\n", true},
		"at the end":              {"a: |\n  x\n\n", true},
		"no block":                {"a: b\n", false},
		"folded":                  {"b: >\n  a: |\n   x\na: |\n  x\n", false},
		"indentation indicator":   {"a: |2\n   x\n", false},
		"open quote":              {"b: \"x\n  a: |\n   y\"\na: |\n  x\n", false},
		"open bracket":            {"b: [\n  a: |\n   y]\na: |\n  x\n", false},
		"bracket in a quote":      {"b: [\"]\"\na: |\n  x\n", false},
		"no last newline":         {"a: |\n  x", true},
		"no last newline, strip":  {"a: |-\n  x", true},
		"no last newline, keep":   {"a: |+\n\n  x", true},
		"no last newline, spaces": {"a: |\n  x\n  ", false},
		"no last newline, plain":  {"a: |\n  x\nb: 1", true},
		"carriage return":         {"a: |\r\n  x\r\n", false},
		"tab":                     {"a: |\n  x\ty\n", false},
		"empty block":             {"a: |\nb: 1\n", false},
		"dedent inside":           {"a: |\n    x\n  y\n", false},
		"a document after":        {"a: |\n  x\n---\nb: |\n  y\n", false},
		"block of a list item":    {"a:\n- |\n  b: |\n    x\nc: |\n  y\n", false},
		"escape that is the mark": {"a: \"\\x01\"\nb: |\n  x\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := sameNodes(t, []byte(c.in)); got != c.quick {
				t.Errorf("quick = %v", got)
			}
		})
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte("a: |\n  x\n   y\n\n  z\n\nb:\n  c: |-\n    d\n"))
	f.Add([]byte("# c\nt: \"{{ x }}\"\nl:\n  []\na: |+\n\n  x\n\n"))
	f.Add([]byte("items:\n- k: v\n  a: |\n    x\n"))
	f.Fuzz(func(t *testing.T, data []byte) { sameNodes(t, data) })
}
