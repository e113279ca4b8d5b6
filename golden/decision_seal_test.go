package golden

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sealPod = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: registry.example/web:1
`

const sealAsked = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    metadata:
      labels:
        sidecar.istio.io/inject: "true"
    spec:
      containers:
      - name: web
        image: registry.example/web:1
`

// TestSeal marks pods, injects them again in every way, and takes the sidecar out.
func TestSeal(t *testing.T) {
	t.Parallel()
	for name, pod := range map[string]string{"silent": sealPod, "asked": sealAsked} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The policy is off in one of them: only the value kept by the seal can say yes.
			flags := []string{"-q"}
			if name == "asked" {
				flags = append(flags, "--set", "global.proxy.autoInject=disabled")
			}
			run := func(input string, more ...string) ran {
				return runProgram(t, ".", input, append(append([]string(nil), flags...), more...)...)
			}
			first := run(pod, "--seal")
			kept := map[string]string{"silent": `inject.krm/sealed: ""`, "asked": `inject.krm/sealed: "true"`}[name]
			if first.code != 0 || !strings.Contains(first.out, `sidecar.istio.io/inject: "false"`) || !strings.Contains(first.out, kept) {
				t.Fatalf("not sealed: %s\n%s", first.err, first.out)
			}
			for how, again := range map[string]ran{"with the flag": run(first.out, "--seal"), "without": run(first.out)} {
				if d := cmp.Diff(first.out, again.out); d != "" || again.code != 0 {
					t.Errorf("a second injection %s changes a sealed pod: %s\n%s", how, again.err, d)
				}
			}
			if check := run(first.out, "--check"); check.code != 0 {
				t.Errorf("--check: exit %d %s", check.code, check.err)
			}
			if diff := runProgram(t, ".", first.out, append([]string{"diff"}, flags...)...); diff.code != 0 || diff.out != "" {
				t.Errorf("diff: exit %d %s", diff.code, diff.out)
			}
			changed := run(first.out, "--set", "global.tag=1.30.9")
			if !strings.Contains(changed.out, "1.30.9") || !strings.Contains(changed.out, kept) {
				t.Errorf("another tag: %s\n%s", changed.err, changed.out)
			}
			if back := runProgram(t, ".", first.out, "uninject", "-q"); back.out != pod {
				t.Errorf("uninject gives something else: %s\n%s", back.err, cmp.Diff(pod, back.out))
			}
			parity := run(first.out, "--namespace-labels", "istio-injection=enabled")
			if parity.out != first.out {
				t.Errorf("the seal counts as the user's no: %s", parity.err)
			}
		})
	}
}

// TestSealByHand: a kept value decides, whatever the label says.
func TestSealByHand(t *testing.T) {
	t.Parallel()
	sealed := func(label, kept string) string {
		return strings.Replace(sealPod, "        app: web\n", "        sidecar.istio.io/inject: \""+label+"\"\n      annotations:\n        inject.krm/sealed: \""+kept+"\"\n", 1)
	}
	for name, tt := range map[string]struct {
		label, kept string
		want        string
	}{
		"kept nothing, the policy decides": {"false", "", "1 injected"},
		"kept true":                        {"false", "true", "1 injected"},
		"kept false":                       {"true", "false", "0 injected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runProgram(t, ".", sealed(tt.label, tt.kept))
			if got.code != 0 || !strings.Contains(got.err, tt.want) {
				t.Fatalf("exit %d: %s", got.code, got.err)
			}
			if !strings.Contains(got.out, `inject.krm/sealed: "`+tt.kept+`"`) {
				t.Errorf("the kept value is lost:\n%s", got.out)
			}
		})
	}
}

// TestSealRefused names what cannot be sealed, and writes nothing.
func TestSealRefused(t *testing.T) {
	t.Parallel()
	const runner = "apiVersion: example.com/v1\nkind: Runner\nmetadata: {name: r}\nspec:\n  pod:\n    containers: [{name: r, image: \"registry.example/r:1\"}]\n"
	for name, tt := range map[string]struct {
		input string
		args  []string
		want  []string
	}{
		"cni":           {sealPod, []string{"--set", "pilot.cni.enabled=true"}, []string{"E_SEAL", "istio-validation", "neverInjectSelector"}},
		"bare pod spec": {runner, []string{"--kind", "example.com/Runner=spec.pod@podspec"}, []string{"E_SEAL", "no labels of its own"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runProgram(t, ".", tt.input, append([]string{"--seal"}, tt.args...)...)
			if got.code != 2 || got.out != "" {
				t.Errorf("exit %d, %d bytes", got.code, len(got.out))
			}
			for _, want := range tt.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("%q is not said: %s", want, got.err)
				}
			}
		})
	}
	got := runProgram(t, "explain/legacy", "", "--seal", "-f", "in.yaml", "--inject-config-file", "config.yaml", "--values-file", "values.yaml")
	if got.code != 2 || !strings.Contains(got.err, "E_SEAL") || got.out != "" {
		t.Errorf("legacy: exit %d %s", got.code, got.err)
	}
}

// TestStrict makes errors of warnings, of what was asked for and did not happen, and of the embedded profile.
func TestStrict(t *testing.T) {
	t.Parallel()
	files := []string{"--inject-config-file", "config.yaml", "--values-file", "values.yaml", "--mesh-config-file", "mesh.yaml"}
	host := strings.Replace(sealAsked, "    spec:\n", "    spec:\n      hostNetwork: true\n", 1)
	odd := strings.Replace(sealAsked, `"true"`, `"yes"`, 1)
	for name, tt := range map[string]struct {
		input string
		args  []string
		code  int
		want  string
	}{
		"clean":            {sealAsked, files, 0, "1 injected"},
		"embedded profile": {sealAsked, nil, 2, "nobody's mesh"},
		"asked, skipped":   {host, files, 2, "E_STRICT"},
		"skipped, silent":  {strings.Replace(host, `sidecar.istio.io/inject: "true"`, "app: web", 1), files, 0, "1 passed"},
		"a warning":        {odd, files, 2, "W_INJECT_VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runProgram(t, "explain/custom-files", tt.input, append([]string{"--strict"}, tt.args...)...)
			if got.code != tt.code || !strings.Contains(got.err, tt.want) {
				t.Errorf("exit %d: %s", got.code, got.err)
			}
			if got.code != 0 && got.out != "" {
				t.Error("something is written all the same")
			}
		})
	}
}
