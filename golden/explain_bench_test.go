package golden

import (
	"bytes"
	"testing"

	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// BenchmarkSurroundings injects the same Deployment with and without a survey of its input: what a run pays for looking
// at Namespaces and ProxyConfigs, and what for being explained.
func BenchmarkSurroundings(b *testing.B) {
	text := readFile(b, "kinds", "deployment", "in.yaml")
	docs, _ := manifest.Split("in.yaml", text)
	bundle, fs := config.Load(config.LoadOptions{Embedded: transform.Embedded()})
	if bundle == nil {
		b.Fatal(fs)
	}
	compile := func(s transform.Setup) *transform.Compiled {
		s.Registry = workload.Default()
		c, fs := transform.Compile(bundle, s)
		if c == nil {
			b.Fatal(fs)
		}
		return c
	}
	var survey transform.Survey
	stream := survey.Stream("in.yaml")
	_, _ = stream.Write(bytes.Repeat(text, 10))
	_ = stream.Close()
	surrounded := transform.Setup{Surroundings: survey.Found}
	c := compile(surrounded)
	for _, run := range []struct {
		name string
		work func(manifest.Document) transform.Result
	}{
		{"alone", transform.New(compile(transform.Setup{}).Options).Document},
		{"surrounded", transform.New(c.Options).Document},
		{"explained", transform.NewExplainer(transform.Sources{Bundle: bundle, Compiled: c, Setup: surrounded}).Document},
	} {
		b.Run(run.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := run.work(docs[0]); r.Failed() || !r.Changed {
					b.Fatal(r.Findings)
				}
			}
		})
	}
}
