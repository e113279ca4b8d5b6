package lifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy/lifecycle"
)

func command(words ...string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: words}}
}

// TestWaitFlags reads the flags of `pilot-agent wait` (Istio, pilot/cmd/pilot-agent/app/wait.go, 1.30): want is the
// start of the app, which follows the hook; the proxy starts at 1 s and is ready at 3.3 s.
func TestWaitFlags(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		command []string
		want    time.Duration
		timeout bool
	}{
		"plain":               {[]string{"pilot-agent", "wait"}, 3500 * time.Millisecond, false},
		"path and shell":      {[]string{"sh", "-c", "/usr/local/bin/pilot-agent wait"}, 3500 * time.Millisecond, false},
		"shell with errexit":  {[]string{"/bin/bash", "-e", "-c", "pilot-agent wait && sleep 2"}, 5500 * time.Millisecond, false},
		"period":              {[]string{"pilot-agent", "wait", "--periodMillis=100"}, 3300 * time.Millisecond, false},
		"period, two words":   {[]string{"pilot-agent", "wait", "--periodMillis", "2000"}, 5 * time.Second, false},
		"timeout":             {[]string{"pilot-agent", "wait", "--timeoutSeconds=2"}, 8 * time.Second, true},
		"timeout at the look": {[]string{"pilot-agent", "wait", "--periodMillis=1500", "--timeoutSeconds=3"}, 9 * time.Second, true},
		"request timeout":     {[]string{"pilot-agent", "wait", "--requestTimeoutMillis=100"}, 3500 * time.Millisecond, false},
		"bad number":          {[]string{"pilot-agent", "wait", "--timeoutSeconds=2m"}, 6 * time.Second, true},
		"own url":             {[]string{"pilot-agent", "wait", "--url", "http://127.0.0.1:15021/healthz/ready"}, 3500 * time.Millisecond, false},
		"url of another host": {[]string{"pilot-agent", "wait", "--url=http://istiod.istio-system:8080/ready"}, 1500 * time.Millisecond, false},
		"url of the app":      {[]string{"pilot-agent", "wait", "--timeoutSeconds=4", "--url=http://localhost:8080/"}, 10 * time.Second, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := classicPod("istio-proxy", "app")
			p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: command(tt.command...)}
			o := optionsOf(t, "proxy-ready=2300ms", "phase=start", "horizon=0s")
			got := lifecycle.Simulate(p, o)
			if at := first(got, "app", lifecycle.ContainerStart); at != tt.want {
				t.Errorf("app starts at %v, want %v", at, tt.want)
			}
			if got.Has(lifecycle.HoldTimeout) != tt.timeout {
				t.Errorf("hold-timeout: %v", ids(got))
			}
		})
	}
}

// first gives the time of the first event of a kind, or -1.
func first(r lifecycle.Result, container string, kind lifecycle.Kind) time.Duration {
	for _, e := range r.Events {
		if e.Container == container && e.Kind == kind {
			return e.At
		}
	}
	return -1
}

// TestHookTimes reads the length of a preStop hook from its handler: want is the app's SIGTERM.
func TestHookTimes(t *testing.T) {
	t.Parallel()
	sleep := func(n int64) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: n}}
	}
	tests := map[string]struct {
		hook    *corev1.LifecycleHandler
		options []string
		want    time.Duration
	}{
		"sleep":               {command("sleep", "5"), nil, 5 * time.Second},
		"path, fraction":      {command("/bin/sleep", "0.25"), nil, 250 * time.Millisecond},
		"units add up":        {command("sleep", "1m", "1s"), []string{"phase=stop"}, 30 * time.Second},
		"shell":               {command("/bin/sh", "-c", "sleep 3; nginx -s quit; sleep 2"), nil, 5 * time.Second},
		"quoted":              {command("sh", "-c", "sleep '4'"), nil, 4 * time.Second},
		"loop is unknown":     {command("sh", "-c", "while pgrep app; do sleep 1; done"), nil, 0},
		"unknown":             {command("/stop"), nil, 0},
		"unknown, told":       {command("/stop"), []string{"hook=app.preStop=7s"}, 7 * time.Second},
		"other hook told":     {command("/stop"), []string{"hook=app.postStart=7s"}, 0},
		"sleep handler":       {sleep(6), nil, 6 * time.Second},
		"sleep handler, 1.29": {sleep(6), []string{"kube-version=1.29"}, 0},
		"forever":             {command("sleep", "infinity"), nil, 30 * time.Second},
		"not a number":        {command("sleep", "$DELAY"), nil, 0},
		"empty":               {command(), nil, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := classicPod("app", "istio-proxy")
			p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: tt.hook}
			got := lifecycle.Simulate(p, optionsOf(t, append(tt.options, "phase=stop")...))
			if at := first(got, "app", lifecycle.SignalTerm); at != tt.want {
				t.Errorf("SIGTERM at %v, want %v", at, tt.want)
			}
		})
	}
}

// TestProxySettings reads the agent's settings from where injection and users put them: want is the proxy's exit.
func TestProxySettings(t *testing.T) {
	t.Parallel()
	env := func(pairs ...string) []corev1.EnvVar {
		var out []corev1.EnvVar
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	tests := map[string]struct {
		env        []corev1.EnvVar
		annotation string
		options    []string
		want       time.Duration
	}{
		"default":                 {nil, "", nil, 5 * time.Second},
		"PROXY_CONFIG":            {env("PROXY_CONFIG", `{"terminationDrainDuration":"12s"}`), "", nil, 12 * time.Second},
		"annotation wins":         {env("PROXY_CONFIG", `{"terminationDrainDuration":"12s"}`), "terminationDrainDuration: 8s", nil, 8 * time.Second},
		"broken annotation":       {nil, "terminationDrainDuration: [", nil, 5 * time.Second},
		"exit on zero":            {env("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "true"), "", nil, 6 * time.Second},
		"exit on zero, minimum":   {env("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "true", "MINIMUM_DRAIN_DURATION", "9s"), "", nil, 10 * time.Second},
		"exit on zero, metadata":  {nil, "proxyMetadata:\n  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"", nil, 6 * time.Second},
		"exit on zero, bad":       {env("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "yes"), "", nil, 5 * time.Second},
		"exit on zero, 1.11":      {env("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "true"), "", []string{"istio-version=1.11"}, 5 * time.Second},
		"exit on zero, looks":     {env("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "true"), "", []string{"connections-open=8300ms"}, 9 * time.Second},
		"drain seconds, 1.6":      {env("TERMINATION_DRAIN_DURATION_SECONDS", "7"), "", []string{"istio-version=1.6"}, 7 * time.Second},
		"drain seconds, 1.30":     {env("TERMINATION_DRAIN_DURATION_SECONDS", "7"), "", nil, 5 * time.Second},
		"minimum of bare seconds": {env("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "true", "MINIMUM_DRAIN_DURATION", "15"), "", nil, 6 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := classicPod("app", "istio-proxy")
			p.Spec.Containers[1].Env = tt.env
			p.Annotations = map[string]string{"proxy.istio.io/config": tt.annotation}
			got := lifecycle.Simulate(p, optionsOf(t, append(tt.options, "phase=stop")...))
			if at := first(got, "istio-proxy", lifecycle.ContainerExit); at != tt.want {
				t.Errorf("exit at %v, want %v", at, tt.want)
			}
		})
	}
}
