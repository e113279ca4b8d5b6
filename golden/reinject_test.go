package golden

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// versionInjector runs the default config of an Istio version from the conformance data.
func versionInjector(t testing.TB, version string) *transform.Injector {
	t.Helper()
	for _, c := range conformanceCases(t, "istio-"+version) {
		if filepath.Base(c.Dir) != "hello-default-native-false" {
			continue
		}
		b, fs := config.Load(config.LoadOptions{
			Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh),
		})
		if b == nil {
			t.Fatal(fs)
		}
		compiled, fs := transform.Compile(b, transform.Setup{Registry: workload.Default()})
		if compiled == nil {
			t.Fatal(fs)
		}
		return transform.New(compiled.Options)
	}
	t.Fatalf("no default case for %s", version)
	return nil
}

// TestReinjection holds that injecting an injected document equals injecting the original, byte for byte, whatever
// injected it before: classic or native, another revision, another Istio.
func TestReinjection(t *testing.T) {
	t.Parallel()
	needShared(t, "conformance")
	setups := map[string]*transform.Injector{
		"native":  embeddedInjector(t, transform.Setup{Native: transform.NativeTrue}),
		"classic": embeddedInjector(t, transform.Setup{Native: transform.NativeFalse}),
		"cluster": embeddedInjector(t, transform.Setup{Cluster: "c1", Network: "n1"}),
		"1.24":    versionInjector(t, "1.24"),
		"1.31":    versionInjector(t, "1.31"),
	}
	pairs := [][2]string{
		{"native", "classic"}, {"classic", "native"}, {"cluster", "native"}, {"1.24", "native"}, {"native", "1.31"}, {"1.31", "classic"},
	}
	for _, file := range corpusFiles(t) {
		text := readFile(t, file)
		if bytes.Contains(text, []byte(policy.AnnotationStatus)) || bytes.HasPrefix(text, []byte("\xff\xfe")) ||
			bytes.HasPrefix(text, []byte("\xfe\xff")) {
			continue
		}
		alone := map[string]outcome{}
		for name, in := range setups {
			alone[name] = through(t, in, file, text)
		}
		for _, p := range pairs {
			once, want := alone[p[0]], alone[p[1]]
			if len(once.errs)+len(want.errs) > 0 || once.injected == 0 || want.injected != once.injected {
				continue // an error, or the two decide differently about this file
			}
			got := through(t, setups[p[1]], file, once.text)
			if len(got.errs) == 0 && bytes.Equal(got.text, once.text) && compare(parsed(t, file, got.text), parsed(t, file, want.text), false) == "" {
				continue // the same data already: nothing is rewritten for the sake of an order of keys
			}
			if len(got.errs) > 0 || !bytes.Equal(got.text, want.text) {
				t.Errorf("%s: %s over %s is not %s alone %v\n%s", file, p[1], p[0], p[1], got.errs, firstDifference(want.text, got.text))
			}
		}
	}
}

// TestUninjectForeign takes the sidecar out of what Istio's own injector wrote, which carries no restore record: the
// original comes back as data, but for what nobody recorded, which is listed here with its reason.
func TestUninjectForeign(t *testing.T) {
	t.Parallel()
	un := transform.NewUninjector(workload.Default())
	listed := reasons(t, "uninject_foreign.txt")
	for _, c := range conformanceCases(t, "istio-1.30") {
		input := readFile(t, c.Dir, "input.yaml")
		if c.fails() || bytes.Contains(input, []byte(policy.AnnotationStatus)) {
			continue
		}
		o := through(t, un, "want.yaml", readFile(t, c.Dir, "want.yaml"))
		if len(o.errs) > 0 {
			t.Errorf("%s: %v", c.Name, o.errs)
			continue
		}
		d := compare(documents(t, input), documents(t, o.text), false)
		if d != "" {
			// A probe that was rewritten lost the name of its port: the number comes back.
			numbered := documents(t, input)
			for _, doc := range numbered {
				numberPorts(doc, nil)
			}
			d = compare(numbered, documents(t, o.text), false)
		}
		switch reason, ok := listed[c.Name]; {
		case d == "" && ok:
			t.Errorf("%s is listed (%s) but comes back", c.Name, reason)
		case d != "" && !ok:
			t.Errorf("%s does not come back (-want +got)\n%s", c.Name, d)
		}
	}
}

// numberPorts gives probes the number of the port that they name: the name is not recorded anywhere.
func numberPorts(v any, ports []any) {
	switch v := v.(type) {
	case map[string]any:
		if own, ok := v["ports"].([]any); ok && v["image"] != nil {
			ports = own
		}
		for _, kind := range []string{"httpGet", "tcpSocket"} {
			probe, ok := v[kind].(map[string]any)
			if !ok {
				continue
			}
			for _, p := range ports {
				if m, ok := p.(map[string]any); ok && m["name"] != nil && m["name"] == probe["port"] {
					probe["port"] = m["containerPort"]
				}
			}
		}
		for _, e := range v {
			numberPorts(e, ports)
		}
	case []any:
		for _, e := range v {
			numberPorts(e, ports)
		}
	}
}
