package config

import (
	"path/filepath"
	"testing"
)

// BenchmarkLoad: a run's start. "values and mesh" has the embedded templates, "all three" the mesh's own config file.
func BenchmarkLoad(b *testing.B) {
	values, mesh := &Source{"v", []byte(valuesText)}, &Source{"m", []byte(meshText)}
	cases := map[string]LoadOptions{
		"nothing given":   {Embedded: builtIn()},
		"values":          {Embedded: builtIn(), Values: values},
		"values and mesh": {Embedded: builtIn(), Values: values, Mesh: mesh},
	}
	if files, _ := filepath.Glob(filepath.Join(conformanceDir, "istio-1.30/_shared/config-506deab6aa.yaml")); len(files) == 1 {
		cases["all three"] = LoadOptions{
			Injection: sourceOf(b, files[0]),
			Values:    sourceOf(b, filepath.Join(conformanceDir, "istio-1.30/_shared/values-05e7bf2e3f.json")),
			Mesh:      sourceOf(b, filepath.Join(conformanceDir, "istio-1.30/_shared/mesh-2973052e37.yaml")),
		}
	}
	for _, name := range sortedKeys(cases) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if bundle, findings := Load(cases[name]); bundle == nil {
					b.Fatal(findings)
				}
			}
		})
	}
}

func BenchmarkProxyConfig(b *testing.B) {
	m := defaultMesh(Modern)
	for name, annotation := range map[string]string{"none": "", "two fields": "concurrency: 2\nproxyMetadata:\n  A: b\n"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c, _, _ := m.ProxyConfig(annotation, podPlace()); c == nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
