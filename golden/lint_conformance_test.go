package golden

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// TestLintConformance: where Istio refuses to inject lint has an error, and where it does not no error of the engine
// gets through; with Istio's own configuration, modern and legacy.
func TestLintConformance(t *testing.T) {
	t.Parallel()
	listed := deviations(t)
	for _, corpus := range []string{"istio-1.30", "istio-1.24", "istio-1.7", "istio-1.6"} {
		for _, c := range conformanceCases(t, corpus) {
			if listed[c.Name] != "" {
				continue
			}
			t.Run(corpus+"/"+filepath.Base(c.Dir), func(t *testing.T) {
				t.Parallel()
				s := lintSetup{
					load: config.LoadOptions{
						Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh),
						IstioVersion: strings.TrimPrefix(corpus, "istio-"), Revision: c.Revision, Embedded: transform.Embedded(),
					},
					setup: transform.Setup{Registry: workload.Default(), Native: transform.NativeFalse},
				}
				if c.NativeSidecars {
					s.setup.Native = transform.NativeTrue
				}
				s.setup.IgnorePolicy = corpus == "istio-1.7" || corpus == "istio-1.6"
				b, fs := config.Load(s.load)
				if b == nil {
					if !c.fails() {
						t.Fatal(fs)
					}
					return
				}
				l, _ := s.linter(t, lint.Rules())
				docs, _ := manifest.Split("input.yaml", readFile(t, c.Dir, "input.yaml"))
				errors := 0
				for _, f := range l.Lint(docs).Findings {
					if f.Severity == policy.Error {
						errors++
					}
					if strings.HasPrefix(f.Code, "E_") && !c.fails() {
						t.Error(f)
					}
				}
				if c.fails() && errors == 0 {
					t.Error("injection fails, and lint has no error")
				}
			})
		}
	}
}
