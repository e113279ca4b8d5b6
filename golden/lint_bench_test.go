package golden

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/manifest"
)

// lintPairs is a stream of Deployments, each with its Service.
func lintPairs(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-%[1]d
  labels: {app: shop-%[1]d}
spec:
  replicas: 2
  selector:
    matchLabels:
      app: shop-%[1]d
  template:
    metadata:
      labels:
        app: shop-%[1]d
        version: v1
      annotations:
        proxy.istio.io/config: |
          terminationDrainDuration: 20s
    spec:
      terminationGracePeriodSeconds: 60
      containers:
      - name: shop
        image: registry.example/shop:1.%[1]d
        ports:
        - name: http
          containerPort: 8080
        readinessProbe:
          httpGet: {path: /ready, port: http}
        lifecycle:
          preStop:
            exec:
              command: [sleep, "5"]
        env:
        - {name: LOG_LEVEL, value: info}
        resources:
          requests: {cpu: 100m, memory: 128Mi}
---
apiVersion: v1
kind: Service
metadata:
  name: shop-%[1]d
spec:
  selector:
    app: shop-%[1]d
  ports:
  - name: http
    port: 80
    targetPort: http
---
`, i)
	}
	return b.Bytes()
}

// BenchmarkLint compares linting a stream of 1,000 pairs with injecting it, both on all cores from the bytes on. The
// claim is that lint takes at most one and a half times as long.
func BenchmarkLint(b *testing.B) {
	text := lintPairs(1000)
	b.Run("inject", func(b *testing.B) {
		in := embeddedInjector(b, transform.Setup{})
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if err := in.Stream(b.Context(), "pairs.yaml", bytes.NewReader(text), 2, func(batch transform.Batch) error {
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lint", func(b *testing.B) {
		l := plainLinter(b, transform.NativeAuto, lint.Rules())
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			docs, _ := manifest.Split("pairs.yaml", text)
			if fs := l.Lint(docs).Findings; len(fs) > 0 {
				b.Fatal(fs[0])
			}
		}
	})
}
