package manifest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const benchDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels:
    app.kubernetes.io/name: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app.kubernetes.io/name: web
  template:
    metadata:
      labels:
        app.kubernetes.io/name: web
        version: v1
      annotations:
        checksum/config: "0a1b2c"
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: example.com/web:1.2.3 # pinned
        ports:
        - name: http
          containerPort: 8080
        env:
        - name: LOG_LEVEL
          value: info
        resources:
          requests:
            cpu: 100m
            memory: 128Mi
        readinessProbe:
          httpGet:
            path: /healthz
            port: http
      volumes:
      - name: config
        configMap:
          name: web
`

func BenchmarkSplitSniff(b *testing.B) {
	doc := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n  labels:\n    app: web\ndata:\n" +
		strings.Repeat("  some.key.name: some value that is a little longer\n", 16) + "---\n"
	data := bytes.Repeat([]byte(doc), 10000)
	kinds := sniffSet()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader("f.yaml", bytes.NewReader(data))
		for {
			d, err := r.Next()
			if err != nil {
				break
			}
			if c, _ := d.Sniff(kinds); c != Pass {
				b.Fatal("not passed")
			}
		}
	}
}

func BenchmarkSplitSniffReal(b *testing.B) {
	var data []byte
	for _, rf := range realFiles(b) {
		raw, err := os.ReadFile(filepath.Join(corpus, "real", rf.File))
		if err != nil {
			b.Fatal(err)
		}
		data = append(append(data, raw...), "\n---\n"...)
	}
	kinds := sniffSet()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		docs, _ := Split("f.yaml", data)
		for _, d := range docs {
			d.Sniff(kinds)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	docs, _ := Split("f.yaml", []byte(benchDeployment))
	b.ReportAllocs()
	for b.Loop() {
		if _, fs := docs[0].Parse(); fs != nil {
			b.Fatal(fs)
		}
	}
}

func BenchmarkApplyDeployment(b *testing.B) {
	docs, _ := Split("f.yaml", []byte(benchDeployment))
	p, _ := docs[0].Parse()
	changes := probeChanges(b, p, Keys("spec", "template"))
	b.ReportAllocs()
	for b.Loop() {
		p, fs := docs[0].Parse()
		if fs != nil {
			b.Fatal(fs)
		}
		if res, fs := Apply(p, changes); fs != nil || res.Reencoded {
			b.Fatal(fs, res.Reason)
		}
	}
}

func BenchmarkApplyList(b *testing.B) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for range 2000 {
		for i, line := range strings.Split(strings.TrimSuffix(benchDeployment, "\n"), "\n") {
			if i == 0 {
				text.WriteString("- " + line + "\n")
				continue
			}
			text.WriteString("  " + line + "\n")
		}
	}
	docs, _ := Split("f.yaml", []byte(text.String()))
	p, fs := docs[0].Parse()
	if fs != nil {
		b.Fatal(fs)
	}
	var changes []Change
	for i := range 2000 {
		changes = append(changes, probeChanges(b, p, Path{Key("items"), At(i), Key("spec"), Key("template")})...)
	}
	for b.Loop() {
		if res, fs := Apply(p, changes); fs != nil || res.Reencoded {
			b.Fatal(fs, res.Reason)
		}
	}
}
