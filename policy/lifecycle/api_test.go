package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// TestFlagDefaults holds that the default each flag shows is the one Defaults gives.
func TestFlagDefaults(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range lifecycle.Flags() {
		if seen[f.Name] || f.Help == "" || f.Type == "" {
			t.Errorf("--%s: twice, or without help or type", f.Name)
		}
		seen[f.Name] = true
		if f.Default == "" || f.Default == "by version" {
			continue
		}
		o := lifecycle.Defaults()
		if err := f.Set(&o, f.Default); err != nil {
			t.Errorf("--%s: %v", f.Name, err)
		}
		if d := cmp.Diff(lifecycle.Defaults(), o); d != "" {
			t.Errorf("--%s: the default shown is another (-Defaults +shown):\n%s", f.Name, d)
		}
	}
}

// TestFlagErrors holds the messages for values that cannot be read.
func TestFlagErrors(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]string{
		"kube-version=new":       `--kube-version: "new" is not a version such as 1.33`,
		"proxy-ready=2":          `--proxy-ready: "2" is neither a duration such as 1.5s nor never`,
		"app-ready=never":        `--app-ready: "never" is not a duration such as 1.5s`,
		"endpoint-lag=-1s":       `--endpoint-lag: "-1s" is negative`,
		"app-ready=1us":          `--app-ready: "1us" is finer than a millisecond`,
		"app-exit-code=256":      `--app-exit-code: "256" is not an exit code from 0 to 255`,
		"app-outbound=maybe":     `--app-outbound: "maybe" is neither true nor false`,
		"phase=middle":           `--phase: "middle" is neither start nor stop`,
		"hook=app=4s":            `--hook: "app=4s" does not start with a container and .preStop= or .postStart=`,
		"proxy-exit=softly@3s":   `--proxy-exit: "softly@3s" is not crash@, normal@ or crash-loop@ and a time`,
		"app-shutdown=web=never": "",
		"kube-version=v1.30.4":   "",
		"init-duration=fetch=3s": "",
		"colour=red":             "there is no option --colour",
	} {
		name, value, _ := strings.Cut(pair, "=")
		o := lifecycle.Defaults()
		got := ""
		if err := lifecycle.SetFlag(&o, name, value); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", pair, got, want)
		}
	}
}

// TestRanks holds that every verdict has its own row, and that the rows agree with what the simulation counts as ok.
func TestRanks(t *testing.T) {
	t.Parallel()
	ranks := map[lifecycle.ID]lifecycle.Rank{}
	for _, r := range lifecycle.Ranks() {
		if _, twice := ranks[r.ID]; twice || r.Help == "" {
			t.Errorf("%s: twice or without help", r.ID)
		}
		ranks[r.ID] = r
	}
	generated(t, 7, 2000, 40, func(p lifecycle.Pod, o lifecycle.Options) string {
		r := lifecycle.Simulate(p, o)
		spoiled := map[lifecycle.Phase]bool{}
		for _, v := range r.Verdicts {
			if v.Severity != ranks[v.ID].Severity {
				return string(v.ID) + " has another severity than its row"
			}
			spoiled[ranks[v.ID].Spoils] = true
		}
		if r.Has(lifecycle.StartOK) == spoiled[lifecycle.Start] {
			return "start-ok does not agree with the rows"
		}
		if r.Has(lifecycle.StopOK) && spoiled[lifecycle.Stop] {
			return "stop-ok beside its contrary"
		}
		return ""
	})
}

func names(list []corev1.Container) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

// TestVariant holds the order that injection gives the containers (Istio, pkg/kube/inject/webhook.go reorderPod, 1.30)
// and that each variant can be made from each other.
func TestVariant(t *testing.T) {
	t.Parallel()
	p := classicPod("app", "istio-proxy")
	p.Spec.InitContainers = []corev1.Container{{Name: "fetch"}, {Name: "istio-init"}}
	want := map[string][2]string{
		"classic": {"fetch istio-init", "app istio-proxy"},
		"native":  {"istio-init istio-proxy fetch", "app"},
		"hold":    {"fetch istio-init", "istio-proxy app"},
	}
	for _, from := range lifecycle.Variants() {
		for _, to := range lifecycle.Variants() {
			v, err := lifecycle.Variant(p, from)
			if err != nil {
				t.Fatal(err)
			}
			again, err := lifecycle.Variant(v, to)
			if err != nil {
				t.Fatal(err)
			}
			got := [2]string{names(again.Spec.InitContainers), names(again.Spec.Containers)}
			if got != want[to] {
				t.Errorf("%s from %s: %v, want %v", to, from, got, want[to])
			}
			direct, _ := lifecycle.Variant(p, to)
			if d := cmp.Diff(ids(lifecycle.Simulate(direct, lifecycle.Defaults())), ids(lifecycle.Simulate(again, lifecycle.Defaults()))); d != "" {
				t.Errorf("%s from %s differs:\n%s", to, from, d)
			}
		}
	}
	if _, err := lifecycle.Variant(classicPod("app"), "native"); err == nil {
		t.Error("a pod without proxy has no variants")
	}
	if _, err := lifecycle.Variant(p, "ambient"); err == nil {
		t.Error("ambient is no variant")
	}
}

// TestSensitivity holds thresholds that follow from the rules by hand.
func TestSensitivity(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pod     lifecycle.Pod
		options []string
		want    []string
	}{
		"drain of 5s": {classicPod("app", "istio-proxy"), []string{"phase=stop"}, []string{
			"--app-shutdown above 5s brings outbound-lost",
			"--requests-in-flight above 1s brings inflight-cut-by-app",
			"--endpoint-lag above 1s brings new-requests-refused-by-app",
		}},
		"slow app": {classicPod("app", "istio-proxy"), []string{"phase=stop", "app-shutdown=8s"}, []string{
			"--app-shutdown of 5s or less ends outbound-lost",
			"--app-shutdown above 30s brings app-sigkilled",
			"--requests-in-flight above 5s brings inflight-cut-by-proxy",
			"--endpoint-lag above 5s brings new-requests-refused-by-proxy",
		}},
		"start": {classicPod("app", "istio-proxy"), []string{"phase=start"}, []string{
			"--proxy-ready of 0s ends app-before-proxy",
		}},
	}
	for name, tt := range tests {
		got := lifecycle.Phrases(lifecycle.Sensitivity(tt.pod, optionsOf(t, tt.options...)))
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestFindings holds the conversion to lint findings and the limit of --at-most.
func TestFindings(t *testing.T) {
	t.Parallel()
	r := lifecycle.Simulate(classicPod("app", "istio-proxy"), optionsOf(t, "phase=stop", "app-shutdown=8s"))
	base := policy.Finding{Position: policy.Position{File: "web.yaml", Line: 3}, Field: "spec.template"}
	want := []policy.Finding{{
		Code: "outbound-lost", Severity: policy.Error, Position: base.Position, Field: base.Field,
		Message: "at the stop: proxy ends at 5s, app at 8s: the app has no network for 3s. terminationDrainDuration is 5s",
		Hint:    `proxy.istio.io/config terminationDrainDuration: 8s, or sidecar.istio.io/nativeSidecar: "true"`,
	}}
	if d := cmp.Diff(want, r.Findings(base)); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
	if !r.Exceeds(policy.Warning) || r.Exceeds(policy.Error) {
		t.Error("an error is worse than warning and not worse than error")
	}
}

// TestApplyErrors holds that edits no remedy makes are refused, and that the pod keeps its values.
func TestApplyErrors(t *testing.T) {
	t.Parallel()
	p := classicPod("app", "istio-proxy")
	for _, e := range []lifecycle.Edit{
		{Path: []string{"spec", "nodeName"}, Value: "a"},
		{Path: []string{"spec", "containers", "app", "image"}, Value: "a"},
		{Path: []string{"status"}, Value: "a"},
		{Path: []string{"spec", "terminationGracePeriodSeconds"}, Value: "5"},
		{Path: []string{"spec", "containers", "app", "lifecycle", "preStop"}, Value: "sleep"},
	} {
		if _, err := lifecycle.Apply(p, []lifecycle.Edit{e}); err == nil {
			t.Errorf("%s: no error", e)
		}
	}
	grace := lifecycle.Edit{Path: []string{"spec", "terminationGracePeriodSeconds"}, Value: int64(90)}
	q, err := lifecycle.Apply(p, []lifecycle.Edit{grace})
	if err != nil || *q.Spec.TerminationGracePeriodSeconds != 90 || p.Spec.TerminationGracePeriodSeconds != nil {
		t.Errorf("%v, %v", err, q.Spec.TerminationGracePeriodSeconds)
	}
	if grace.String() != "spec.terminationGracePeriodSeconds: 90" {
		t.Error(grace.String())
	}
}

// TestCrashWhileHolding plays an Envoy that dies inside the hold hook: the hook dies with its container, and the
// kubelet goes on with the apps (Kubernetes, kuberuntime_manager.go SyncPod, 1.33).
func TestCrashWhileHolding(t *testing.T) {
	t.Parallel()
	p, err := lifecycle.Variant(classicPod("app", "istio-proxy"), "hold")
	if err != nil {
		t.Fatal(err)
	}
	r := lifecycle.Simulate(p, optionsOf(t, "phase=start", "proxy-ready=4s", "proxy-crash-at=3s"))
	want := []string{
		"1s container.start", "1s hook.postStart.begin", "3s hook.postStart.fail", "3s container.exit code 0 envoy-crash",
		"3s container.start", "7s proxy.ready",
	}
	if d := cmp.Diff(want, proxyLines(r)); d != "" {
		t.Errorf("proxy (-want +got):\n%s", d)
	}
	if at := first(r, "app", lifecycle.ContainerStart); at != 3*time.Second || ids(r) != "app-before-proxy proxy-restarts" {
		t.Errorf("app starts at %v, %s", at, ids(r))
	}
}

// TestWithoutProxy plays a pod that has no sidecar: no verdict speaks of one.
func TestWithoutProxy(t *testing.T) {
	t.Parallel()
	r := lifecycle.Simulate(classicPod("app"), optionsOf(t, "requests-in-flight=3s", "app-shutdown=2s"))
	if r.Sidecar != lifecycle.None || ids(r) != "inflight-cut-by-app start-ok" {
		t.Errorf("%s: %s", r.Sidecar, ids(r))
	}
}

// TestExtend holds that a picture which is drawn longer shows what the container does then, not what it did before.
func TestExtend(t *testing.T) {
	t.Parallel()
	r := lifecycle.Simulate(classicPod("app", "istio-proxy"), optionsOf(t, "phase=start"))
	timelines := r.Timelines()
	for _, row := range timelines[0].Extend(timelines[0].Length + time.Second).Rows {
		if row.Name == policy.ContainerInit {
			continue // has ended
		}
		if last := row.Bars[len(row.Bars)-1]; last.State != lifecycle.Running || last.To != timelines[0].Length+time.Second {
			t.Errorf("%s ends as %+v", row.Name, last)
		}
	}
}
