package profile

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkSidecar renders the sidecar for one Deployment with the values of the profile.
func BenchmarkSidecar(b *testing.B) {
	tmpl := parse(b, Sidecar, Templates()[Sidecar])
	var p corev1.Pod
	decode(b, []byte(`{metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: w, ports: [{containerPort: 80}]}]}}`), &p)
	d := deployment(b, p, Values())
	d.NativeSidecars = true
	b.ReportAllocs()
	for b.Loop() {
		if _, f := tmpl.Render(d); f != nil {
			b.Fatal(f.Message)
		}
	}
}

// BenchmarkIstioSidecar renders Istio's own template for the same pod.
func BenchmarkIstioSidecar(b *testing.B) {
	var theirs struct{ Templates map[string]string }
	decodeFile(b, shared(b, "_shared/"+config), &theirs)
	tmpl := parse(b, Sidecar, theirs.Templates[Sidecar])
	var p corev1.Pod
	decode(b, []byte(`{metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: w, ports: [{containerPort: 80}]}]}}`), &p)
	d := deployment(b, p, Values())
	d.NativeSidecars = true
	b.ReportAllocs()
	for b.Loop() {
		if _, f := tmpl.Render(d); f != nil {
			b.Fatal(f.Message)
		}
	}
}

// BenchmarkParse parses the sidecar template, which each run does once.
func BenchmarkParse(b *testing.B) {
	text := Templates()[Sidecar]
	for b.Loop() {
		parse(b, Sidecar, text)
	}
}

// BenchmarkConfig makes values and config, which each run does once.
func BenchmarkConfig(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Config(Values())
	}
}
