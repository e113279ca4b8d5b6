package legacy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
)

// FuzzParseMesh: no text panics, and there is a mesh exactly where there is no error.
func FuzzParseMesh(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "[]", "a: [b", "trustDomain: td\nsdsUdsPath: ''\n", "sds_uds_path: 1\n",
		"defaultConfig:\n  concurrency: 0\n  drainDuration: 1m0s\n  tracing: {zipkin: {address: 'a:1'}}\n  proxyMetadata: {A: b}\n",
		"defaultConfig: {tracing: null, statusPort: '7', interceptionMode: 1}\nmixerCheckServer: x\n",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, old bool) {
		v := V17
		if old {
			v = V16
		}
		m, fs := ParseMesh([]byte(text), v)
		if (m == nil) != (firstError(fs) != nil) {
			t.Errorf("mesh given: %v, findings: %v", m != nil, fs)
		}
		if m != nil {
			if _, err := protoToJSON(m.DefaultConfig, v); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzInject: no template output and no status annotation panics; what is injected can be injected again to the same.
func FuzzInject(f *testing.F) {
	for _, seed := range []string{
		"containers: [{name: istio-proxy}]", "containers: [{name: a}, {name: a}]", "[]", "a", "containers: x",
		"rewriteAppHTTPProbe: true\ncontainers: [{name: istio-proxy, args: [1], resources: {limits: {cpu: 1.5}}}]",
		"podRedirectAnnot: {sidecar.istio.io/status: x}\nvolumes: [{name: v}]", "dnsConfig: {searches: [a]}",
	} {
		f.Add(seed, "")
		f.Add(seed, `{"version":"x","containers":["app"],"volumes":null}`)
	}
	f.Fuzz(func(t *testing.T, output, status string) {
		spec, fs := parseSpec([]byte(output), policy.Position{})
		if (spec == nil) != (firstError(fs) != nil) {
			t.Fatalf("spec given: %v, findings: %v", spec != nil, fs)
		}
		e, _ := New(Config{Template: output})
		if e == nil {
			return
		}
		w := Workload{Pod: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{policy.AnnotationStatus: status}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}, {Name: "other"}}},
		}}
		once, fs, trace := e.Inject(w)
		if firstError(fs) != nil || trace.Skipped != "" {
			return
		}
		w.Pod = once
		twice, fs, _ := e.Inject(w)
		if err := firstError(fs); err != nil || !equalJSON(once, twice) {
			t.Errorf("a second injection: %v\nonce  %v\ntwice %v", err, once, twice)
		}
	})
}
