package manifest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// randomValue makes a small value tree.
func randomValue(r *rand.Rand, depth int) *yaml.Node {
	words := []string{
		"a", "web", "yes", "0644", "", "a: b", "- x", "#no", "1:20", "x\ny\n", "x\n\n", " lead\nmore", "tab\there",
		"é😀", "a, b", "it's", "\"q\"", "\u2028", "null", "1.5", "{x}", "end:", "&a", "2020-01-01", "multi\n  deep\n\nend",
		"example.com/a:1", "---", "\n", "trail \nx", "*",
	}
	switch n := r.IntN(10); {
	case depth < 3 && n == 0:
		m := newFor(Step{})
		for i := range r.IntN(4) {
			m.Content = append(m.Content, keyNode(fmt.Sprintf("k%d", i)), randomValue(r, depth+1))
		}
		return m
	case depth < 3 && n == 1:
		s := newFor(Step{IsIndex: true})
		for range r.IntN(4) {
			s.Content = append(s.Content, randomValue(r, depth+1))
		}
		return s
	case n == 2:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "42"}
	case n == 3:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
	case n == 4:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	default:
		return keyNode(words[r.IntN(len(words))])
	}
}

// randomPath walks down the tree by chance.
func randomPath(r *rand.Rand, p *Parsed) (Path, *yaml.Node) {
	var path Path
	n := Resolve(p.Root)
	for len(path) < 12 && (len(path) == 0 || r.IntN(6) > 0) {
		var s Step
		switch {
		case n.Kind == yaml.MappingNode && len(n.Content) > 0:
			k := Resolve(n.Content[2*r.IntN(len(n.Content)/2)])
			if k.Kind != yaml.ScalarNode || isMerge(k) {
				return path, n
			}
			s = Key(k.Value)
		case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
			s = At(r.IntN(len(n.Content)))
		default:
			return path, n
		}
		path = path.With(s)
		n = Resolve(child(n, s))
	}
	return path, n
}

func randomChanges(r *rand.Rand, p *Parsed) []Change {
	var cs []Change
	for range 1 + r.IntN(4) {
		path, n := randomPath(r, p)
		switch op := r.IntN(8); {
		case op == 0 && len(path) > 0:
			cs = append(cs, Change{Op: Remove, Path: path})
		case op <= 2 && n.Kind == yaml.SequenceNode:
			cs = append(cs, Change{Op: Insert, Path: path, Index: r.IntN(len(n.Content) + 1), Value: randomValue(r, 0)})
		case op == 3 && n.Kind == yaml.SequenceNode && len(n.Content) > 0:
			to := path
			if r.IntN(2) == 0 && len(path) > 0 && !path[len(path)-1].IsIndex {
				to = path[:len(path)-1].With(Key("moved"))
			}
			cs = append(cs, Change{Op: Move, Path: path.With(At(r.IntN(len(n.Content)))), To: to, Index: r.IntN(len(n.Content) + 1)})
		case op <= 5 && n.Kind == yaml.MappingNode:
			key := "new" + fmt.Sprint(r.IntN(3))
			if r.IntN(4) == 0 {
				key = "metadata"
			}
			cs = append(cs, Change{Op: Set, Path: path.With(Key(key)), Value: randomValue(r, 0)})
		default:
			cs = append(cs, Change{Op: Set, Path: path, Value: randomValue(r, 0)})
		}
	}
	return cs
}

// TestRandomChanges writes many random changes into every document of the corpus. Apply verifies each of them; here
// we see that hardly one falls back to encoding, and none fails.
func TestRandomChanges(t *testing.T) {
	var files []string
	for _, rf := range realFiles(t) {
		files = append(files, filepath.Join(corpus, "real", rf.File))
	}
	for _, dir := range nastyCases(t, "") {
		name, _, _ := readCase(t, dir)
		files = append(files, filepath.Join(dir, name))
	}
	rounds := 6
	if v := os.Getenv("ROUNDS"); v != "" {
		fmt.Sscan(v, &rounds)
	}
	reasons := map[string]int{}
	shown := map[string]int{}
	total := 0
	for i, file := range files {
		input, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, parsed, _ := readFile(file, input)
		for di, p := range parsed {
			if p.Root == nil || len(p.Root.Content) == 0 || len(p.Doc.Raw) > 1<<16 {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(i), uint64(di)))
			for range rounds {
				changes := randomChanges(r, p)
				total++
				res, fs := Apply(p, changes)
				if fs != nil {
					if fs[0].Code == "E_TYPE" {
						continue
					}
					t.Errorf("%s document %d: %v\n%s", file, di, fs, describe(changes))
					continue
				}
				checkEdits(t, p.Doc.Raw, res)
				if res.Reencoded {
					key := res.Reason
					reasons[key]++
					if shown[key] < 3 && os.Getenv("SHOW") != "" {
						shown[key]++
						t.Logf("%s document %d: %s\n%s", file, di, res.Reason, describe(changes))
						if cs, err := collect(p.Root, changes, p.JSON); err == nil && len(p.Doc.Raw) < 2000 {
							raw, _, err := p.spliced(cs, false)
							t.Logf("%v\n%s", err, raw)
						}
					}
				}
			}
		}
	}
	t.Logf("%d change sets, re-encoded: %v", total, reasons)
}

func describe(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "  %v %s index %d to %s", []string{"set", "insert", "remove", "move"}[c.Op], c.Path, c.Index, c.To)
		if c.Value != nil {
			text, _ := yaml.Marshal(c.Value)
			fmt.Fprintf(&b, " %q", text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
