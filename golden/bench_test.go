package golden

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// pairs makes n Deployments with a Service each, of the size that people have.
func pairs(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `---
# service %[1]d of the shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-%[1]d
  namespace: shop
  labels:
    app: web-%[1]d
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web-%[1]d
  template:
    metadata:
      labels:
        app: web-%[1]d
        version: v1
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: registry.example/shop/web:1.%[1]d
        args: ["--listen", ":8080"]
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
            path: /ready
            port: 8080
---
apiVersion: v1
kind: Service
metadata:
  name: web-%[1]d
  namespace: shop
spec:
  selector:
    app: web-%[1]d
  ports:
  - name: http
    port: 80
    targetPort: 8080
`, i)
	}
	return b.Bytes()
}

// perDocument reports the time of one document besides that of the whole.
func perDocument(b *testing.B, docs int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(docs), "ns/doc")
}

func BenchmarkSplit(b *testing.B) {
	text := pairs(1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		manifest.Split("app.yaml", text)
	}
	perDocument(b, 2000)
}

func BenchmarkParse(b *testing.B) {
	docs, _ := manifest.Split("app.yaml", pairs(1))
	b.ReportAllocs()
	for b.Loop() {
		if p, fs := docs[0].Parse(); p == nil {
			b.Fatal(fs)
		}
	}
}

func BenchmarkFindAndDecode(b *testing.B) {
	docs, _ := manifest.Split("app.yaml", pairs(1))
	p, _ := docs[0].Parse()
	reg, schema := workload.Default(), &typed.Schema{}
	b.ReportAllocs()
	for b.Loop() {
		found := workload.Find(reg, p.Root)
		var t corev1.PodTemplateSpec
		if ps := schema.Decode(found.Objects[0].Templates[0].Node, &t, false); len(ps) > 0 {
			b.Fatal(ps)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	f := policy.Facts{Namespace: "shop", Labels: map[string]string{"app": "web", "version": "v1"}}
	b.ReportAllocs()
	for b.Loop() {
		if d := policy.Decide(f); !d.Inject {
			b.Fatal(d.Rule)
		}
	}
}

func benchmarkDocument(b *testing.B, in *transform.Injector, text []byte) {
	b.Helper()
	docs, _ := manifest.Split("app.yaml", text)
	b.ReportAllocs()
	for b.Loop() {
		if r := in.Document(docs[0]); !r.Changed || r.Failed() {
			b.Fatal(r.Findings)
		}
	}
}

// BenchmarkDeployment is one Deployment from bytes to bytes on one core: with the embedded profile, with Istio's own
// config file, and with the probe overlay, which leaves the cost of locating, editing and verifying alone.
func BenchmarkDeployment(b *testing.B) {
	b.Run("embedded", func(b *testing.B) { benchmarkDocument(b, embeddedInjector(b, transform.Setup{}), pairs(1)) })
	b.Run("istio-1.30-config", func(b *testing.B) { benchmarkDocument(b, istioInjector(b), pairs(1)) })
	b.Run("probe-overlay", func(b *testing.B) { benchmarkDocument(b, probeInjector(b, nil, false), pairs(1)) })
	b.Run("uninject", func(b *testing.B) {
		in := embeddedInjector(b, transform.Setup{})
		docs, _ := manifest.Split("app.yaml", pairs(1))
		injected, _ := manifest.Split("app.yaml", in.Document(docs[0]).Raw)
		un := transform.NewUninjector(workload.Default())
		b.ReportAllocs()
		for b.Loop() {
			if r := un.Document(injected[0]); !r.Changed {
				b.Fatal(r.Findings)
			}
		}
	})
}

// istioInjector runs Istio's own config file from the conformance data.
func istioInjector(b *testing.B) *transform.Injector {
	b.Helper()
	root := needShared(b, "conformance", "istio-1.30", "_shared")
	source := func(name string) *config.Source { return &config.Source{Name: name, Data: readFile(b, root, name)} }
	bundle, fs := config.Load(config.LoadOptions{
		Injection: source(profileConfig), Values: source("values-ab5e46287c.json"), Mesh: source("mesh-02fcb0177e.yaml"),
	})
	if bundle == nil {
		b.Fatal(fs)
	}
	c, fs := transform.Compile(bundle, transform.Setup{Registry: workload.Default()})
	if c == nil {
		b.Fatal(fs)
	}
	return transform.New(c.Options)
}

// BenchmarkStream is a whole stream on all cores, into nothing.
func BenchmarkStream(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("pairs-%d", n), func(b *testing.B) {
			in := embeddedInjector(b, transform.Setup{})
			benchmarkStream(b, in, pairs(n), 2*n)
		})
	}
	b.Run("nothing-to-inject", func(b *testing.B) {
		in := embeddedInjector(b, transform.Setup{})
		text := bytes.Repeat([]byte(passing), (16<<20)/len(passing))
		benchmarkStream(b, in, text, (16<<20)/len(passing))
	})
}

// passing is a document of about 1 KB that holds no workload.
const passing = `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
  labels:
    app: web
data:
  application.properties: |
    server.port=8080
    server.shutdown=graceful
    spring.datasource.url=jdbc:postgresql://db.shop.svc:5432/shop
    spring.datasource.hikari.maximum-pool-size=20
    management.endpoints.web.exposure.include=health,info,prometheus
    logging.level.root=info
    logging.level.shop=debug
    features.checkout=true
    features.search=false
    cache.ttl=300
    cache.size=10000
    retries.max=5
    retries.backoff=200
    limits.requests=1000
    limits.window=60
    mail.host=smtp.shop.svc
    mail.port=25
    mail.from=shop@example.com
    queue.name=orders
    queue.consumers=4
    queue.prefetch=50
    session.timeout=1800
    session.cookie=SHOPSESSION
    i18n.default=en
    i18n.supported=en,de,fr,it
`

func benchmarkStream(b *testing.B, in *transform.Injector, text []byte, docs int) {
	b.Helper()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		err := in.Stream(b.Context(), "app.yaml", bytes.NewReader(text), runtime.GOMAXPROCS(0), func(batch transform.Batch) error {
			for _, r := range batch.Results {
				if _, err := io.Discard.Write(r.Raw); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	perDocument(b, docs)
}

// BenchmarkProcess is the whole program, from start to exit, as a shell sees it.
func BenchmarkProcess(b *testing.B) {
	bin := filepath.Join(program(b), exe("inject"))
	dir := b.TempDir()
	for _, n := range []int{1, 1000} {
		file := filepath.Join(dir, fmt.Sprintf("pairs-%d.yaml", n))
		if err := os.WriteFile(file, pairs(n), 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("pairs-%d", n), func(b *testing.B) { benchmarkProcess(b, bin, "-q", "-f", file) })
	}
	b.Run("help", func(b *testing.B) { benchmarkProcess(b, bin, "--help") })
	big := filepath.Join(dir, "big.yaml")
	pair := pairs(1)
	stream := append(bytes.Repeat([]byte(passing), 98), pair...)
	if err := os.WriteFile(big, bytes.Repeat(stream, (50<<20)/len(stream)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("50MB-one-in-100", func(b *testing.B) { benchmarkProcess(b, bin, "-q", "-f", big) })
}

func benchmarkProcess(b *testing.B, bin string, args ...string) {
	b.Helper()
	var memory int64
	for b.Loop() {
		cmd := exec.Command(bin, args...)
		cmd.Stdout = io.Discard
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		memory = max(memory, watch(b, cmd.Process.Pid, done))
	}
	b.ReportMetric(float64(memory)/(1<<20), "peak-MB")
}

// watch gives the peak memory of a process that runs until done tells.
func watch(b *testing.B, pid int, done <-chan error) int64 {
	b.Helper()
	var peak int64
	for {
		select {
		case err := <-done:
			if err != nil {
				b.Fatal(err)
			}
			return peak
		case <-time.After(time.Millisecond):
			peak = max(peak, peakMemory(pid))
		}
	}
}

// BenchmarkPeer is what other programs take for the same file, where they are on PATH.
func BenchmarkPeer(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "app.yaml")
	if err := os.WriteFile(file, pairs(1), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: [app.yaml]\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	root := shared("conformance", "istio-1.30", "_shared")
	for _, peer := range [][]string{
		{
			"istioctl", "kube-inject", "-r", "default", "--injectConfigFile", filepath.Join(root, profileConfig),
			"--valuesFile", filepath.Join(root, "values-ab5e46287c.json"), "--meshConfigFile", filepath.Join(root, "mesh-02fcb0177e.yaml"),
			"-f", file,
		},
		{"kustomize", "build", dir},
		{"kubectl", "kustomize", dir},
	} {
		b.Run(peer[0], func(b *testing.B) {
			bin, err := exec.LookPath(peer[0])
			if err != nil {
				b.Skipf("%s is not on PATH", peer[0])
			}
			benchmarkProcess(b, bin, peer[1:]...)
		})
	}
}

// BenchmarkCorpus injects the real files of the corpus, and counts the documents that could not be spliced.
func BenchmarkCorpus(b *testing.B) {
	files := realFiles(b)
	if len(files) == 0 {
		b.Skip("the corpora are not beside the checkout")
	}
	in := embeddedInjector(b, transform.Setup{})
	texts := make([][]byte, len(files))
	for i, f := range files {
		texts[i] = readFile(b, f)
	}
	var injected, reencoded int
	for b.Loop() {
		injected, reencoded = 0, 0
		for i, text := range texts {
			o := through(b, in, files[i], text)
			injected += o.injected
			reencoded += o.reencoded
		}
	}
	b.ReportMetric(float64(injected), "injected")
	b.ReportMetric(float64(reencoded), "re-encoded")
}
