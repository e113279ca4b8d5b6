package legacy

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

func TestConcurrency(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		proxy string
		want  []string
	}{
		"limit wins, rounded up": {"resources: {limits: {cpu: 1100m}, requests: {cpu: 5}}", []string{"--concurrency", "2"}},
		"request":                {"resources: {requests: {cpu: 10m}}", []string{"--concurrency", "1"}},
		"neither":                {"args: [proxy]", []string{"proxy"}},
		"said already":           {"args: [--concurrency, '3'], resources: {limits: {cpu: 8}}", []string{"--concurrency", "3"}},
		"said in one word":       {"args: [--concurrency=3], resources: {limits: {cpu: 8}}", []string{"--concurrency=3"}},
		"another flag":           {"args: [--concurrencyX=3], resources: {limits: {cpu: 8}}", []string{"--concurrencyX=3", "--concurrency", "8"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, fs, _ := engineOf(t, "containers: [{name: istio-proxy, "+tc.proxy+"}]").Inject(workloadOf(t, simplePod))
			if diff := cmp.Diff(tc.want, container(t, pod, policy.ContainerProxy).Args); diff != "" || len(fs) > 0 {
				t.Error(fs, diff)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	template := "initContainers: [{name: i1}, {name: i2}]\ncontainers: [{name: a}, {name: istio-proxy}, {name: b}]\n"
	for name, tc := range map[string]struct {
		template string
		version  Version
		hold     any
		want     []string
	}{
		"appended":              {template, V17, false, []string{"u1", "u2", "a", "istio-proxy", "b"}},
		"hold":                  {template, V17, true, []string{"istio-proxy", "u1", "u2", "a", "b"}},
		"a string is no hold":   {template, V17, "true", []string{"u1", "u2", "a", "istio-proxy", "b"}},
		"no hold in 1.6":        {template, V16, true, []string{"u1", "u2", "a", "istio-proxy", "b"}},
		"nothing to put first":  {"containers: [{name: a}]\n", V17, true, []string{"u1", "u2", "a"}},
		"not from the template": {"holdApplicationUntilProxyStarts: true\n" + template, V17, false, []string{"u1", "u2", "a", "istio-proxy", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := engineOf(t, tc.template, func(c *Config) { c.Version, c.Values = tc.version, holdValues(tc.hold) })
			pod, _, _ := e.Inject(workloadOf(t, "spec: {initContainers: [{name: ui}], containers: [{name: u1}, {name: u2}]}"))
			if diff := cmp.Diff(tc.want, containerNames(pod.Spec.Containers)); diff != "" {
				t.Error(diff)
			}
			if names := containerNames(pod.Spec.InitContainers); names[0] != "ui" {
				t.Error(names)
			}
		})
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	pod := `
spec:
  containers:
  - name: app
    ports: [{name: http, containerPort: 80}]
    readinessProbe: {httpGet: {path: /ready, port: http, scheme: HTTPS}, timeoutSeconds: 3}
    livenessProbe: {tcpSocket: {port: 80}}
    startupProbe: {httpGet: {path: /start, port: 81}}
  - name: side
    livenessProbe: {httpGet: {path: /live, port: nosuch}}
`
	type outcome struct {
		Ready, Start, Live string
		Scheme             corev1.URIScheme
		Port               int
		Env                string
		Findings           []string
	}
	warning := []string{`warning: spec.containers[1].livenessProbe: the container has no port "nosuch": the probe will always fail [W_PROBE_PORT]`}
	rewritten := outcome{
		Ready: "/app-health/app/readyz", Start: "/app-health/app/startupz", Live: "/app-health/side/livez", Scheme: "HTTP", Port: 15020,
		Env:      `{"/app-health/app/readyz":{"httpGet":{"path":"/ready","port":80,"scheme":"HTTPS"},"timeoutSeconds":3},"/app-health/app/startupz":{"httpGet":{"path":"/start","port":81}}}`,
		Findings: warning,
	}
	untouched := outcome{Ready: "/ready", Start: "/start", Live: "/live", Scheme: "HTTPS"}
	with := func(o outcome, change func(*outcome)) outcome { change(&o); return o }
	for name, tc := range map[string]struct {
		template    string
		version     Version
		hold        bool
		annotations map[string]string
		want        outcome
	}{
		"rewritten":             {"rewriteAppHTTPProbe: true", V17, false, nil, rewritten},
		"rewritten with hold":   {"rewriteAppHTTPProbe: true", V17, true, nil, rewritten},
		"not asked for":         {"rewriteAppHTTPProbe: false", V17, false, nil, untouched},
		"annotation says yes":   {"", V17, false, map[string]string{policy.AnnotationRewriteProbers: "1"}, rewritten},
		"annotation says no":    {"rewriteAppHTTPProbe: true", V17, false, map[string]string{policy.AnnotationRewriteProbers: "false"}, untouched},
		"annotation says stuff": {"rewriteAppHTTPProbe: true", V17, false, map[string]string{policy.AnnotationRewriteProbers: "on"}, rewritten},
		"status port of the annotation": {
			"rewriteAppHTTPProbe: true", V17, false,
			map[string]string{policy.AnnotationStatusPort: "0"},
			with(rewritten, func(o *outcome) { o.Port = 0 }),
		},
		"status port of the proxy config does not count": {
			"rewriteAppHTTPProbe: true", V17, false,
			map[string]string{policy.AnnotationProxyConfig: "statusPort: 16001"},
			rewritten,
		},
		"no startup probes in 1.6": {"rewriteAppHTTPProbe: true", V16, false, nil, with(rewritten, func(o *outcome) {
			o.Start = "/start"
			o.Env = `{"/app-health/app/readyz":{"httpGet":{"path":"/ready","port":80,"scheme":"HTTPS"},"timeoutSeconds":3}}`
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := engineOf(t, tc.template+"\ncontainers: [{name: istio-proxy, env: [{name: A}]}]", func(c *Config) {
				c.Version, c.Values = tc.version, holdValues(tc.hold)
			})
			w := workloadOf(t, pod)
			w.Pod.Annotations = tc.annotations
			out, fs, _ := e.Inject(w)
			app, side, proxy := container(t, out, "app"), container(t, out, "side"), container(t, out, policy.ContainerProxy)
			got := outcome{
				Ready: app.ReadinessProbe.HTTPGet.Path, Start: app.StartupProbe.HTTPGet.Path, Live: side.LivenessProbe.HTTPGet.Path,
				Scheme: app.ReadinessProbe.HTTPGet.Scheme, Port: app.ReadinessProbe.HTTPGet.Port.IntValue(),
			}
			for _, f := range fs {
				if f.Code == CodeProbePort {
					got.Findings = append(got.Findings, f.Error())
				}
			}
			if n := len(proxy.Env); n > 1 {
				got.Env = proxy.Env[n-1].Value
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if app.LivenessProbe.TCPSocket == nil {
				t.Error("a TCP probe was touched")
			}
		})
	}
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	own := map[string]string{"prometheus.io/scrape": "false", "prometheus.io/port": "8080"}
	merged := map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "15020", "prometheus.io/path": "/stats/prometheus"}
	for name, tc := range map[string]struct {
		mesh, merge string
		version     Version
		own, want   map[string]string
		warnings    int
	}{
		"on by default":            {"{}", "", V17, nil, merged, 0},
		"overwrites":               {"{}", "", V17, own, merged, 2},
		"port of the mesh":         {"defaultConfig: {statusPort: 7}", "", V17, nil, map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "7", "prometheus.io/path": "/stats/prometheus"}, 0},
		"mesh says no":             {"enablePrometheusMerge: false", "", V17, own, own, 0},
		"annotation beats mesh":    {"enablePrometheusMerge: false", "true", V17, nil, merged, 0},
		"annotation beats default": {"{}", "0", V17, own, own, 0},
		"1.6 does nothing":         {"{}", "true", V16, own, own, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := engineOf(t, simpleTemplate, func(c *Config) { c.Version, c.Mesh = tc.version, meshOf(t, tc.mesh, tc.version) })
			w := workloadOf(t, simplePod)
			w.Pod.Annotations = map[string]string{}
			for k, v := range tc.own {
				w.Pod.Annotations[k] = v
			}
			if tc.merge != "" {
				w.Pod.Annotations[policy.AnnotationMergeMetrics] = tc.merge
			}
			pod, fs, _ := e.Inject(w)
			delete(pod.Annotations, policy.AnnotationMergeMetrics)
			delete(pod.Annotations, policy.AnnotationStatus)
			if diff := cmp.Diff(tc.want, pod.Annotations); diff != "" || len(fs) != tc.warnings {
				t.Error(texts(fs), diff)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	e := engineOf(t, "containers: [{name: istio-proxy}]\n", func(c *Config) {
		c.Version, c.Revision = V16, "canary"
		c.InjectedAnnotations = map[string]string{"example.com/by": "us"}
	})
	w := workloadOf(t, "metadata: {labels: {istio.io/rev: mine, security.istio.io/tlsMode: disabled}}\n"+simplePod)
	pod, _, _ := e.Inject(w)
	if diff := cmp.Diff(map[string]string{"istio.io/rev": "canary", "security.istio.io/tlsMode": "disabled"}, pod.Labels); diff != "" {
		t.Error(diff)
	}
	var status map[string]any
	if err := json.Unmarshal([]byte(pod.Annotations[policy.AnnotationStatus]), &status); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		// What sha256sum says of the template's text, its newline included.
		"version":        "ef1ddc1d47ee607f5696b4627d307d11ef93b177849e70eadf9da5ecdaf8dd65",
		"initContainers": nil, "containers": []any{"istio-proxy"}, "volumes": nil, "imagePullSecrets": nil,
	}
	if diff := cmp.Diff(want, status); diff != "" || pod.Annotations["example.com/by"] != "us" {
		t.Error(pod.Annotations, diff)
	}
}

func TestPodFields(t *testing.T) {
	t.Parallel()
	pod := `
spec:
  dnsConfig: {searches: [own]}
  securityContext: {runAsUser: 5, fsGroup: 2000}
  imagePullSecrets: [{name: pull}]
  initContainers: [{name: mine, restartPolicy: Always}]
  containers: [{name: app}]
`
	t.Run("overwritten", func(t *testing.T) {
		t.Parallel()
		out, fs, _ := engineOf(t, "containers: [{name: istio-proxy}]\ndnsConfig: {searches: [mesh]}\nimagePullSecrets: [{name: pull}]\n").Inject(workloadOf(t, pod))
		if out.Spec.DNSConfig.Searches[0] != "mesh" || *out.Spec.SecurityContext.FSGroup != 1337 || *out.Spec.SecurityContext.RunAsUser != 5 {
			t.Error(out.Spec.DNSConfig, out.Spec.SecurityContext)
		}
		if len(out.Spec.ImagePullSecrets) != 2 || out.Spec.InitContainers[0].RestartPolicy == nil {
			t.Error(out.Spec.ImagePullSecrets, out.Spec.InitContainers)
		}
		want := []string{"warning: spec.dnsConfig: the template's dnsConfig replaces the pod's own [W_NOT_RESTORED]"}
		if diff := cmp.Diff(want, texts(fs)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("kept", func(t *testing.T) {
		t.Parallel()
		e := engineOf(t, "containers: [{name: istio-proxy}]\n", func(c *Config) { c.Mesh = meshOf(t, "sdsUdsPath: ''", V17) })
		out, fs, _ := e.Inject(workloadOf(t, pod))
		if out.Spec.DNSConfig.Searches[0] != "own" || *out.Spec.SecurityContext.FSGroup != 2000 || len(fs) > 0 {
			t.Error(out.Spec.DNSConfig, out.Spec.SecurityContext, fs)
		}
	})
}
