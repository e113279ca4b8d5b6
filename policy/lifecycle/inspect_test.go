package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// TestInspect holds the facts that rules read, for a classic pod with hooks and for its native variant.
func TestInspect(t *testing.T) {
	t.Parallel()
	p := classicPod("app", "istio-proxy", "late")
	p.Annotations = map[string]string{
		"proxy.istio.io/config": "terminationDrainDuration: 20s\nholdApplicationUntilProxyStarts: true\n",
	}
	p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: command("sleep", "10"), PostStart: command("/warm")}
	p.Spec.Containers[1].Lifecycle = &corev1.Lifecycle{PreStop: command("sh", "-c", "sleep 3")}
	want := lifecycle.Facts{
		Sidecar: lifecycle.Classic, HoldRequested: true, Redirects: true, StatusPort: 15020, Grace: 30 * time.Second,
		TerminationDrain: 20 * time.Second, Drain: 45 * time.Second, MinimumDrain: 5 * time.Second,
		ProxyPreStop: 3 * time.Second, ProxyStop: 23 * time.Second,
		Apps: []lifecycle.AppFacts{
			{Name: "app", BeforeProxy: true, PreStop: 10 * time.Second, HasPostStart: true},
			{Name: "late"},
		},
	}
	if d := cmp.Diff(want, lifecycle.Inspect(p, lifecycle.Defaults())); d != "" {
		t.Errorf("classic (-want +got):\n%s", d)
	}
	p.Spec.Containers[1].Lifecycle = nil
	p, err := lifecycle.Variant(p, "native")
	if err != nil {
		t.Fatal(err)
	}
	want.Sidecar, want.DrainHook, want.DrainWorks, want.StartupGate = lifecycle.Native, true, true, true
	want.ProxyPreStop, want.ProxyStop, want.Apps[0].BeforeProxy = 0, 0, false
	if d := cmp.Diff(want, lifecycle.Inspect(p, lifecycle.Defaults())); d != "" {
		t.Errorf("native (-want +got):\n%s", d)
	}
}
