package golden

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// agreement says which verdict of the simulation a rule foretells, and what a person would have to tell the simulation.
func agreement() map[string]struct {
	verdict lifecycle.ID
	options func(*lifecycle.Options)
} {
	type row = struct {
		verdict lifecycle.ID
		options func(*lifecycle.Options)
	}
	return map[string]row{
		"hold-replaced":           {lifecycle.HoldCancelled, nil},
		"hold-no-restart":         {lifecycle.ProxyNotRestarted, func(o *lifecycle.Options) { o.ProxyReady = 2 * time.Minute }},
		"init-network":            {lifecycle.InitBeforeProxy, func(o *lifecycle.Options) { o.InitNetwork = []string{"migrate"} }},
		"poststart-http":          {lifecycle.AppPostStartFails, nil},
		"prestop-http":            {lifecycle.PreStopHTTPRace, nil},
		"grace-below-drain":       {lifecycle.ProxyKilled, nil},
		"drain-below-app-prestop": {lifecycle.OutboundLost, nil},
		"exit-on-zero-short":      {lifecycle.DrainEarlyExit, nil},
		"native-drain-replaced":   {lifecycle.NativeDrainCancelled, nil},
		"native-unsupported":      {lifecycle.NativeUnsupported, nil},
		"job-classic-sidecar":     {lifecycle.JobNeverCompletes, nil},
	}
}

// TestLintAgrees: what a rule says of its bad case the simulation says too, and it does not say it of the good one; and
// the shared scenarios hold that verdict.
func TestLintAgrees(t *testing.T) {
	t.Parallel()
	var shared struct {
		Scenarios []struct {
			Expect struct{ Verdicts []lifecycle.ID }
		}
	}
	if err := json.Unmarshal(readFile(t, needShared(t, "spec", "lifecycle-scenarios.json")), &shared); err != nil {
		t.Fatal(err)
	}
	for rule, row := range agreement() {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			known := slices.ContainsFunc(shared.Scenarios, func(s struct {
				Expect struct{ Verdicts []lifecycle.ID }
			},
			) bool {
				return slices.Contains(s.Expect.Verdicts, row.verdict)
			})
			if !known {
				t.Errorf("no scenario has the verdict %s", row.verdict)
			}
			for name, want := range map[string]bool{"bad.yaml": true, "good.yaml": false} {
				r := simulated(t, filepath.Join("lint", rule), name, row.options)
				if r.Has(row.verdict) != want {
					t.Errorf("%s: verdict %s is %t: %v", name, row.verdict, !want, r.Verdicts)
				}
			}
		})
	}
}

// simulated plays the first workload of a case as it is after injection.
func simulated(t *testing.T, dir, name string, more func(*lifecycle.Options)) lifecycle.Result {
	t.Helper()
	s := readLintSetup(t, dir)
	l, _ := s.linter(t, nil)
	docs, _ := manifest.Split(name, readFile(t, dir, name))
	injected := l.Injector.Document(docs[0])
	if injected.Failed() {
		t.Fatal(injected.Findings)
	}
	again, _ := manifest.Split(name, injected.Raw)
	p, _ := again[0].Parse()
	found := workload.Find(workload.Default(), p.Root)
	var template corev1.PodTemplateSpec
	for _, problem := range (&typed.Schema{}).Decode(found.Objects[0].Templates[0].Node, &template, false) {
		t.Fatal(problem)
	}
	o := lifecycle.Defaults()
	if s.setup.KubeVersion != "" {
		v, err := lifecycle.ParseVersion(s.setup.KubeVersion)
		if err != nil {
			t.Fatal(err)
		}
		o.Kubernetes = v
	}
	if more != nil {
		more(&o)
	}
	res := found.Objects[0].Resource
	return lifecycle.Simulate(lifecycle.Pod{
		Kind: res.Kind, Namespace: res.Namespace, Name: res.Name, Labels: template.Labels,
		Annotations: template.Annotations, Spec: template.Spec,
	}, o)
}
