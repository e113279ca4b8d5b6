package golden

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// plainLinter lints with the embedded profile.
func plainLinter(t testing.TB, native transform.Native, rules []lint.Rule) *transform.Linter {
	t.Helper()
	s := lintSetup{
		load:  config.LoadOptions{Embedded: transform.Embedded()},
		setup: transform.Setup{Registry: workload.Default(), Native: native},
	}
	l, _ := s.linter(t, rules)
	return l
}

// lintCorpus are the manifests of the shared corpus, by their path below it.
func lintCorpus(t testing.TB) map[string][]byte {
	t.Helper()
	root := needShared(t, "corpus", "real")
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml", ".json":
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if name != "index.json" {
				out[filepath.ToSlash(name)] = readFile(t, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLintCorpus counts the findings of each rule over real manifests, with native and with classic sidecars, and with Istio's CNI plugin. The
// counts are for the reader of the log; what must hold is that linting ends, that places lie in the files, and that no
// rule is so loud that people would switch it off.
func TestLintCorpus(t *testing.T) {
	t.Parallel()
	files := lintCorpus(t)
	for name, options := range map[string]string{
		"native": "native true", "classic": "native false", "classic with CNI": "native false\nset pilot.cni.enabled=true",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := optionsSetup(t, options).linter(t, lint.Rules())
			counts, checked := map[string]int{}, 0
			var lines []string
			for _, file := range sortedNames(files) {
				text, _, bad := manifest.Decode(file, files[file])
				if bad != nil {
					continue
				}
				docs, _ := manifest.Split(file, text)
				linted := l.Lint(docs)
				checked += len(linted.Checked)
				height := strings.Count(string(text), "\n") + 1
				for _, f := range linted.Findings {
					counts[f.Code]++
					if f.Position.Line < 1 || f.Position.Line > height {
						t.Errorf("no place: %v", f)
					}
					if _, err := lint.Find(lint.Rules(), f.Code); err == nil {
						lines = append(lines, f.Error())
					}
				}
			}
			t.Logf("%d workloads and namespaces", checked)
			for _, code := range sortedNames(counts) {
				t.Logf("%5d  %s", counts[code], code)
				if r, err := lint.Find(lint.Rules(), code); err == nil && r.Severity == policy.Error && counts[code] > checked/10 {
					t.Errorf("%s is an error on %d of %d", code, counts[code], checked)
				}
			}
			if testing.Verbose() {
				t.Log("\n" + strings.Join(lines, "\n"))
			}
		})
	}
}

func sortedNames[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
