package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// lostLines gives the lines of the input that are not in the output, in order. Lines that a change must touch (promise
// P2: empty collections, null, flow and JSON lines) are left out of it.
func lostLines(in, out string) []string {
	sep := "\n"
	if !strings.Contains(in, sep) {
		sep = "\r"
	}
	a, b := strings.Split(in, sep), strings.Split(out, sep)
	var lost []string
	j := 0
	for _, line := range a {
		k := j
		for k < len(b) && b[k] != line {
			k++
		}
		if k == len(b) {
			lost = append(lost, line)
			continue
		}
		j = k + 1
	}
	return lost
}

func mayChange(line string) bool {
	line = strings.TrimSpace(strings.TrimSuffix(line, "\r"))
	for _, s := range []string{"{", "}", "[", "]", "null", "~", "\""} {
		if strings.Contains(line, s) {
			return true
		}
	}
	return strings.HasSuffix(line, "|") || strings.HasSuffix(line, ">") || strings.HasSuffix(line, "+")
}

// meaning decodes all documents of a text without the package's own tree code.
func meaning(t testing.TB, file string, data []byte) []any {
	t.Helper()
	var out []any
	text, _, _ := Decode(file, data)
	docs, _ := Split(file, text)
	for _, d := range docs {
		text, _ := d.parserText()
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			v = string(d.Raw)
			if d.body < len(d.Raw) && json.Unmarshal(d.Raw[d.body:], &v) != nil {
				v = "unparsed"
			}
		}
		out = append(out, v)
	}
	return out
}

// overlay applies the probe overlay to decoded documents at the given paths.
func overlay(v any, at Path) any {
	if len(at) == 0 {
		m, _ := v.(map[string]any)
		if m == nil {
			return v
		}
		m = clone(m)
		meta, _ := m["metadata"].(map[string]any)
		meta = clone(meta)
		ann, _ := meta["annotations"].(map[string]any)
		ann = clone(ann)
		ann["inject.example.com/status"] = "probe"
		meta["annotations"] = ann
		m["metadata"] = meta
		spec, _ := m["spec"].(map[string]any)
		spec = clone(spec)
		add := func(list string, item map[string]any) {
			l, _ := spec[list].([]any)
			for _, x := range l {
				if x, _ := x.(map[string]any); x != nil && x["name"] == item["name"] {
					return
				}
			}
			spec[list] = append(append([]any(nil), l...), item)
		}
		add("containers", map[string]any{
			"name": "probe", "image": "example.com/probe:1", "args": []any{"run"},
			"env": []any{map[string]any{"name": "ENABLED", "value": "true"}},
		})
		add("volumes", map[string]any{"name": "probe-data", "emptyDir": map[string]any{}})
		m["spec"] = spec
		return m
	}
	if at[0].IsIndex {
		l := append([]any(nil), v.([]any)...)
		l[at[0].Index] = overlay(l[at[0].Index], at[1:])
		return l
	}
	m := clone(v.(map[string]any))
	m[at[0].Key] = overlay(m[at[0].Key], at[1:])
	return m
}

func clone(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// checkMeaning: the output reads as the input with the overlay.
func checkMeaning(t testing.TB, file string, input []byte, out string) {
	t.Helper()
	docs, parsed, _ := readFile(file, input)
	want := meaning(t, file, input)
	for i := range docs {
		if p := parsed[i]; p != nil {
			if _, sops := p.Sops(); sops {
				continue
			}
			for _, at := range templates(p) {
				want[i] = overlay(want[i], at)
			}
		}
	}
	if d := cmp.Diff(want, meaning(t, file, []byte(out))); d != "" && !strings.Contains(d, "NaN") {
		t.Errorf("meaning (-want +got):\n%s", d)
	}
}

func TestNastyInject(t *testing.T) {
	t.Parallel()
	for _, dir := range nastyCases(t, "") {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, input, e := readCase(t, dir)
			if e.Result == "error" || strings.HasPrefix(name, "e-") {
				return
			}
			got := injectFile(t, file, input)
			if e.Result == "pass" {
				if got.workloads == 0 && got.out != string(input) {
					t.Errorf("changed: %q", got.out)
				}
				if name == "kind-already-injected" && got.out != string(input) {
					t.Errorf("an overlay that is there already changes bytes:\n%s", got.out)
				}
				return
			}
			switch name {
			case "kind-extension", "kind-extension-podspec", "kind-knative-service-enabled":
			default:
				if got.workloads != e.Workloads {
					t.Errorf("%d workloads, want %d", got.workloads, e.Workloads)
				}
			}
			if e.Reencode != (len(got.reencoded) > 0) {
				t.Errorf("re-encoded: %v, want %v", got.reencoded, e.Reencode)
			}
			if e.Preserve == nil || *e.Preserve {
				for _, l := range lostLines(string(input), got.out) {
					if !mayChange(l) && !strings.Contains(l, "*") {
						t.Errorf("lost line %q in\n%s", l, got.out)
					}
				}
			}
			if strings.Contains(e.WarningContains, "separator") || strings.Contains(e.WarningContains, "re-encoded") {
				if !strings.Contains(strings.Join(got.notices, "\n"), e.WarningContains) {
					t.Errorf("no notice with %q: %v", e.WarningContains, got.notices)
				}
			}
			checkMeaning(t, file, input, got.out)
			if again := injectFile(t, file, []byte(got.out)); again.out != got.out {
				t.Errorf("a second run changes:\n%s", cmp.Diff(got.out, again.out))
			}
		})
	}
}

// realFile is one entry of the corpus index.
type realFile struct {
	File      string
	Docs      int
	Workloads []string
	Expect    string
}

func realFiles(t testing.TB) []realFile {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, "real", "index.json"))
	if err != nil {
		t.Skip("the shared corpus is not beside this checkout")
	}
	var list []realFile
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRealFiles(t *testing.T) {
	t.Parallel()
	for _, rf := range realFiles(t) {
		t.Run(strings.ReplaceAll(rf.File, "/", "_"), func(t *testing.T) {
			t.Parallel()
			input, err := os.ReadFile(filepath.Join(corpus, "real", rf.File))
			if err != nil {
				t.Fatal(err)
			}
			docs, parsed, fs := readFile(rf.File, input)
			var joined []byte
			count := 0
			for _, d := range docs {
				joined = append(joined, d.Raw...)
				if d.Index > 0 {
					count++
				}
			}
			if !bytes.Equal(joined, input) {
				t.Error("splitting and joining changes bytes")
			}
			// The index counts the empty text before a separator that starts a file, and after an end marker.
			if !bytes.HasPrefix(input, []byte("---")) && count != rf.Docs {
				t.Errorf("%d documents, want %d", count, rf.Docs)
			}
			failed := false
			for _, f := range fs {
				failed = failed || f.Code[0] == 'E'
			}
			if failed != (rf.Expect == "error") {
				t.Fatalf("expect %s, got %v", rf.Expect, fs)
			}
			if failed {
				return
			}
			for _, p := range parsed {
				if res, fs := Apply(p, nil); fs != nil || !bytes.Equal(res.Raw, p.Doc.Raw) || res.Changed {
					t.Error("no changes change bytes")
				}
			}
			got := injectFile(t, rf.File, input)
			if len(got.reencoded) > 0 {
				t.Errorf("re-encoded: %v", got.reencoded)
			}
			if got.workloads != len(rf.Workloads) {
				t.Logf("%d workloads, index has %d", got.workloads, len(rf.Workloads))
			}
			for _, l := range lostLines(string(input), got.out) {
				if !mayChange(l) {
					t.Errorf("lost line %q", l)
				}
			}
			if bytes.HasSuffix(input, []byte("\n")) != strings.HasSuffix(got.out, "\n") && len(input) > 0 {
				t.Error("state of the last line changed")
			}
			checkMeaning(t, rf.File, input, got.out)
		})
	}
}

// TestRealLineEnds: converting line ends commutes with the change, and UTF-16 comes out as UTF-16.
func TestRealLineEnds(t *testing.T) {
	t.Parallel()
	for _, rf := range realFiles(t) {
		input, err := os.ReadFile(filepath.Join(corpus, "real", rf.File))
		if err != nil {
			t.Fatal(err)
		}
		if rf.Expect != "inject" || bytes.Contains(input, []byte("\r")) {
			continue
		}
		t.Run(strings.ReplaceAll(rf.File, "/", "_"), func(t *testing.T) {
			t.Parallel()
			plain := injectFile(t, rf.File, input).out
			for _, eol := range []string{"\r\n", "\r"} {
				got := injectFile(t, rf.File, []byte(strings.ReplaceAll(string(input), "\n", eol)))
				if d := cmp.Diff(strings.ReplaceAll(plain, "\n", eol), got.out); d != "" {
					t.Errorf("line end %q (-converted after +before):\n%s", eol, d)
				}
			}
			if bytes.HasPrefix(input, []byte(bom)) {
				return
			}
			got := injectFile(t, rf.File, UTF16LE.Encode(append([]byte(bom), input...)))
			if text, _, f := Decode("", []byte(got.out)); f != nil || string(text) != bom+plain {
				t.Errorf("UTF-16 differs: %v", f)
			}
		})
	}
}
