package profile

import (
	"fmt"
	tt "github.com/kube-inject/inject/transform/template"
	corev1 "k8s.io/api/core/v1"
	"reflect"
	"sort"
	"testing"
	"text/template"
)

func TestZZCount(t *testing.T) {
	fm := tt.Functions(tt.Environment{ProxyDefaults: proxyDefaults(t)})
	counts := map[string]int{}
	out := template.FuncMap{}
	for k, v := range fm {
		k := k
		rv := reflect.ValueOf(v)
		out[k] = reflect.MakeFunc(rv.Type(), func(a []reflect.Value) []reflect.Value {
			counts[k]++
			if rv.Type().IsVariadic() {
				return rv.CallSlice(a)
			}
			return rv.Call(a)
		}).Interface()
	}
	tm := template.Must(template.New("x").Funcs(out).Parse(Templates()[Sidecar]))
	var p corev1.Pod
	decode(t, []byte(`{metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: w, ports: [{containerPort: 80}]}]}}`), &p)
	d := deployment(t, p, Values())
	d.NativeSidecars = true
	var sb discard
	if err := tm.Execute(&sb, d); err != nil {
		t.Fatal(err)
	}
	var ks []string
	for k := range counts {
		ks = append(ks, k)
	}
	sort.Slice(ks, func(i, j int) bool { return counts[ks[i]] > counts[ks[j]] })
	tot := 0
	for _, k := range ks {
		fmt.Println(k, counts[k])
		tot += counts[k]
	}
	fmt.Println(tot, "writes", sb.n, "bytes", sb.b)
}

type discard struct{ n, b int }

func (d *discard) Write(p []byte) (int, error) { d.n++; d.b += len(p); return len(p), nil }
