package legacy

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// BenchmarkInject injects one Deployment with the released chart of each version.
func BenchmarkInject(b *testing.B) {
	for _, name := range []string{"istio-1.6/seed-example", "istio-1.7/seed-example"} {
		for _, c := range cases(b) {
			if c.name != name {
				continue
			}
			b.Run(name, func(b *testing.B) {
				e, err := c.engine(b)
				if err != nil {
					b.Fatal(err)
				}
				var workloads []Workload
				for _, text := range documents(c.read(b, "input.yaml")) {
					var doc map[string]any
					if err := yaml.Unmarshal(text, &doc); err != nil {
						b.Fatal(err)
					}
					if _, err := inject(e, doc, func(i injected) { workloads = append(workloads, i.workload) }); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					for _, w := range workloads {
						if _, fs, _ := e.Inject(w); firstError(fs) != nil {
							b.Fatal(fs)
						}
					}
				}
			})
		}
	}
}
