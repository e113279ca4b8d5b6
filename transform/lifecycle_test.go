package transform

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// readerOf makes a reader of the embedded profile.
func readerOf(t *testing.T, o LifecycleOptions, set ...string) *LifecycleReader {
	t.Helper()
	load := config.LoadOptions{Embedded: Embedded()}
	for _, text := range set {
		load.Set = append(load.Set, config.Set{Text: text})
	}
	b, fs := config.Load(load)
	if b == nil {
		t.Fatal(fs)
	}
	c, fs := Compile(b, Setup{Registry: workload.Default(), Native: NativeFalse})
	if c == nil {
		t.Fatal(fs)
	}
	return NewLifecycleReader(b, c, o)
}

// podsOf reads one document.
func podsOf(t *testing.T, r *LifecycleReader, text string) []LifecyclePod {
	t.Helper()
	docs, _ := manifest.Split("in.yaml", []byte(text))
	var pods []LifecyclePod
	for _, d := range docs {
		result := r.Document(d)
		for _, f := range result.Findings {
			if f.Severity == policy.Error {
				t.Fatal(f)
			}
		}
		for _, w := range result.Workloads {
			pods = append(pods, w.Pods...)
		}
	}
	return pods
}

const podSpec = "spec: {containers: [{name: app, image: app}]}"

// TestLifecycleOwner holds what a pod takes from the object around it.
func TestLifecycleOwner(t *testing.T) {
	t.Parallel()
	type want struct {
		Kind, Name, Field string
		Line              int
		Deadline          int64
	}
	tests := map[string]struct {
		text string
		want want
	}{
		"deployment": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    " + podSpec,
			want{"Deployment", "a", "spec.template", 6, 0},
		},
		"job": {
			"apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\nspec:\n  activeDeadlineSeconds: 90\n  template:\n    " + podSpec,
			want{"Job", "a-*", "spec.template", 7, 90},
		},
		"cron job": {
			"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  jobTemplate:\n    spec:\n" +
				"      activeDeadlineSeconds: 80\n      template:\n        " + podSpec,
			want{"CronJob", "a", "spec.jobTemplate.spec.template", 9, 80},
		},
		"job in a list": {
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: Job\n  metadata: {name: a}\n" +
				"  spec:\n    activeDeadlineSeconds: 70\n    template:\n      " + podSpec,
			want{"Job", "a", "spec.template", 10, 70},
		},
		"pod of a job": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a-x, ownerReferences: [{kind: Job, name: a, controller: true}]}\n" + podSpec,
			want{"Job", "a", "", 1, 0},
		},
		"pod": {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n" + podSpec, want{"Pod", "a", "", 1, 0}},
	}
	for name, tt := range tests {
		pods := podsOf(t, readerOf(t, LifecycleOptions{}), tt.text+"\n")
		if len(pods) != 1 {
			t.Fatalf("%s: %d pods", name, len(pods))
		}
		p := pods[0]
		got := want{p.Kind, p.Name, p.Base.Field, p.Base.Position.Line, 0}
		if p.ActiveDeadlineSeconds != nil {
			got.Deadline = *p.ActiveDeadlineSeconds
		}
		if d := cmp.Diff(tt.want, got); d != "" || p.Sidecar != AddedSidecar {
			t.Errorf("%s: sidecar %d (-want +got)\n%s", name, p.Sidecar, d)
		}
	}
}

// TestLifecycleSeveralTemplates holds that the pods of one object have names of their own.
func TestLifecycleSeveralTemplates(t *testing.T) {
	t.Parallel()
	pods := podsOf(t, readerOf(t, LifecycleOptions{}), "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n"+
		"metadata: {name: a}\nspec:\n  leaderWorkerTemplate:\n    leaderTemplate:\n      "+podSpec+"\n    workerTemplate:\n      "+podSpec+"\n")
	if len(pods) != 2 || pods[0].Name == pods[1].Name {
		t.Errorf("%d pods", len(pods))
	}
}

// TestLifecycleVariants holds what variants are made of: annotations where they decide, else the proxy is moved.
func TestLifecycleVariants(t *testing.T) {
	t.Parallel()
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n"
	const config = "    metadata: {annotations: {proxy.istio.io/config: 'terminationDrainDuration: 9s'}}\n    "
	tests := map[string]struct {
		set  string
		want []lifecycle.Sidecar
		hold []bool
	}{
		"plain":          {"", []lifecycle.Sidecar{lifecycle.Classic, lifecycle.Native, lifecycle.Classic}, []bool{false, false, true}},
		"hold by values": {"global.proxy.holdApplicationUntilProxyStarts=true", []lifecycle.Sidecar{lifecycle.Classic, lifecycle.Native, lifecycle.Classic}, []bool{false, false, true}},
	}
	for name, tt := range tests {
		var set []string
		if tt.set != "" {
			set = append(set, tt.set)
		}
		pods := podsOf(t, readerOf(t, LifecycleOptions{Variants: lifecycle.Variants()}, set...), web+config+podSpec+"\n")
		if len(pods) != 3 {
			t.Fatalf("%s: %d pods", name, len(pods))
		}
		for i, p := range pods {
			f := lifecycle.Inspect(p.Pod, lifecycle.Defaults())
			if f.Sidecar != tt.want[i] || f.HoldHook != tt.hold[i] || f.TerminationDrain.Seconds() != 9 {
				t.Errorf("%s, %s: %s sidecar, hold hook %t, drain %v", name, p.Variant, f.Sidecar, f.HoldHook, f.TerminationDrain)
			}
		}
	}
}

// TestImageVersion holds which tags name an agent.
func TestImageVersion(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"docker.io/istio/proxyv2:1.30.3":               "1.30",
		"gcr.io/asm/proxyv2:1.20.8-asm.33":             "1.20",
		"localhost:5000/proxyv2:1.22.4-distroless":     "1.22",
		"localhost:5000/proxyv2":                       "",
		"istio/proxyv2:latest":                         "",
		"istio/proxyv2@sha256:0123":                    "",
		"istio/proxyv2:1.24.1@sha256:0123456789abcdef": "1.24",
		"mirror/proxy:2.6.1":                           "",
		"auto":                                         "",
	} {
		got := ""
		if v, ok := imageVersion(image); ok {
			got = v.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

// TestHoldSet holds what becomes of the annotation.
func TestHoldSet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		on   bool
		want string
		ok   bool
	}{
		{"", true, "holdApplicationUntilProxyStarts: true\n", true},
		{"", false, "holdApplicationUntilProxyStarts: false\n", true},
		{"holdApplicationUntilProxyStarts: true # yes", true, "holdApplicationUntilProxyStarts: true # yes", true},
		{`{"concurrency": 2}`, true, "concurrency: 2\nholdApplicationUntilProxyStarts: true\n", true},
		{"null", true, "holdApplicationUntilProxyStarts: true\n", true},
		{"- a", true, "", false},
	}
	for _, tt := range tests {
		if got, ok := holdSet(tt.text, tt.on); got != tt.want || ok != tt.ok {
			t.Errorf("%q, %t: %q, %t", tt.text, tt.on, got, ok)
		}
	}
}
