package legacy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

// chartLike does what the charts of the time do about annotations: it hands the pod's own to the proxy and writes
// what the CNI plugin needs.
const chartLike = `
rewriteAppHTTPProbe: true
initContainers:
- {name: istio-init}
containers:
- name: istio-proxy
  env:
  - {name: ISTIO_META_POD_PORTS, value: "[]"}
  {{- if .ObjectMeta.Annotations }}
  - name: ISTIO_METAJSON_ANNOTATIONS
    value: |
      {{ toJSON .ObjectMeta.Annotations }}
  {{- end }}
volumes:
- {name: istio-envoy, emptyDir: {}}
imagePullSecrets:
- {name: pull}
podRedirectAnnot:
  sidecar.istio.io/interceptionMode: "{{ annotation .ObjectMeta "sidecar.istio.io/interceptionMode" .ProxyConfig.InterceptionMode }}"
  traffic.sidecar.istio.io/includeInboundPorts: "{{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeInboundPorts" "*" }}"
  traffic.sidecar.istio.io/excludeInboundPorts: "{{ excludeInboundPort 15020 (annotation .ObjectMeta "traffic.sidecar.istio.io/excludeInboundPorts" "") }}"
`

// TestStripInjected: stripping gives the pod from before injection back, but for what the format does not keep.
func TestStripInjected(t *testing.T) {
	t.Parallel()
	fsGroup := "info: spec.securityContext.fsGroup: a group that the pod had before injection is not known [W_NOT_RESTORED]"
	for name, tc := range map[string]struct {
		template, pod string
		// want is the pod in the end; empty means as it was.
		want  string
		notes []string
	}{
		"plain":                      {chartLike, simplePod, "", []string{fsGroup}},
		"metadata stays, even empty": {chartLike, "metadata: {labels: {app: a}}\n" + simplePod, "", []string{fsGroup}},
		"annotations of its own": {
			chartLike,
			"metadata: {annotations: {a: b, prometheus.io/port: '80', prometheus.io/scrape: 'false', " +
				"traffic.sidecar.istio.io/includeInboundPorts: '80', traffic.sidecar.istio.io/excludeInboundPorts: '81'}}\n" + simplePod,
			"",
			[]string{fsGroup},
		},
		"probes": {
			chartLike,
			"spec: {containers: [{name: app, readinessProbe: {httpGet: {path: /r, port: 80, scheme: HTTPS}}, livenessProbe: {tcpSocket: {port: 1}}}]}",
			"",
			[]string{fsGroup},
		},
		"a named port comes back as its number": {
			chartLike,
			"spec: {containers: [{name: app, ports: [{name: http, containerPort: 80}], livenessProbe: {httpGet: {port: http}}}]}",
			"spec: {containers: [{name: app, ports: [{name: http, containerPort: 80}], livenessProbe: {httpGet: {port: 80}}}]}",
			[]string{fsGroup},
		},
		"a probe that was not recorded": {
			chartLike,
			"spec: {containers: [{name: app, livenessProbe: {httpGet: {port: nosuch}}}]}",
			"spec: {containers: [{name: app, livenessProbe: {httpGet: {path: /app-health/app/livez, port: 15020}}}]}",
			[]string{
				"warning: spec.containers[0].livenessProbe: the probe from before injection is not in ISTIO_KUBE_APP_PROBERS of istio-proxy; it stays as it is [W_NOT_RESTORED]",
				fsGroup,
			},
		},
		"lists of its own": {
			chartLike,
			"spec: {imagePullSecrets: [{name: pull}, {name: own}], volumes: [{name: v}], initContainers: [{name: i}], " +
				"containers: [{name: app, volumeMounts: [{name: istio-envoy, mountPath: /x}]}]}",
			"",
			[]string{fsGroup},
		},
		"a template that keeps nothing": {
			"containers: [{name: istio-proxy}]\npodRedirectAnnot: {sidecar.istio.io/interceptionMode: NONE}\ndnsConfig: {searches: [a]}\n",
			"metadata: {annotations: {prometheus.io/port: '80'}}\n" + simplePod,
			"metadata: {annotations: {sidecar.istio.io/interceptionMode: NONE}}\nspec: {dnsConfig: {searches: [a]}, containers: [{name: app, image: app:1}]}",
			[]string{
				`info: metadata.annotations[prometheus.io/path]: "/stats/prometheus" was written by injection; this format does not keep the pod's own value, if it had one [W_NOT_RESTORED]`,
				`info: metadata.annotations[prometheus.io/port]: "15020" was written by injection; this format does not keep the pod's own value, if it had one [W_NOT_RESTORED]`,
				`info: metadata.annotations[prometheus.io/scrape]: "true" was written by injection; this format does not keep the pod's own value, if it had one [W_NOT_RESTORED]`,
				fsGroup,
				"info: spec.dnsConfig: it stays: whether injection brought it is not known [W_NOT_RESTORED]",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			annotations := map[string]string{"example.com/by": "us"}
			e := engineOf(t, tc.template, func(c *Config) { c.InjectedAnnotations = annotations })
			w := workloadOf(t, tc.pod)
			out, fs, _ := e.Inject(w)
			if err := firstError(fs); err != nil {
				t.Fatal(err)
			}
			if !HasStatus(&out) {
				t.Error("no status of this format")
			}
			kept := out.DeepCopy()
			got, notes := Strip(out, Stripping{Annotations: annotations})
			want := w.Pod
			if tc.want != "" {
				want = workloadOf(t, tc.want).Pod
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.notes, texts(notes)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(*kept, out); diff != "" {
				t.Errorf("Strip changed its argument:\n%s", diff)
			}
			again := w
			again.Pod = out
			if twice, _, _ := e.Inject(again); !cmp.Equal(out, twice) {
				t.Errorf("a second injection differs:\n%s", cmp.Diff(out, twice))
			}
		})
	}
}

func TestStripStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pod, want string
		notes     []string
	}{
		"no status":      {"metadata: {labels: {istio.io/rev: a}}\n" + simplePod, "", nil},
		"not to be read": {"metadata: {annotations: {sidecar.istio.io/status: x}}\n" + simplePod, "", []string{"warning: metadata.annotations[sidecar.istio.io/status]: the status annotation cannot be read; the pod counts as not injected [W_STATUS]"}},
		"only copied": {
			`metadata: {labels: {istio.io/rev: a}, annotations: {sidecar.istio.io/status: '{"version":"x","containers":["istio-proxy"]}'}}` + "\n" + simplePod,
			"metadata: {labels: {istio.io/rev: a}}\n" + simplePod, nil,
		},
		"of a newer Istio": {
			`metadata: {annotations: {sidecar.istio.io/status: '{"revision":"default","containers":["istio-proxy"]}'}}` + "\nspec: {containers: [{name: app}, {name: istio-proxy}]}",
			"spec: {containers: [{name: app}]}",
			[]string{"warning: metadata.annotations[sidecar.istio.io/status]: a newer Istio injected this pod; only what its status names is taken out [W_NOT_RESTORED]"},
		},
		"edited since": {
			`metadata: {annotations: {sidecar.istio.io/status: '{"version":"x","containers":["istio-proxy"]}', traffic.sidecar.istio.io/includeInboundPorts: '90'}}` +
				"\nspec: {containers: [{name: app}, {name: istio-proxy, env: [{name: ISTIO_METAJSON_ANNOTATIONS, value: '{\"traffic.sidecar.istio.io/includeInboundPorts\":\"80\"}'}]}]}",
			"metadata: {annotations: {traffic.sidecar.istio.io/includeInboundPorts: '90'}}\nspec: {containers: [{name: app}]}", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := workloadOf(t, tc.pod).Pod
			want := pod
			if tc.want != "" {
				want = workloadOf(t, tc.want).Pod
			}
			got, notes := Strip(pod, Stripping{})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.notes, texts(notes)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReinjectOtherConfig: what another configuration injected is replaced, and nothing is doubled.
func TestReinjectOtherConfig(t *testing.T) {
	t.Parallel()
	old := engineOf(t, chartLike+"---\n")
	now := engineOf(t, chartLike, func(c *Config) { c.Revision = "new" })
	w := workloadOf(t, "metadata: {annotations: {traffic.sidecar.istio.io/excludeInboundPorts: '81'}}\n"+simplePod)
	first, _, _ := old.Inject(w)
	again := w
	again.Pod = first
	got, fs, _ := now.Inject(again)
	want, _, _ := now.Inject(w)
	if diff := cmp.Diff(want, got); diff != "" || len(fs) > 0 {
		t.Error(texts(fs), diff)
	}
	if got.Labels[policy.LabelRevision] != "new" {
		t.Error(got.Labels)
	}
}
