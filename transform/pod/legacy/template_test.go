package legacy

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

// TestTemplateData: what templates of 1.6 and 1.7 can say, one expression at a time.
func TestTemplateData(t *testing.T) {
	t.Parallel()
	both := []Version{V16, V17}
	for _, tc := range []struct {
		expression string
		versions   []Version
		want       string
	}{
		{"{{ .TypeMeta.Kind }} {{ .DeploymentMeta.Labels.team }} {{ .ObjectMeta.Labels.app }} {{ .Spec.ServiceAccountName }}", both, "Deployment a web sa"},
		{"{{ .ProxyConfig.Concurrency }} {{ .ProxyConfig.Concurrency.GetValue }} {{ .ProxyConfig.GetConcurrency.Value }}", both, "3 3 3"},
		{"{{ gt .ProxyConfig.Concurrency 0 }} {{ gt .ProxyConfig.Concurrency.GetValue 3 }}", both, "true false"},
		{"{{ formatDuration .ProxyConfig.DrainDuration }} {{ formatDuration .ProxyConfig.GetParentShutdownDuration }}", both, "45s 1m0s"},
		{"{{ .ProxyConfig.ServiceCluster }} {{ .ProxyConfig.GetServiceCluster }}", both, "istio-proxy istio-proxy"},
		{"{{ .ProxyConfig.InterceptionMode }} {{ .ProxyConfig.InterceptionMode.String }}", both, "REDIRECT REDIRECT"},
		{"{{ .ProxyConfig.GetTracing.GetZipkin.GetAddress }}", both, "zipkin.istio-system:9411"},
		{"{{ .MeshConfig.SdsUdsPath }} {{ .MeshConfig.GetSdsUdsPath }} {{ .MeshConfig.TrustDomain }}", both, "unix:/etc/istio/proxy/SDS unix:/etc/istio/proxy/SDS td"},
		{"{{ .MeshConfig.DefaultConfig.StatusPort }} {{ .MeshConfig.GetDefaultConfig.StatusPort }}", both, "16001 16001"},
		{"{{ .MeshConfig.DisableMixerHttpReports }} {{ .MeshConfig.ReportBatchMaxEntries }}", both, "true 100"},
		{"{{ protoToJSON .ProxyConfig }}", both, `{"concurrency":3,"statusPort":16001}`},
		{"{{ protoToJSON .ProxyConfig.Tracing }}", both, `{"zipkin":{"address":"zipkin.istio-system:9411"}}`},
		{"{{ (fromJSON (structToJSON .MeshConfig)).trustDomain }}", both, "td"},
		{"{{ (fromJSON (structToJSON .ProxyConfig)).concurrency }}", both, "3"},
		{"{{ toJSON .ObjectMeta.Labels }}{{ toJson .ObjectMeta.Labels }}", both, `{"app":"web"}{"app":"web"}`},
		{"{{ env `A` `none` }} {{ env `HOME` `none` }}", both, "b none"},
		{"{{ valueOrDefault .Values.none `d` }} {{ .Values.big }}", both, "d 1e+06"},
		{"{{ render `{{ .DeploymentMeta.Name }}` }}[{{ render `{{ nofunc }}` }}]", both, "web[]"},
	} {
		for _, v := range tc.versions {
			t.Run(fmt.Sprint(v, " ", tc.expression), func(t *testing.T) {
				t.Parallel()
				e := engineOf(t, "containers:\n- name: istio-proxy\n  image: |-\n    "+tc.expression, func(c *Config) {
					c.Version = v
					c.Values = map[string]any{"big": 1e6}
					c.TemplateEnv = map[string]string{"A": "b"}
					c.Mesh = meshOf(t, "trustDomain: td\ndefaultConfig: {concurrency: 3}", v)
				})
				w := workloadOf(t, "metadata: {labels: {app: web}, annotations: {proxy.istio.io/config: 'statusPort: 16001'}}\n"+
					"spec: {serviceAccountName: sa, containers: [{name: app}]}")
				pod, fs, _ := e.Inject(w)
				if err := firstError(fs); err != nil {
					t.Fatal(err)
				}
				if got := container(t, pod, policy.ContainerProxy).Image; got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		}
	}
}

func meshOf(t testing.TB, text string, v Version) *Mesh {
	t.Helper()
	m, fs := ParseMesh([]byte(text), v)
	if err := firstError(fs); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestProtoToJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		annotation string
		version    Version
		want       string
	}{
		"nothing":               {"", V17, "{}"},
		"equal to defaults":     {"statusPort: 15020\ndrainDuration: 45s\nconcurrency: 2\ncontrolPlaneAuthPolicy: MUTUAL_TLS\n", V17, "{}"},
		"1.6 has no default":    {"controlPlaneAuthPolicy: MUTUAL_TLS\nterminationDrainDuration: 5s\n", V16, `{"controlPlaneAuthPolicy":"MUTUAL_TLS","terminationDrainDuration":"5s"}`},
		"zero in 1.7":           {"concurrency: 0\n", V17, `{"concurrency":0}`},
		"zero in 1.6":           {"concurrency: 0\n", V16, `{}`},
		"order and escapes":     {"proxyMetadata: {B: <b>, A: a}\nparentShutdownDuration: 90s\nserviceCluster: c&d\ndrainDuration: 70s\n", V17, `{"serviceCluster":"c\u0026d","drainDuration":"70s","parentShutdownDuration":"90s","proxyMetadata":{"A":"a","B":"\u003cb\u003e"}}`},
		"newer fields stay out": {"holdApplicationUntilProxyStarts: true\n", V17, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pc, err := withProxyConfig(defaultProxyConfig(tc.version), tc.annotation)
			if err != nil {
				t.Fatal(err)
			}
			got, err := protoToJSON(pc, tc.version)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestRenderedFields(t *testing.T) {
	t.Parallel()
	template := `
rewriteAppHTTPProbe: false
holdApplicationUntilProxyStarts: true
initContainers:
- {name: istio-init, restartPolicy: Always, image: 1}
containers:
- name: istio-proxy
  restartPolicy: Always
  imge: x
  args: [1337, 1.5, true, a]
  env: [{name: A, value: 15}, {name: B, valueFrom: {fieldRef: {feildPath: x}}}]
  securityContext: {fsGroup: 1337, runAsUser: 1337}
  resources: {limits: {cpu: 0.5}}
securityContext: {runAsUser: 5}
podRedirectAnnot: {example.com/other: x, sidecar.istio.io/interceptionMode: NONE}
dnsConfig: {searches: [a]}
dnsConfig: {searches: [b]}
`
	pod, fs, _ := engineOf(t, template).Inject(workloadOf(t, simplePod))
	want := []string{
		`config.yaml:11: warning: template "inject": containers[].env[].valueFrom.fieldRef.feildPath has no effect in this format [W_TEMPLATE_FIELD]`,
		`config.yaml:11: warning: template "inject": containers[].imge has no effect in this format [W_TEMPLATE_FIELD]`,
		`config.yaml:11: warning: template "inject": containers[].restartPolicy has no effect in this format [W_TEMPLATE_FIELD]`,
		`config.yaml:11: warning: template "inject": holdApplicationUntilProxyStarts has no effect in this format [W_TEMPLATE_FIELD]`,
		`config.yaml:11: warning: template "inject": securityContext has no effect in this format [W_TEMPLATE_FIELD]`,
	}
	if diff := cmp.Diff(want, texts(fs)); diff != "" {
		t.Error(diff)
	}
	proxy := container(t, pod, policy.ContainerProxy)
	if proxy.RestartPolicy != nil || pod.Spec.InitContainers[0].RestartPolicy != nil {
		t.Error("restartPolicy of the template is kept")
	}
	if diff := cmp.Diff([]string{"1337", "1.5", "true", "a", "--concurrency", "1"}, proxy.Args); diff != "" {
		t.Error(diff)
	}
	if proxy.Env[0].Value != "15" || pod.Spec.InitContainers[0].Image != "1" || pod.Spec.DNSConfig.Searches[0] != "b" {
		t.Error(proxy.Env[0], pod.Spec.InitContainers[0].Image, pod.Spec.DNSConfig)
	}
	if _, ok := pod.Annotations["example.com/other"]; ok || pod.Annotations[policy.AnnotationInterceptionMode] != "NONE" {
		t.Error(pod.Annotations)
	}
}
