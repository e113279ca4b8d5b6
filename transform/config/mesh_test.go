package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	meshv1alpha1 "istio.io/api/mesh/v1alpha1"
)

func meshOf(t *testing.T, in string, e Engine) (*Mesh, problems) {
	t.Helper()
	var p problems
	f := scan(Source{"m", []byte(in)}).find(partMesh, "", &p)
	if f == nil {
		t.Fatal(p)
	}
	tr, err := treeOf(f.text, f.node)
	if err != nil {
		return nil, problems{*err}
	}
	return readMesh(tr, e, &p), p
}

// TestMeshFieldLists: the lists of names are those of the API.
func TestMeshFieldLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields protoreflect.FieldDescriptors
		list   map[string]bool
	}{
		"MeshConfig":  {(&meshv1alpha1.MeshConfig{}).ProtoReflect().Descriptor().Fields(), meshFields()},
		"ProxyConfig": {(&meshv1alpha1.ProxyConfig{}).ProtoReflect().Descriptor().Fields(), proxyFields()},
	} {
		want := map[string]bool{}
		for i := range c.fields.Len() {
			want[c.fields.Get(i).JSONName()] = true
		}
		if d := cmp.Diff(want, c.list); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// TestMeshMerge: what is present replaces, null leaves, and what merges merges.
func TestMeshMerge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want func(m *meshv1alpha1.MeshConfig)
	}{
		"nothing":            {"{}", func(m *meshv1alpha1.MeshConfig) {}},
		"zero of a bool":     {"enableTracing: false", func(m *meshv1alpha1.MeshConfig) { m.EnableTracing = false }},
		"zero of an int":     {"defaultConfig: {statNameLength: 0}", func(m *meshv1alpha1.MeshConfig) { m.DefaultConfig.StatNameLength = 0 }},
		"zero of a text":     {"trustDomain: ''", func(m *meshv1alpha1.MeshConfig) { m.TrustDomain = "" }},
		"zero of an enum":    {"defaultConfig: {controlPlaneAuthPolicy: NONE}", func(m *meshv1alpha1.MeshConfig) { m.DefaultConfig.ControlPlaneAuthPolicy = 0 }},
		"enum by number":     {"ingressControllerMode: 1", func(m *meshv1alpha1.MeshConfig) { m.IngressControllerMode = meshv1alpha1.MeshConfig_OFF }},
		"empty list":         {"defaultServiceExportTo: []", func(m *meshv1alpha1.MeshConfig) { m.DefaultServiceExportTo = nil }},
		"list replaces":      {"defaultServiceExportTo: [., a]", func(m *meshv1alpha1.MeshConfig) { m.DefaultServiceExportTo = []string{".", "a"} }},
		"null leaves":        {"enableTracing: null\ndefaultConfig: {statusPort: null, proxyMetadata: null}\nconnectTimeout: ~\ndefaultProviders:\n", func(m *meshv1alpha1.MeshConfig) {}},
		"null of the config": {"defaultConfig: null", func(m *meshv1alpha1.MeshConfig) {}},
		"message replaces":   {"localityLbSetting: {}", func(m *meshv1alpha1.MeshConfig) { m.LocalityLbSetting.Enabled = nil }},
		"wrapper":            {"enableAutoMtls: false", func(m *meshv1alpha1.MeshConfig) { m.EnableAutoMtls.Value = false }},
		"wrapper of int":     {"defaultConfig: {concurrency: 0}", func(m *meshv1alpha1.MeshConfig) { m.DefaultConfig.Concurrency = intValue(0) }},
		"quoted number":      {"proxyListenPort: '15009'", func(m *meshv1alpha1.MeshConfig) { m.ProxyListenPort = 15009 }},
		"old boolean":        {"enableTracing: off", func(m *meshv1alpha1.MeshConfig) { m.EnableTracing = false }},
		"proto name":         {"trust_domain: x", func(m *meshv1alpha1.MeshConfig) { m.TrustDomain = "x" }},
		"duration":           {"connectTimeout: 1m30s", func(m *meshv1alpha1.MeshConfig) { m.ConnectTimeout.Seconds = 90 }},
		"one proxy field":    {"defaultConfig: {statusPort: 15021}", func(m *meshv1alpha1.MeshConfig) { m.DefaultConfig.StatusPort = 15021 }},
		"metadata":           {"defaultConfig: {proxyMetadata: {A: ''}}", func(m *meshv1alpha1.MeshConfig) { m.DefaultConfig.ProxyMetadata = map[string]string{"A": ""} }},
		"oneof": {"defaultConfig: {tracingServiceName: CANONICAL_NAME_ONLY}", func(m *meshv1alpha1.MeshConfig) {
			m.DefaultConfig.ClusterName = &meshv1alpha1.ProxyConfig_TracingServiceName_{TracingServiceName: meshv1alpha1.ProxyConfig_CANONICAL_NAME_ONLY}
		}},
		"providers by field": {"defaultProviders: {metrics: [prometheus]}", func(m *meshv1alpha1.MeshConfig) { m.DefaultProviders.Metrics = []string{"prometheus"} }},
		"extension of a name": {"extensionProviders: [{name: envoy, envoyFileAccessLog: {path: /x, logFormat: {labels: {a: 1, b: [true, null, {c: d}]}}}}, {name: new, prometheus: {}}]", func(m *meshv1alpha1.MeshConfig) {
			log := m.ExtensionProviders[2].GetEnvoyFileAccessLog()
			log.Path = "/x"
			log.LogFormat = labelFormat()
			m.ExtensionProviders = append(m.ExtensionProviders, &meshv1alpha1.MeshConfig_ExtensionProvider{Name: "new", Provider: m.ExtensionProviders[0].Provider})
		}},
		"aliases": {"trustDomainAliases: [b, a, b]", func(m *meshv1alpha1.MeshConfig) { m.TrustDomainAliases = []string{"a", "b"} }},
		"anchors": {"rootNamespace: &a x\ntrustDomain: *a\n", func(m *meshv1alpha1.MeshConfig) { m.RootNamespace, m.TrustDomain = "x", "x" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, p := meshOf(t, c.in, Modern)
			if len(p) > 0 {
				t.Fatal(p)
			}
			want := DefaultMeshConfig(Modern)
			c.want(want)
			if d := cmp.Diff(want, m.Config, protocmp.Transform()); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestMeshProblems: what is wrong in a mesh config is named with its line.
func TestMeshProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"unknown":             {"rootNamespace: a\nenableTracng: true\n", "m:2:1: warning: enableTracng: there is no such field in the mesh config [W_CONFIG_UNKNOWN]"},
		"unknown inside":      {"defaultConfig:\n  image: {imageTyp: debug}\n", "m:2:11: warning: defaultConfig.image.imageTyp: there is no such field in the mesh config [W_CONFIG_UNKNOWN]"},
		"unknown in a list":   {"extensionProviders:\n- name: a\n  zipkn: {}\n", "m:3:3: warning: extensionProviders[0].zipkn: there is no such field in the mesh config [W_CONFIG_UNKNOWN]"},
		"bool":                {"enableTracing: 1", "m:1:1: error: enableTracing: the number 1 where true or false is needed [E_CONFIG_VALUE]"},
		"text":                {"trustDomain: 1", "m:1:1: error: trustDomain: the number 1 where a text (quote it) is needed [E_CONFIG_VALUE]"},
		"metadata of a bool":  {"defaultConfig:\n  proxyMetadata:\n    A: true\n", "m:3:5: error: defaultConfig.proxyMetadata.A: the boolean true where a text (quote it) is needed [E_CONFIG_VALUE]"},
		"int":                 {"proxyListenPort: 1.5", "m:1:1: error: proxyListenPort: the number 1.5 where a whole number of 32 bits is needed [E_CONFIG_VALUE]"},
		"int of a text":       {"rootNamespace: a\nproxyListenPort: x\n", "m:2:1: error: proxyListenPort: the text \"x\" where a whole number of 32 bits is needed [E_CONFIG_VALUE]"},
		"big int":             {"proxyListenPort: 4294967296", "m:1:1: error: proxyListenPort: the number 4294967296 where a whole number of 32 bits is needed [E_CONFIG_VALUE]"},
		"enum":                {"rootNamespace: a\ndefaultConfig:\n  interceptionMode: TPROXYY\n", "m:3:3: error: defaultConfig.interceptionMode: the text \"TPROXYY\" where one of REDIRECT, TPROXY, NONE is needed [E_CONFIG_VALUE]"},
		"duration":            {"connectTimeout: soon", "m:1:1: error: connectTimeout: the text \"soon\" where a duration such as 45s is needed [E_CONFIG_VALUE]"},
		"duration of number":  {"connectTimeout: 5", "m:1:1: error: connectTimeout: the number 5 where a duration such as 45s is needed [E_CONFIG_VALUE]"},
		"list":                {"defaultServiceExportTo: x", "m:1:1: error: defaultServiceExportTo: the text \"x\" where a list is needed [E_CONFIG_VALUE]"},
		"message":             {"defaultConfig: x", "m:1:1: error: defaultConfig: the text \"x\" where a mapping is needed [E_CONFIG_VALUE]"},
		"port":                {"rootNamespace: a\nproxyListenPort: 0", "m:2:1: error: proxyListenPort: 0 is no port [E_CONFIG_VALUE]"},
		"status port":         {"defaultConfig: {statusPort: 0}", "m:1:17: error: defaultConfig.statusPort: 0 is no port [E_CONFIG_VALUE]"},
		"admin port":          {"defaultConfig: {proxyAdminPort: 65536}", "m:1:17: error: defaultConfig.proxyAdminPort: 65536 is no port [E_CONFIG_VALUE]"},
		"drain too short":     {"defaultConfig: {drainDuration: 500us}", "m:1:17: error: defaultConfig.drainDuration: 500µs is not longer than 1ms [E_CONFIG_VALUE]"},
		"drain not whole":     {"defaultConfig: {drainDuration: 1500ms}", "m:1:17: error: defaultConfig.drainDuration: 1.5s is not in whole seconds [E_CONFIG_VALUE]"},
		"empty path":          {"defaultConfig: {configPath: ''}", "m:1:17: error: defaultConfig.configPath: it is empty [E_CONFIG_VALUE]"},
		"empty binary":        {"defaultConfig: {binaryPath: ''}", "m:1:17: error: defaultConfig.binaryPath: it is empty [E_CONFIG_VALUE]"},
		"empty cluster":       {"defaultConfig: {serviceCluster: ''}", "m:1:17: error: defaultConfig.serviceCluster: it is empty [E_CONFIG_VALUE]"},
		"address":             {"defaultConfig: {discoveryAddress: istiod}", "m:1:17: error: defaultConfig.discoveryAddress: \"istiod\" has no port [E_CONFIG_VALUE]"},
		"address, bad port":   {"defaultConfig: {discoveryAddress: 'istiod:http'}", "m:1:17: error: defaultConfig.discoveryAddress: in \"istiod:http\", \"http\" is no port [E_CONFIG_VALUE]"},
		"address, bad host":   {"defaultConfig: {discoveryAddress: 'a_b:1'}", "m:1:17: error: defaultConfig.discoveryAddress: in \"a_b:1\", \"a_b\" is neither a host name nor an IP address [E_CONFIG_VALUE]"},
		"statsd":              {"defaultConfig: {statsdUdpAddress: x}", "m:1:17: error: defaultConfig.statsdUdpAddress: \"x\" has no port [E_CONFIG_VALUE]"},
		"metrics service":     {"defaultConfig: {envoyMetricsService: {address: x}}", "m:1:39: error: defaultConfig.envoyMetricsService.address: \"x\" has no port [E_CONFIG_VALUE]"},
		"access log service":  {"defaultConfig: {envoyAccessLogService: {address: 'x:1', tlsSettings: {mode: MUTUAL, privateKey: k}}}", "m:1:57: error: defaultConfig.envoyAccessLogService.tlsSettings.clientCertificate: it is empty [E_CONFIG_VALUE]"},
		"zipkin":              {"defaultConfig: {tracing: {zipkin: {address: x}}}", "m:1:36: error: defaultConfig.tracing.zipkin.address: \"x\" has no port [E_CONFIG_VALUE]"},
		"lightstep":           {"defaultConfig: {tracing: {lightstep: {address: 'x:1'}}}", "m:1:27: error: defaultConfig.tracing.lightstep.accessToken: it is empty [E_CONFIG_VALUE]"},
		"tag":                 {"defaultConfig: {tracing: {customTags: {a: {literal: {value: ''}}}}}", "m:1:40: error: defaultConfig.tracing.customTags.a: its literal.value is empty [E_CONFIG_VALUE]"},
		"tracing tls":         {"defaultConfig: {tracing: {tlsSettings: {mode: SIMPLE, credentialName: a, privateKey: b}}}", "m:1:27: error: defaultConfig.tracing.tlsSettings: it has both credentialName and certificate files [E_CONFIG_VALUE]"},
		"tls not verified":    {"defaultConfig: {tracing: {tlsSettings: {mode: SIMPLE, caCertificates: a, insecureSkipVerify: true}}}", "m:1:27: error: defaultConfig.tracing.tlsSettings: it skips verification and says what to verify with [E_CONFIG_VALUE]"},
		"no key provider":     {"defaultConfig: {privateKeyProvider: {}}", "m:1:17: error: defaultConfig.privateKeyProvider: it names no provider [E_CONFIG_VALUE]"},
		"key provider, delay": {"defaultConfig: {privateKeyProvider: {cryptomb: {}}}", "m:1:38: error: defaultConfig.privateKeyProvider.cryptomb.pollDelay: it is missing or zero [E_CONFIG_VALUE]"},
		"not finite":          {"proxyListenPort: .inf", "m:1:18: error: .inf is no finite number [E_CONFIG_VALUE]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p := meshOf(t, c.in, Modern)
			if len(p) != 1 || p[0].Error() != c.want {
				t.Errorf("got  %v\nwant %s", p, c.want)
			}
			if len(p) == 1 && p[0].Hint == "" {
				t.Error("no hint")
			}
		})
	}
}

// TestMeshAccepts: values at the edge of the checks.
func TestMeshAccepts(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"defaultConfig: {discoveryAddress: '[::1]:15012'}", "defaultConfig: {discoveryAddress: '10.0.0.1:1'}",
		"defaultConfig: {discoveryAddress: 'Istiod.a.:65535'}", "defaultConfig: {concurrency: -1}",
		"defaultConfig: {tracing: {datadog: {address: '$(HOST_IP):8126'}}}", "defaultConfig: {tracing: {}}",
		"defaultConfig: {privateKeyProvider: {qat: {pollDelay: 2ms}}}", "defaultConfig: {tracing: {customTags: {a: {}}}}",
		"defaultConfig: {drainDuration: 1s}", "protocolDetectionTimeout: 0s",
		"defaultConfig: {tracing: {tlsSettings: {mode: MUTUAL, credentialName: a}}}",
	} {
		if _, p := meshOf(t, in, Modern); len(p) > 0 {
			t.Errorf("%s: %v", in, p)
		}
	}
}

// TestProxyConfigAnnotation: the mesh's ProxyConfig with a pod's annotation over it; the mesh's own stays as it is.
func TestProxyConfigAnnotation(t *testing.T) {
	t.Parallel()
	m, p := meshOf(t, "defaultConfig:\n  concurrency: 4\n  proxyMetadata: {A: a, B: b}\n  proxyHeaders: {forwardedClientCert: SANITIZE, server: {value: x}}\n  image: {imageType: distroless}\n", Modern)
	if len(p) > 0 {
		t.Fatal(p)
	}
	if c, _, _ := m.ProxyConfig("", podPlace()); c != m.Config.DefaultConfig {
		t.Error("no annotation makes a copy")
	}
	before := printed(t, m)
	c, unknown, findings := m.ProxyConfig("proxyMetadata: {B: c, D: d}\nproxyHeaders: {server: {disabled: true}, requestId: {disabled: true}}\nimage: {}\nconcurrency: 0\nnoSuch: 1\n", podPlace())
	if len(findings) != 1 || findings[0].Code != CodeUnknown || findings[0].Position != podPlace() || unknown["noSuch"] != 1.0 {
		t.Errorf("findings %v, unknown %v", findings, unknown)
	}
	if d := cmp.Diff(map[string]string{"A": "a", "B": "c", "D": "d"}, c.ProxyMetadata); d != "" {
		t.Error(d)
	}
	h := c.ProxyHeaders
	if h.ForwardedClientCert != meshv1alpha1.ForwardClientCertDetails_SANITIZE || h.Server.Value != "" || !h.Server.Disabled.GetValue() || h.RequestId == nil {
		t.Errorf("headers %v", h)
	}
	if c.Image == nil || c.Image.ImageType != "" || c.Concurrency.GetValue() != 0 || c.StatusPort != 15020 {
		t.Errorf("got %v", c)
	}
	if d := cmp.Diff(before, printed(t, m)); d != "" {
		t.Errorf("the mesh's own changed:\n%s", d)
	}
	_, _, findings = m.ProxyConfig("statusPort: 0\ndrainDuration: 1ms\n", podPlace())
	if len(findings) != 2 || findings[0].Field != "drainDuration" || findings[1].Field != "statusPort" {
		t.Errorf("findings %v", findings)
	}
}

// TestLegacyMesh: the old meshes have other defaults, fields that are gone, and lose zeros in 1.6.
func TestLegacyMesh(t *testing.T) {
	t.Parallel()
	const in = "sdsUdsPath: ''\ndefaultConfig: {concurrency: 0, statNameLength: 0, parentShutdownDuration: 90s}\n"
	m, p := meshOf(t, in, Legacy17)
	if len(p) > 0 {
		t.Fatal(p)
	}
	if m.SDSPath() != "" || m.ParentShutdown(nil).String() != "1m30s" || m.Config.DefaultConfig.StatNameLength != 0 {
		t.Errorf("got %v %v", m.SDSPath(), m.Config.DefaultConfig)
	}
	m, p = meshOf(t, in, Legacy16)
	if c := m.Config.DefaultConfig; len(p) > 0 || c.StatNameLength != 189 || c.TerminationDrainDuration != nil || c.ControlPlaneAuthPolicy != 0 {
		t.Errorf("got %v %v", p, c)
	}
	if d := defaultMesh(Legacy16); d.SDSPath() == "" || d.ParentShutdown(nil).String() != "1m0s" {
		t.Errorf("defaults %v %v", d.SDSPath(), d.ParentShutdown(nil))
	}
	_, p = meshOf(t, "defaultConfig: {drainDuration: 60s}", Legacy17)
	if len(p) != 1 || !strings.Contains(p[0].Message, "not longer than drainDuration") {
		t.Errorf("got %v", p)
	}
	// The annotation replaces proxyMetadata there.
	m, _ = meshOf(t, "defaultConfig: {proxyMetadata: {A: a}}", Legacy17)
	c, unknown, findings := m.ProxyConfig("proxyMetadata: {B: b}\nparentShutdownDuration: 70s", podPlace())
	if len(findings) > 0 || len(c.ProxyMetadata) != 1 || m.ParentShutdown(unknown).String() != "1m10s" {
		t.Errorf("got %v %v %v", c, unknown, findings)
	}
}
