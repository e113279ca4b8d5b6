package transform_test

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// An Injector stands in a pipeline between any reader and writer of kyaml.
func ExampleInjector_Filter() {
	bundle, problems := config.Load(config.LoadOptions{
		Embedded: transform.Embedded(),
		Injection: &config.Source{Name: "config.yaml", Data: []byte(`
policy: enabled
defaultTemplates: [sidecar]
templates:
  sidecar: |
    spec:
      containers:
      - name: istio-proxy
        image: "{{ .Values.global.hub }}/proxyv2:{{ .Values.global.tag }}"
`)},
		Values:       &config.Source{Name: "values.yaml", Data: []byte(`{global: {hub: registry.example, tag: 1.30.3}}`)},
		IstioVersion: "1.30",
	})
	if bundle == nil {
		fmt.Println(problems)
		return
	}
	compiled, problems := transform.Compile(bundle, transform.Setup{Registry: workload.Default()})
	if compiled == nil {
		fmt.Println(problems)
		return
	}
	input := `apiVersion: v1
kind: Pod
metadata:
  name: web # the front
spec:
  containers:
  - name: web
    image: registry.example/web:1
`
	err := kio.Pipeline{
		Inputs:  []kio.Reader{&kio.ByteReader{Reader: strings.NewReader(input), OmitReaderAnnotations: true}},
		Filters: []kio.Filter{transform.New(compiled.Options)},
		Outputs: []kio.Writer{kio.ByteWriter{Writer: os.Stdout}},
	}.Execute()
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// apiVersion: v1
	// kind: Pod
	// metadata:
	//   name: web # the front
	//   annotations:
	//     prometheus.io/path: /stats/prometheus
	//     prometheus.io/port: "15020"
	//     prometheus.io/scrape: "true"
	//     sidecar.istio.io/status: '{"initContainers":null,"containers":["istio-proxy"],"volumes":null,"imagePullSecrets":null,"revision":"default"}'
	// spec:
	//   containers:
	//   - name: web
	//     image: registry.example/web:1
	//   - name: istio-proxy
	//     image: registry.example/proxyv2:1.30.3
}
