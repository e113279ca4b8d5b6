package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// tree parses a value for a change.
func tree(t testing.TB, text string) *yaml.Node {
	t.Helper()
	n, err := parseOne([]byte(text))
	if err != nil || n == nil {
		t.Fatalf("bad value %q: %v", text, err)
	}
	return n
}

// probeChanges is the standard probe overlay of the corpus for one pod template.
func probeChanges(t testing.TB, p *Parsed, at Path) []Change {
	t.Helper()
	cs := []Change{{
		Op: Set, Path: at.With(Keys("metadata", "annotations", "inject.example.com/status")...), Value: tree(t, "probe"),
	}}
	container := tree(t, `{name: probe, image: "example.com/probe:1", args: [run], env: [{name: ENABLED, value: "true"}]}`)
	if has(p, at, "containers", "probe") && has(p, at, "volumes", "probe-data") {
		return cs
	}
	containers := p.Get(at.With(Key("spec"), Key("containers")))
	cs = append(cs, Change{
		Op: Insert, Path: at.With(Key("spec"), Key("containers")), Index: len(containers.Content), Value: container,
	})
	index := 0
	if v := p.Get(at.With(Key("spec"), Key("volumes"))); v != nil {
		index = len(v.Content)
	}
	return append(cs, Change{
		Op: Insert, Path: at.With(Key("spec"), Key("volumes")), Index: index, Value: tree(t, `{name: probe-data, emptyDir: {}}`),
	})
}

func has(p *Parsed, at Path, list, name string) bool {
	l := p.Get(at.With(Key("spec"), Key(list)))
	if l == nil {
		return false
	}
	for _, c := range l.Content {
		if v := Resolve(Lookup(c, "name")); v != nil && v.Value == name {
			return true
		}
	}
	return false
}

// injected runs a whole file through the probe overlay.
type injected struct {
	out       string
	workloads int
	reencoded []string
	notices   []string
}

func injectFile(t testing.TB, file string, input []byte) injected {
	t.Helper()
	docs, parsed, _ := readFile(file, input)
	_, enc, _ := Decode(file, input)
	var r injected
	var out []byte
	for i, d := range docs {
		raw := d.Raw
		if p := parsed[i]; p != nil {
			if _, sops := p.Sops(); !sops {
				var changes []Change
				for _, at := range templates(p) {
					changes = append(changes, probeChanges(t, p, at)...)
					r.workloads++
				}
				res, fs := Apply(p, changes)
				if fs != nil {
					t.Fatalf("document %d: %v", d.Index, fs)
				}
				raw = res.Raw
				if res.Reencoded {
					r.reencoded = append(r.reencoded, res.Reason)
				}
				for _, n := range res.Notices {
					r.notices = append(r.notices, n.Error())
				}
				checkEdits(t, d.Raw, res)
			}
		}
		out = append(out, raw...)
	}
	r.out = string(enc.Encode(out))
	return r
}

// checkEdits: the edits lead from the old text to the new one.
func checkEdits(t testing.TB, raw []byte, res Result) {
	t.Helper()
	got, err := Splice(raw, res.Edits)
	if err != nil || string(got) != string(res.Raw) {
		t.Errorf("edits do not give the result: %v", err)
	}
	if back, err := Splice(res.Raw, res.Inverse(raw)); err != nil || string(back) != string(raw) {
		t.Errorf("the inverse does not give the text before: %v", err)
	}
}

func TestNastyGolden(t *testing.T) {
	t.Parallel()
	for _, dir := range nastyCases(t, "g-") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			file, input, e := readCase(t, dir)
			want, err := os.ReadFile(filepath.Join(dir, strings.Replace(file, "input", "want", 1)))
			if err != nil {
				t.Fatal(err)
			}
			got := injectFile(t, file, input)
			if d := cmp.Diff(strings.SplitAfter(string(want), "\n"), strings.SplitAfter(got.out, "\n")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got.workloads != e.Workloads || len(got.reencoded) > 0 {
				t.Errorf("workloads %d, want %d; re-encoded %v", got.workloads, e.Workloads, got.reencoded)
			}
		})
	}
}

// fileChange is one entry of changes.json.
type fileChange struct {
	Op    string
	Path  []any
	Value json.RawMessage
	Index int
	From  int
	To    int
}

func (c fileChange) change(t *testing.T, p *Parsed) Change {
	t.Helper()
	var path Path
	for _, el := range c.Path {
		switch el := el.(type) {
		case string:
			path = append(path, Key(el))
		case map[string]any:
			for i, item := range p.Get(path).Content {
				if v := Lookup(item, "name"); v != nil && v.Value == el["name"] {
					path = path.With(At(i))
					break
				}
			}
		}
	}
	var value *yaml.Node
	if c.Value != nil {
		s := jsonScanner{b: c.Value, build: true, line: 1}
		value = s.value()
	}
	switch c.Op {
	case "set":
		return Change{Op: Set, Path: path, Value: value}
	case "append":
		n := 0
		if l := p.Get(path); l != nil {
			n = len(l.Content)
		}
		return Change{Op: Insert, Path: path, Index: n, Value: value}
	case "insert":
		return Change{Op: Insert, Path: path, Index: c.Index, Value: value}
	case "remove":
		return Change{Op: Remove, Path: path}
	case "move":
		to := c.To
		if to > c.From {
			to++
		}
		return Change{Op: Move, Path: path.With(At(c.From)), To: path, Index: to}
	}
	t.Fatalf("unknown operation %s", c.Op)
	return Change{}
}

func TestNastyEdits(t *testing.T) {
	t.Parallel()
	for _, dir := range nastyCases(t, "e-") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			file, input, _ := readCase(t, dir)
			want, err := os.ReadFile(filepath.Join(dir, strings.Replace(file, "input", "want", 1)))
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, "changes.json"))
			if err != nil {
				t.Fatal(err)
			}
			var list []fileChange
			if err := json.Unmarshal(b, &list); err != nil {
				t.Fatal(err)
			}
			docs, parsed, fs := readFile(file, input)
			if len(docs) != 1 || parsed[0] == nil {
				t.Fatalf("%d documents, %v", len(docs), fs)
			}
			var changes []Change
			for _, c := range list {
				changes = append(changes, c.change(t, parsed[0]))
			}
			res, fs := Apply(parsed[0], changes)
			if fs != nil {
				t.Fatal(fs)
			}
			if d := cmp.Diff(strings.SplitAfter(string(want), "\n"), strings.SplitAfter(string(res.Raw), "\n")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if res.Reencoded {
				t.Errorf("re-encoded: %s", res.Reason)
			}
			checkEdits(t, docs[0].Raw, res)
		})
	}
}
