package golden

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// changedSource is one way to change a value: a part of one of the files, or a flag.
type changedSource struct {
	annotation, label string // "key: value" lines of the pod template, line breaks allowed in annotations
	values, mesh      string // files
	set, setMesh      string // flags
	object            string // another document of the input
	container         string // fields of a container istio-proxy of the pod's own
	setup             func(*transform.Setup)
}

// sourceRow says that a change gives the value, from that layer and from a line that holds at.
type sourceRow struct {
	value  string
	source changedSource
	want   string
	layer  string
	at     string
}

const sourcePod = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  template:
    metadata:
      labels:
        app: web
%s      annotations:
        about: nothing
%s    spec:
      containers:
      - name: web
        image: registry.example/web:1
%s`

func indented(text string, by int) string {
	if text == "" {
		return ""
	}
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+pad) + "\n"
}

// explainOne explains the first pod template of a run with one source changed.
func explainOne(t *testing.T, s changedSource) (transform.Workload, map[string]string) {
	t.Helper()
	container := ""
	if s.container != "" {
		container = "      - name: istio-proxy\n" + indented(s.container, 8)
		if !strings.HasPrefix(s.container, "image:") {
			container += "        image: auto\n"
		}
	}
	files := map[string]string{
		"in.yaml":     fmt.Sprintf(sourcePod, indented(s.label, 8), indented(s.annotation, 8), container) + s.object,
		"values.yaml": s.values, "mesh.yaml": s.mesh,
	}
	load := func(sets bool) *config.Bundle {
		o := config.LoadOptions{Embedded: transform.Embedded()}
		if s.values != "" {
			o.Values = &config.Source{Name: "values.yaml", Data: []byte(s.values)}
		}
		if s.mesh != "" {
			o.Mesh = &config.Source{Name: "mesh.yaml", Data: []byte(s.mesh)}
		}
		if s.set != "" && sets {
			o.Set = []config.Set{{Kind: config.SetTyped, Text: s.set}}
		}
		if s.setMesh != "" && sets {
			o.SetMesh = []config.Set{{Text: s.setMesh}}
		}
		b, fs := config.Load(o)
		if b == nil {
			t.Fatal(fs)
		}
		return b
	}
	var survey transform.Survey
	stream := survey.Stream("in.yaml")
	_, _ = stream.Write([]byte(files["in.yaml"]))
	_ = stream.Close()
	setup := transform.Setup{Registry: workload.Default(), Surroundings: survey.Found}
	if s.setup != nil {
		s.setup(&setup)
	}
	b := load(true)
	compiled, fs := transform.Compile(b, setup)
	if compiled == nil {
		t.Fatal(fs)
	}
	e := transform.NewExplainer(transform.Sources{Bundle: b, Compiled: compiled, Setup: setup, Unset: load(false)})
	var found []transform.Workload
	err := e.Stream(t.Context(), "in.yaml", bytes.NewReader([]byte(files["in.yaml"])), 1, func(b transform.Batch) error {
		for _, r := range b.Results {
			for _, f := range r.Findings {
				if f.Severity == policy.Error {
					t.Error(f)
				}
			}
			found = append(found, r.Workloads...)
		}
		return nil
	})
	if err != nil || len(found) == 0 || found[0].Explanation == nil {
		t.Fatal("nothing explained", err)
	}
	return found[0], files
}

func valueOf(w transform.Workload, name string) (transform.Value, bool) {
	for _, v := range w.Explanation.Values {
		if v.Name == name {
			return v, true
		}
	}
	return transform.Value{}, false
}

// sourceRows change each value in each layer that can give it.
func sourceRows() []sourceRow {
	annotation := func(value, key, text string) sourceRow {
		return sourceRow{value, changedSource{annotation: key + `: "` + text + `"`}, text, transform.LayerAnnotation, key}
	}
	// proxy sets a field of ProxyConfig in annotation, mesh file and flag.
	proxy := func(value, field, text string) []sourceRow {
		return []sourceRow{
			{value, changedSource{annotation: "proxy.istio.io/config: |\n  # a comment first\n  " + field + ": " + text}, text, transform.LayerAnnotation, field},
			{value, changedSource{mesh: "accessLogFile: /dev/stdout\ndefaultConfig:\n  " + field + ": " + text + "\n"}, text, transform.LayerMesh, field},
			{value, changedSource{setMesh: "defaultConfig." + field + "=" + text}, text, transform.LayerSet, "defaultConfig." + field},
		}
	}
	// values sets a path of the values in a file and with a flag.
	values := func(value, path, text string) []sourceRow {
		var file strings.Builder
		parts := strings.Split(path, ".")
		for i, p := range parts {
			file.WriteString(strings.Repeat("  ", i) + p + ":")
			if i < len(parts)-1 {
				file.WriteByte('\n')
			}
		}
		file.WriteString(" \"" + text + "\"\n")
		last := parts[len(parts)-1]
		return []sourceRow{
			{value, changedSource{values: "# values\n" + file.String()}, text, transform.LayerValues, last},
			{value, changedSource{set: path + "=" + text}, text, transform.LayerSet, path},
		}
	}
	rows := []sourceRow{
		annotation("templates", "inject.istio.io/templates", "gateway"),
		annotation("image", "sidecar.istio.io/proxyImage", "registry.example/own:1"),
		annotation("image.variant", "sidecar.istio.io/proxyImageType", "debug"),
		annotation("nativeSidecar", "sidecar.istio.io/nativeSidecar", "false"),
		annotation("resources.requests.cpu", "sidecar.istio.io/proxyCPU", "77m"),
		annotation("resources.requests.memory", "sidecar.istio.io/proxyMemory", "77Mi"),
		annotation("resources.limits.cpu", "sidecar.istio.io/proxyCPULimit", "3"),
		annotation("resources.limits.memory", "sidecar.istio.io/proxyMemoryLimit", "777Mi"),
		annotation("statusPort", "status.sidecar.istio.io/port", "15099"),
		annotation("logLevel", "sidecar.istio.io/logLevel", "trace"),
		annotation("componentLogLevel", "sidecar.istio.io/componentLogLevel", "http:debug"),
		annotation("agentLogLevel", "sidecar.istio.io/agentLogLevel", "all:debug"),
		annotation("interceptionMode", "sidecar.istio.io/interceptionMode", "TPROXY"),
		annotation("includeOutboundIPRanges", "traffic.sidecar.istio.io/includeOutboundIPRanges", "10.0.0.0/8"),
		annotation("excludeOutboundIPRanges", "traffic.sidecar.istio.io/excludeOutboundIPRanges", "10.9.0.0/16"),
		annotation("includeInboundPorts", "traffic.sidecar.istio.io/includeInboundPorts", "8080"),
		annotation("includeOutboundPorts", "traffic.sidecar.istio.io/includeOutboundPorts", "443"),
		annotation("excludeOutboundPorts", "traffic.sidecar.istio.io/excludeOutboundPorts", "5432"),
		annotation("excludeInterfaces", "traffic.sidecar.istio.io/excludeInterfaces", "eth9"),
		annotation("rerouteInterfaces", "istio.io/reroute-virtual-interfaces", "net1"),
		annotation("readinessProbe.initialDelaySeconds", "readiness.status.sidecar.istio.io/initialDelaySeconds", "4"),
		annotation("readinessProbe.periodSeconds", "readiness.status.sidecar.istio.io/periodSeconds", "5"),
		annotation("readinessProbe.failureThreshold", "readiness.status.sidecar.istio.io/failureThreshold", "6"),
		annotation("rewriteAppHTTPProbers", "sidecar.istio.io/rewriteAppHTTPProbers", "false"),
		annotation("mergeMetrics", "prometheus.istio.io/merge-metrics", "false"),
		{"excludeInboundPorts", changedSource{annotation: `traffic.sidecar.istio.io/excludeInboundPorts: "9999"`}, "15090,15021,9999,15020", transform.LayerAnnotation, "excludeInboundPorts"},
		{"network", changedSource{label: "topology.istio.io/network: east"}, "east", transform.LayerLabel, "topology"},
		{"network", changedSource{setup: func(s *transform.Setup) { s.Network = "west" }}, "west", transform.LayerFlag, "--network"},
		{"clusterID", changedSource{setup: func(s *transform.Setup) { s.Cluster = "blue" }}, "blue", transform.LayerFlag, "--cluster"},
		{"nativeSidecar", changedSource{setup: func(s *transform.Setup) { s.Native = transform.NativeFalse }}, "false", transform.LayerFlag, "--native-sidecar"},
		{"workloadName", changedSource{label: "service.istio.io/workload-name: shopfront"}, "shopfront", transform.LayerLabel, "workload-name"},
		{"canonicalName", changedSource{label: "service.istio.io/canonical-name: shopfront"}, "shopfront", transform.LayerLabel, "canonical-name"},
		{"canonicalRevision", changedSource{label: "version: v9"}, "v9", transform.LayerLabel, "version"},
		{"trustDomain", changedSource{mesh: "trustDomain: td.example\n"}, "td.example", transform.LayerMesh, "trustDomain"},
		{"outboundPort", changedSource{mesh: "proxyListenPort: 15101\n"}, "15101", transform.LayerMesh, "proxyListenPort"},
		{"inboundPort", changedSource{setMesh: "proxyInboundListenPort=15106"}, "15106", transform.LayerSet, "proxyInboundListenPort"},
		{"mergeMetrics", changedSource{mesh: "enablePrometheusMerge: false\n"}, "false", transform.LayerMesh, "enablePrometheusMerge"},
		{"proxyUID", changedSource{object: openShiftNamespace}, "1009", "namespace", "uid-range"},
		{"proxyGID", changedSource{object: openShiftNamespace}, "2004", "namespace", "supplemental-groups"},
		{"image", changedSource{container: "image: registry.example/mine:2"}, "registry.example/mine:2", transform.LayerOverride, "name: istio-proxy"},
		{"resources.requests.cpu", changedSource{container: "resources: {requests: {cpu: 55m}}"}, "55m", transform.LayerOverride, "name: istio-proxy"},
		{"proxyUID", changedSource{container: "securityContext: {runAsUser: 4242}"}, "4242", transform.LayerOverride, "name: istio-proxy"},
		{"concurrency", changedSource{object: shopProxyConfig("")}, "7", transform.LayerNamespace, "concurrency"},
		{"concurrency", changedSource{object: shopProxyConfig("web")}, "7", transform.LayerWorkload, "concurrency"},
		{"proxyConfig.proxyMetadata.COLOR", changedSource{object: shopProxyConfig("")}, "red", transform.LayerNamespace, "COLOR"},
		{"image.variant", changedSource{object: shopProxyConfig("")}, "debug", transform.LayerNamespace, "image"},
	}
	rows = append(rows, proxy("concurrency", "concurrency", "5")...)
	rows = append(rows, proxy("discoveryAddress", "discoveryAddress", "istiod.other:15012")...)
	rows = append(rows, proxy("proxyAdminPort", "proxyAdminPort", "15555")...)
	rows = append(rows, proxy("statusPort (agent)", "statusPort", "15098")...)
	rows = append(rows, proxy("interceptionMode", "interceptionMode", "TPROXY")...)
	rows = append(rows, proxy("holdApplicationUntilProxyStarts", "holdApplicationUntilProxyStarts", "true")...)
	rows = append(rows, proxy("proxyConfig.drainDuration", "drainDuration", "33s")...)
	rows = append(rows, proxy("proxyConfig.terminationDrainDuration", "terminationDrainDuration", "22s")...)
	rows = append(rows, proxy("proxyConfig.tracingServiceName", "tracingServiceName", "CANONICAL_NAME_ONLY")...)
	rows = append(rows, values("image.hub", "global.hub", "registry.example/mirror")...)
	rows = append(rows, values("image.tag", "global.tag", "1.30.8")...)
	rows = append(rows, values("image.name", "global.proxy.image", "proxyv3")...)
	rows = append(rows, values("image", "global.proxy.image", "registry.example/whole:9")...)
	rows = append(rows, values("image.variant", "global.variant", "distroless")...)
	rows = append(rows, values("resources.requests.cpu", "global.proxy.resources.requests.cpu", "33m")...)
	rows = append(rows, values("resources.limits.memory", "global.proxy.resources.limits.memory", "3Gi")...)
	rows = append(rows, values("caAddress", "global.caAddress", "ca.example:15012")...)
	rows = append(rows, values("logLevel", "global.proxy.logLevel", "error")...)
	rows = append(rows, values("componentLogLevel", "global.proxy.componentLogLevel", "misc:warn")...)
	rows = append(rows, values("agentLogLevel", "global.logging.level", "all:warn")...)
	rows = append(rows, values("clusterDomain", "global.proxy.clusterDomain", "kube.example")...)
	rows = append(rows, values("includeOutboundIPRanges", "global.proxy.includeIPRanges", "10.1.0.0/16")...)
	rows = append(rows, values("excludeOutboundIPRanges", "global.proxy.excludeIPRanges", "10.2.0.0/16")...)
	rows = append(rows, values("includeInboundPorts", "global.proxy.includeInboundPorts", "81")...)
	rows = append(rows, values("excludeOutboundPorts", "global.proxy.excludeOutboundPorts", "82")...)
	rows = append(rows, values("clusterID", "global.multiCluster.clusterName", "green")...)
	rows = append(rows, values("network", "global.network", "north")...)
	rows = append(rows, values("meshID", "global.meshID", "mesh9")...)
	rows = append(rows, values("revision", "revision", "canary")...)
	return rows
}

const openShiftNamespace = `---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  annotations:
    openshift.io/sa.scc.uid-range: 1000/10
    openshift.io/sa.scc.supplemental-groups: 2000/5
`

func shopProxyConfig(app string) string {
	selector := ""
	if app != "" {
		selector = "  selector: {matchLabels: {app: " + app + "}}\n"
	}
	return "---\napiVersion: networking.istio.io/v1beta1\nkind: ProxyConfig\nmetadata: {name: pc, namespace: shop}\nspec:\n" + selector +
		"  concurrency: 7\n  environmentVariables:\n    COLOR: red\n  image: {imageType: debug}\n"
}

// TestExplainFollowsSource changes the source of each value and looks whether value, layer and place follow.
func TestExplainFollowsSource(t *testing.T) {
	t.Parallel()
	plain, _ := explainOne(t, changedSource{})
	for i, row := range sourceRows() {
		t.Run(fmt.Sprintf("%02d %s from %s", i, row.value, row.layer), func(t *testing.T) {
			t.Parallel()
			w, files := explainOne(t, row.source)
			v, ok := valueOf(w, row.value)
			if !ok {
				t.Fatal("no such value")
			}
			if before, ok := valueOf(plain, row.value); ok && before.Value == row.want {
				t.Fatalf("the row changes nothing: it is %q already", row.want)
			}
			if v.Value != row.want || v.Layer != row.layer {
				t.Errorf("%q from %s, want %q from %s", v.Value, v.Layer, row.want, row.layer)
			}
			where := v.Source.File
			if v.Source.Line > 0 {
				lines := strings.Split(files[v.Source.File], "\n")
				if v.Source.Line > len(lines) {
					t.Fatalf("%v is not in the file", v.Source)
				}
				where = lines[v.Source.Line-1]
			} else if !strings.HasPrefix(where, "--") {
				t.Errorf("no line: %v", v.Source)
			}
			if !strings.Contains(where, row.at) {
				t.Errorf("the place %v holds %q, want %q in it", v.Source, where, row.at)
			}
			if before, ok := valueOf(plain, row.value); ok && before.Layer != row.layer && before.Value != "" && before.Layer == transform.LayerDefault && row.layer != transform.LayerOverride && len(v.Overridden) == 0 && row.value != "image" && row.value != "revision" {
				t.Errorf("the value under it is not named: was %q from %s", before.Value, before.Layer)
			}
		})
	}
}
