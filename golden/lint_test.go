package golden

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// lintSetup is what a case of the folder lint runs with: the file options, a word and its value in each line.
type lintSetup struct {
	load  config.LoadOptions
	setup transform.Setup
	lint  transform.LintOptions
}

func readLintSetup(t testing.TB, dir string) lintSetup {
	t.Helper()
	s := lintSetup{load: config.LoadOptions{Embedded: transform.Embedded()}, setup: transform.Setup{Registry: workload.Default()}}
	for name, part := range map[string]**config.Source{
		"config.yaml": &s.load.Injection, "values.yaml": &s.load.Values, "mesh.yaml": &s.load.Mesh,
	} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			*part = &config.Source{Name: name, Data: data}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "options"))
	if err != nil {
		return s
	}
	for line := range strings.Lines(string(text)) {
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "kube":
			s.setup.KubeVersion, s.lint.KubeVersion = value, value
		case "istio":
			s.load.IstioVersion = value
		case "native":
			s.setup.Native = map[string]transform.Native{"true": transform.NativeTrue, "false": transform.NativeFalse}[value]
		case "set":
			s.load.Set = append(s.load.Set, config.Set{Text: value})
		case "set-json":
			s.load.Set = append(s.load.Set, config.Set{Kind: config.SetJSON, Text: value})
		case "set-mesh":
			s.load.SetMesh = append(s.load.SetMesh, config.Set{Text: value})
		case "revisions":
			s.lint.Revisions = strings.Split(value, ",")
		case "injected":
			s.lint.Output = true
		default:
			t.Fatalf("%s/options: no such word %q", dir, word)
		}
	}
	return s
}

// linter makes the linter of a case with the given rules, and gives what loading its configuration found.
func (s lintSetup) linter(t testing.TB, rules []lint.Rule) (*transform.Linter, []policy.Finding) {
	t.Helper()
	b, fs := config.Load(s.load)
	if b == nil {
		t.Fatal(fs)
	}
	c, more := transform.Compile(b, s.setup)
	if c == nil {
		t.Fatal(more)
	}
	s.lint.Rules = rules
	l := transform.NewLinter(b, c, s.lint)
	return l, l.ConfigFindings(fs)
}

// lintText lints one file and prints each finding as a line, its hint below.
func lintText(t testing.TB, dir, file string, rules []lint.Rule) (text string, found []policy.Finding) {
	t.Helper()
	l, fs := readLintSetup(t, dir).linter(t, rules)
	docs, _ := manifest.Split(file, readFile(t, dir, file))
	found = policy.SortFindings(append(slices.Clone(fs), l.Lint(docs).Findings...))
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s\n", f.Error())
		if f.EndColumn > 0 {
			fmt.Fprintf(&b, "    until: %d:%d\n", f.EndLine, f.EndColumn)
		}
		if f.Hint != "" {
			fmt.Fprintf(&b, "    hint: %s\n", f.Hint)
		}
		if f.Fix != nil {
			fmt.Fprintf(&b, "    fix: %s\n", f.Fix.Summary)
		}
	}
	return b.String(), found
}

func of(rule string, fs []policy.Finding) []policy.Finding {
	return slices.DeleteFunc(slices.Clone(fs), func(f policy.Finding) bool { return f.Code != rule })
}

// compareFile compares text with a file, or writes it with -update. No text means no file.
func compareFile(t testing.TB, text, file string) {
	t.Helper()
	if *update {
		if text == "" {
			_ = os.Remove(file)
			return
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && text != "" {
		t.Fatalf("%v; got\n%s", err, text)
	}
	if d := cmp.Diff(string(want), text); d != "" {
		t.Errorf("%s (-want +got)\n%s", file, d)
	}
}

// TestLintCases: each rule fires on bad, and neither on good nor on silent, which holds what the rule looks at.
func TestLintCases(t *testing.T) {
	t.Parallel()
	all := lint.Rules()
	for _, r := range all {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("lint", r.ID)
			text, found := lintText(t, dir, "bad.yaml", all)
			if len(of(r.ID, found)) == 0 {
				t.Errorf("the rule does not fire on bad.yaml:\n%s", text)
			}
			compareFile(t, text, filepath.Join(dir, "want"))
			for _, name := range []string{"good.yaml", "silent.yaml"} {
				_, found := lintText(t, dir, name, all)
				for _, f := range of(r.ID, found) {
					t.Errorf("%s: %v", name, f)
				}
				for _, f := range found {
					if f.Severity == policy.Error && strings.HasPrefix(f.Code, "E_") {
						t.Errorf("%s: %v", name, f)
					}
				}
			}
		})
	}
}

// TestLintCaseFolders: no folder is left without its rule.
func TestLintCaseFolders(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("lint")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := lint.Find(lint.Rules(), e.Name()); err != nil {
			t.Error(err)
		}
	}
}

// TestLintMutation: without its rule in the list no bad case gives its finding, and no other rule's goes away with it.
func TestLintMutation(t *testing.T) {
	t.Parallel()
	all := lint.Rules()
	for _, r := range all {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("lint", r.ID)
			without := slices.DeleteFunc(slices.Clone(all), func(x lint.Rule) bool { return x.ID == r.ID })
			_, full := lintText(t, dir, "bad.yaml", all)
			_, less := lintText(t, dir, "bad.yaml", without)
			if len(of(r.ID, less)) > 0 {
				t.Error("the finding is there without its rule")
			}
			if len(full) <= len(less) && !slices.ContainsFunc(less, func(f policy.Finding) bool { return strings.HasPrefix(f.Code, "E_") }) {
				t.Errorf("%d findings with the rule, %d without", len(full), len(less))
			}
		})
	}
}

// TestLintFix: fixing makes the findings that have a fix go away, brings no other, and leaves all else as it was.
func TestLintFix(t *testing.T) {
	t.Parallel()
	for _, r := range lint.Rules() {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("lint", r.ID)
			l, _ := readLintSetup(t, dir).linter(t, lint.Rules())
			input := readFile(t, dir, "bad.yaml")
			docs, _ := manifest.Split("bad.yaml", input)
			fixable := slices.DeleteFunc(l.Lint(docs).Findings, func(f policy.Finding) bool { return f.Fix == nil })
			if slices.ContainsFunc(fixable, func(f policy.Finding) bool { return f.Document == 0 }) {
				fixedValues(t, dir, fixable)
				return
			}
			if r.Fixes != (len(of(r.ID, fixable)) > 0) {
				t.Errorf("the rule says fixes: %t, its bad case has %d findings with a fix", r.Fixes, len(of(r.ID, fixable)))
			}
			fixed := l.Fix(docs)
			for _, f := range fixed.Rest.Findings {
				if f.Fix != nil {
					t.Errorf("still there after fixing: %v", f)
				}
			}
			for _, f := range fixed.Problems {
				t.Error(f)
			}
			var out bytes.Buffer
			for _, d := range fixed.Docs {
				out.Write(d.Raw)
			}
			text := out.String()
			if text == string(input) {
				text = ""
			}
			if len(fixable) > 0 && text == "" {
				t.Error("nothing was written")
			}
			compareFile(t, text, filepath.Join(dir, "fixed"))
			for line := range strings.Lines(string(input)) {
				if at := strings.IndexByte(line, '#'); at >= 0 && text != "" && !strings.Contains(text, strings.TrimSpace(line[at:])) {
					t.Errorf("the comment %q is gone", strings.TrimSpace(line[at:]))
				}
			}
		})
	}
}

// fixedValues mends the values file of a case and looks that its findings are gone.
func fixedValues(t *testing.T, dir string, fs []policy.Finding) {
	t.Helper()
	text, mended, problems := transform.FixConfig("values.yaml", readFile(t, dir, "values.yaml"), fs)
	if len(problems) > 0 || len(mended) != len(fs) {
		t.Fatalf("%d of %d mended: %v", len(mended), len(fs), problems)
	}
	compareFile(t, string(text), filepath.Join(dir, "fixed"))
	s := readLintSetup(t, dir)
	s.load.Values.Data = text
	l, _ := s.linter(t, lint.Rules())
	docs, _ := manifest.Split("bad.yaml", readFile(t, dir, "bad.yaml"))
	for _, f := range of(mended[0].Code, l.Lint(docs).Findings) {
		t.Error(f)
	}
}
