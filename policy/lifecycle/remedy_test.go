package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// TestRemedies applies every remedy with edits of every scenario, and holds that its verdict goes, that what comes
// instead is named, and that the manifest given stays as it is.
func TestRemedies(t *testing.T) {
	t.Parallel()
	tried := map[lifecycle.ID]int{}
	for _, s := range readScenarios(t) {
		p, o := s.pod(), s.options(t)
		before := lifecycle.Simulate(p, o)
		for _, v := range before.Verdicts {
			if v.Severity > policy.Info && len(v.Remedies) == 0 {
				t.Errorf("%s: %s has no remedy", s.ID, v.ID)
			}
			for _, r := range v.Remedies {
				t.Logf("%s: %s: %s", s.ID, v.ID, r.Text)
				if len(r.Edits) == 0 {
					continue
				}
				checkRemedy(t, s.ID, p, o, before, v, r)
				tried[v.ID]++
			}
		}
		if after := lifecycle.Simulate(p, o); len(after.Events) != len(before.Events) {
			t.Errorf("%s: a remedy changed the pod itself", s.ID)
		}
	}
	for _, rank := range lifecycle.Ranks() {
		if rank.Severity > policy.Info && tried[rank.ID] == 0 && !adviceOnly(rank.ID) {
			t.Errorf("no scenario tries a remedy of %s", rank.ID)
		}
	}
}

// adviceOnly lists the verdicts that no manifest change mends.
func adviceOnly(id lifecycle.ID) bool {
	return id == lifecycle.ProxyRestarts || id == lifecycle.AgentWithoutEnvoy
}

func checkRemedy(t *testing.T, name string, p lifecycle.Pod, o lifecycle.Options, before lifecycle.Result,
	v lifecycle.Verdict, r lifecycle.Remedy,
) {
	t.Helper()
	p, err := lifecycle.Apply(p, r.Edits)
	if err != nil {
		t.Errorf("%s: %s: %v", name, v.ID, err)
		return
	}
	after := lifecycle.Simulate(p, o)
	if after.Has(v.ID) {
		t.Errorf("%s: %s is still there after %s", name, v.ID, r.Text)
	}
	for _, w := range after.Verdicts {
		if w.Severity >= v.Severity && w.Severity > policy.Info && !before.Has(w.ID) &&
			!strings.Contains(r.Text, "(then: ") {
			t.Errorf("%s: %s: %q brings %s unsaid", name, v.ID, r.Text, w.ID)
		}
	}
}
