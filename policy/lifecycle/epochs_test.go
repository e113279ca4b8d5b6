package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// classicPod is a Deployment's pod with the containers named, in this order.
func classicPod(names ...string) lifecycle.Pod {
	p := lifecycle.Pod{Kind: "Deployment", Name: "web"}
	p.Spec.InitContainers = []corev1.Container{{Name: "istio-init"}}
	for _, n := range names {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: n})
	}
	return p
}

// optionsOf reads "name=value" pairs over the defaults.
func optionsOf(t *testing.T, pairs ...string) lifecycle.Options {
	t.Helper()
	o := lifecycle.Defaults()
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if err := lifecycle.SetFlag(&o, name, value); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// proxyLines prints the proxy's events as "time kind [#epoch] [code] [cause]".
func proxyLines(r lifecycle.Result) []string {
	var out []string
	for _, e := range r.Events {
		if e.Container != "istio-proxy" {
			continue
		}
		line := lifecycle.FormatDuration(e.At) + " " + string(e.Kind)
		if e.HasEpoch() {
			line += fmt.Sprintf(" #%d", e.Epoch)
		}
		if e.HasExitCode() {
			line += fmt.Sprintf(" code %d", e.ExitCode)
		}
		if e.Cause != "" {
			line += " " + e.Cause
		}
		out = append(out, line)
	}
	return out
}

func ids(r lifecycle.Result) string {
	var out []string
	for _, v := range r.Verdicts {
		out = append(out, string(v.ID))
	}
	return strings.Join(out, " ")
}

// TestOldAgent holds the agent up to 1.3 to pilot/pkg/proxy/agent.go and pilot/pkg/proxy/envoy/watcher.go (Istio 1.0 to
// 1.3): retries with doubling delay, abort of all epochs, an Envoy that ends by itself, and the debounced watch.
func TestOldAgent(t *testing.T) {
	t.Parallel()
	pod := classicPod("istio-proxy", "app")
	tests := map[string]struct {
		options  []string
		want     []string
		verdicts string
	}{
		"one crash": {
			[]string{"proxy-exit=crash@20s"},
			[]string{
				"1s container.start", "3s proxy.ready", "20s epoch.exit #0 envoy-crash",
				"20.2s epoch.start #0", "22.2s proxy.ready",
			},
			"app-before-proxy proxy-restarts",
		},
		"budget full again only after a change": {
			[]string{"proxy-exit=crash@20s,crash@30s", "hot-restart-at=40s", "proxy-exit=crash@60s"},
			[]string{
				"1s container.start", "3s proxy.ready",
				"20s epoch.exit #0 envoy-crash", "20.2s epoch.start #0", "22.2s proxy.ready",
				"30s epoch.exit #0 envoy-crash", "30.4s epoch.start #0", "32.4s proxy.ready",
				"40s epoch.requested #1", "50s epoch.start #1", "52s epoch.drain #0",
				"60s epoch.exit #1 envoy-crash", "60s epoch.exit #0 code 137", "60.2s epoch.start #0", "62.2s proxy.ready",
			},
			"app-before-proxy proxy-restarts",
		},
		"normal exit": {
			[]string{"proxy-exit=normal@20s"},
			[]string{"1s container.start", "3s proxy.ready", "20s epoch.exit #0"},
			"agent-without-envoy app-before-proxy",
		},
		"normal exit, then a change": {
			[]string{"proxy-exit=normal@20s", "hot-restart-at=40s"},
			[]string{
				"1s container.start", "3s proxy.ready", "20s epoch.exit #0",
				"40s epoch.requested #0", "50s epoch.start #0", "52s proxy.ready",
			},
			"agent-without-envoy app-before-proxy",
		},
		"certificates change": {
			[]string{"hot-restart-at=20s,25s,31s"},
			[]string{
				"1s container.start", "3s proxy.ready", "20s epoch.requested #1", "30s epoch.start #1",
				"31s epoch.requested #2", "32s epoch.drain #0", "41s epoch.start #2",
				"43s epoch.drain #1", "92s epoch.exit #0", "103s epoch.exit #1",
			},
			"app-before-proxy",
		},
		"two epochs and a crash": {
			[]string{"hot-restart-at=20s", "proxy-exit=crash@40s"},
			[]string{
				"1s container.start", "3s proxy.ready", "20s epoch.requested #1", "30s epoch.start #1", "32s epoch.drain #0",
				"40s epoch.exit #1 envoy-crash", "40s epoch.exit #0 code 137", "40.2s epoch.start #0", "42.2s proxy.ready",
			},
			"app-before-proxy proxy-restarts",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := optionsOf(t, append(tt.options, "istio-version=1.3", "phase=start")...)
			got := lifecycle.Simulate(pod, o)
			if d := cmp.Diff(tt.want, proxyLines(got)); d != "" {
				t.Errorf("proxy (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.verdicts, ids(got)); d != "" {
				t.Errorf("verdicts (-want +got):\n%s", d)
			}
		})
	}
}

// TestOldAgentBudget plays a crash loop through the whole budget: ten retries, 0.2 s doubling to 102.4 s, and the
// agent's end with 255 at the eleventh failure, 204.6 s after the first.
func TestOldAgentBudget(t *testing.T) {
	t.Parallel()
	want := []string{"1s container.start", "3s proxy.ready"}
	at, delay := 20000, 200
	for range 10 {
		want = append(want, fmt.Sprintf("%gs epoch.exit #0 envoy-crash", float64(at)/1000))
		at += delay
		delay *= 2
		want = append(want, fmt.Sprintf("%gs epoch.start #0", float64(at)/1000))
	}
	want = append(want, "224.6s epoch.exit #0 envoy-crash", "224.6s container.exit code 255 envoy-crash")
	for policy, restarted := range map[string]bool{"Never": false, "OnFailure": true, "Always": true} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			pod := classicPod("istio-proxy", "app")
			pod.Spec.RestartPolicy = corev1.RestartPolicy(policy)
			got := lifecycle.Simulate(pod, optionsOf(t, "istio-version=1.2", "phase=start", "proxy-exit=crash-loop@20s"))
			lines := proxyLines(got)
			if d := cmp.Diff(want, lines[:min(len(lines), len(want))]); d != "" {
				t.Errorf("proxy (-want +got):\n%s", d)
			}
			if again := len(lines) > len(want) && lines[len(want)] == "224.6s container.start"; again != restarted {
				t.Errorf("started again: %v, want %v (%v)", again, restarted, lines[len(want):])
			}
			if got.Has(lifecycle.ProxyNotRestarted) == restarted {
				t.Errorf("proxy-not-restarted with %s: %v", policy, ids(got))
			}
		})
	}
}

// TestOldAgentTerm holds the stop: 1.0 aborts at once, 1.1 starts a drain epoch and waits its drain duration.
func TestOldAgentTerm(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want     []string
		verdicts string
	}{
		"1.0": {
			[]string{"0s signal.term", "0s container.exit code 0"},
			"inflight-cut-by-proxy outbound-lost",
		},
		"1.1": {
			[]string{
				"0s signal.term", "0s statusport.close", "0s drain.begin", "0s epoch.start #1", "0s listeners.close",
				"5s container.exit code 0",
			},
			"stop-ok",
		},
	}
	for version, tt := range tests {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := optionsOf(t, "istio-version="+version, "phase=stop", "requests-in-flight=3s", "app-shutdown=4s")
			got := lifecycle.Simulate(classicPod("app", "istio-proxy"), o)
			if d := cmp.Diff(tt.want, proxyLines(got)); d != "" {
				t.Errorf("proxy (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.verdicts, ids(got)); d != "" {
				t.Errorf("verdicts (-want +got):\n%s", d)
			}
		})
	}
}
