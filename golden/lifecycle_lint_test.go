package golden

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
)

// foretold are the verdicts that rules of lint decide without any estimate of a person; one of the rules each.
func foretold() map[lifecycle.ID][]string {
	return map[lifecycle.ID][]string{
		lifecycle.JobNeverCompletes:    {"job-classic-sidecar"},
		lifecycle.HoldCancelled:        {"hold-replaced"},
		lifecycle.AppPostStartFails:    {"poststart-http"},
		lifecycle.PreStopHTTPRace:      {"prestop-http"},
		lifecycle.OutboundLost:         {"drain-below-app-prestop", "exit-on-zero-short"},
		lifecycle.ProxyKilled:          {"grace-below-drain"},
		lifecycle.DrainEarlyExit:       {"exit-on-zero-short"},
		lifecycle.NativeDrainCancelled: {"native-drain-replaced"},
		lifecycle.NativeUnsupported:    {"native-unsupported"},
	}
}

// unforetold are fixtures with a verdict that no rule speaks of, and why.
func unforetold() map[string]lifecycle.ID {
	return map[string]lifecycle.ID{
		// The drain call refuses a status port that is not the agent's own.
		"prometheus-port-loop/bad.yaml": lifecycle.NativeDrainCancelled,
	}
}

// TestLifecycleAgreesWithLint lints and plays every fixture of every rule: where one of the rules above fires, the
// simulator's default run has its verdict, and where there is such a verdict the rule fires.
func TestLifecycleAgreesWithLint(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("lint")
	if err != nil {
		t.Fatal(err)
	}
	met := make(chan lifecycle.ID, 10000)
	t.Run("all", func(t *testing.T) {
		for _, f := range folders {
			for _, name := range []string{"bad.yaml", "good.yaml", "silent.yaml"} {
				dir := filepath.Join("lint", f.Name())
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					continue
				}
				t.Run(f.Name()+"/"+name, func(t *testing.T) {
					t.Parallel()
					fired, results := lintAndPlay(t, dir, name)
					for id, rules := range foretold() {
						says := slices.ContainsFunc(results, func(r lifecycle.Result) bool { return r.Has(id) })
						fires := slices.ContainsFunc(rules, func(rule string) bool { return fired[rule] })
						if says && unforetold()[f.Name()+"/"+name] == id {
							continue
						}
						if len(results) > 0 && fires != says {
							t.Errorf("%v fires: %t; the simulator says %s: %t", rules, fires, id, says)
						}
						if says {
							met <- id
						}
					}
				})
			}
		}
	})
	close(met)
	seen := map[lifecycle.ID]bool{}
	for id := range met {
		seen[id] = true
	}
	for id := range foretold() {
		if !seen[id] {
			t.Errorf("no fixture has the verdict %s", id)
		}
	}
}

// lintAndPlay gives the rules that fire on a file and the default run of its pods, none where they cannot be injected.
func lintAndPlay(t *testing.T, dir, name string) (fired map[string]bool, results []lifecycle.Result) {
	t.Helper()
	s := readLintSetup(t, dir)
	b, fs := config.Load(s.load)
	if b == nil {
		t.Fatal(fs)
	}
	c, fs := transform.Compile(b, s.setup)
	if c == nil {
		t.Fatal(fs)
	}
	l, _ := s.linter(t, lint.Rules())
	text := readFile(t, dir, name)
	docs, _ := manifest.Split(name, text)
	fired = map[string]bool{}
	for _, f := range l.Lint(docs).Findings {
		fired[f.Code] = true
	}
	o := lifecycle.Defaults()
	if v := s.setup.KubeVersion; v != "" {
		if err := lifecycle.SetFlag(&o, "kube-version", v); err != nil {
			t.Fatal(err)
		}
	}
	pods, ok := readPods(t, transform.NewLifecycleReader(b, c, transform.LifecycleOptions{}), text)
	if !ok {
		return fired, nil
	}
	for _, p := range pods {
		if p.Sidecar == transform.NoSidecar {
			continue // rules about the sidecar do not ask about pods that get none
		}
		o.Istio = p.Istio
		results = append(results, lifecycle.Simulate(p.Pod, o))
	}
	return fired, results
}
