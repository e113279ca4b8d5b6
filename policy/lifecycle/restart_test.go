package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// TestHoldRetries holds the kubelet's delays between the runs of a proxy whose hold hook never succeeds: none, then
// 10 s doubling up to 300 s (Kubernetes, pkg/kubelet/kubelet.go, 1.33). A run takes 60 s and 5 s of drain.
func TestHoldRetries(t *testing.T) {
	t.Parallel()
	p, err := lifecycle.Variant(classicPod("app", "istio-proxy"), "hold")
	if err != nil {
		t.Fatal(err)
	}
	r := lifecycle.Simulate(p, optionsOf(t, "phase=start", "proxy-ready=never", "horizon=30m"))
	at := time.Second
	want := []time.Duration{at}
	for _, delay := range []time.Duration{0, 10, 20, 40, 80, 160, 300, 300} {
		at += 65*time.Second + delay*time.Second
		want = append(want, at)
	}
	var got []time.Duration
	for _, e := range r.Events {
		if e.Container == "istio-proxy" && e.Kind == lifecycle.ContainerStart && len(got) < len(want) {
			if e.Restart != len(got) {
				t.Errorf("restart %d is counted as %d", len(got), e.Restart)
			}
			got = append(got, e.At)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("starts (-want +got):\n%s", d)
	}
}

// TestQuit holds when /quitquitquit ends the proxy of a Job whose app ends at 63 s: not at all before 1.3, after the
// drain up to 1.19, at once from 1.20 on (Istio, pilot/cmd/pilot-agent/status/server.go).
func TestQuit(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]time.Duration{
		"1.2": -1, "1.3": 68 * time.Second, "1.19": 68 * time.Second, "1.20": 63 * time.Second, "1.30": 63 * time.Second,
	} {
		p := classicPod("istio-proxy", "app")
		p.Kind, p.Spec.RestartPolicy = "Job", corev1.RestartPolicyNever
		o := optionsOf(t, "phase=start", "app-quits-proxy=true", "init-duration=3s", "istio-version="+version)
		if got := first(lifecycle.Simulate(p, o), "", lifecycle.PodSucceeded); got != want {
			t.Errorf("%s: the pod succeeds at %v, want %v", version, got, want)
		}
	}
}
