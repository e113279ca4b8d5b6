package legacy

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is what of a mesh configuration shows in pods.
type seen struct {
	Concurrency, StatusPort int32
	Drain, Parent           string
	Policy, Cluster, Zipkin string
	Datadog, Sds, Trust     string
	Metadata                map[string]string
}

func seenOf(m *Mesh) seen {
	pc := m.DefaultConfig
	return seen{
		Concurrency: pc.Concurrency.GetValue(), StatusPort: pc.StatusPort,
		Drain: pc.DrainDuration.AsDuration().String(), Parent: pc.ParentShutdownDuration.AsDuration().String(),
		Policy: pc.ControlPlaneAuthPolicy.String(), Cluster: pc.GetServiceCluster(),
		Zipkin: pc.GetTracing().GetZipkin().GetAddress(), Datadog: pc.GetTracing().GetDatadog().GetAddress(),
		Sds: m.GetSdsUdsPath(), Trust: m.TrustDomain, Metadata: pc.ProxyMetadata,
	}
}

func TestParseMesh(t *testing.T) {
	t.Parallel()
	base := func(v Version, change func(*seen)) seen {
		s := seen{
			Concurrency: 2, StatusPort: 15020, Drain: "45s", Parent: "1m0s", Policy: "MUTUAL_TLS", Cluster: "istio-proxy",
			Zipkin: "zipkin.istio-system:9411", Sds: "unix:/etc/istio/proxy/SDS", Trust: "cluster.local",
		}
		if v == V16 {
			s.Policy = "NONE"
		}
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		text     string
		versions []Version
		want     func(*seen)
	}{
		"empty text is the defaults":     {"", []Version{V16, V17}, func(*seen) {}},
		"empty object is the defaults":   {"{}", []Version{V16, V17}, func(*seen) {}},
		"JSON is YAML":                   {`{"trustDomain": "td"}`, []Version{V16, V17}, func(s *seen) { s.Trust = "td" }},
		"null leaves the default":        {"trustDomain:\ndefaultConfig:\n  statusPort: null\n", []Version{V16, V17}, func(*seen) {}},
		"top-level zero counts":          {"sdsUdsPath: ''\n", []Version{V16, V17}, func(s *seen) { s.Sds = "" }},
		"names of the protocol buffer":   {"sds_uds_path: ''\ndefault_config: {status_port: 1}\n", []Version{V17}, func(s *seen) { s.Sds = ""; s.StatusPort = 1 }},
		"1.7 counts a zero concurrency":  {"defaultConfig: {concurrency: 0}\n", []Version{V17}, func(s *seen) { s.Concurrency = 0 }},
		"1.6 does not":                   {"defaultConfig: {concurrency: 0, statusPort: 0}\n", []Version{V16}, func(*seen) {}},
		"1.6 other numbers count":        {"defaultConfig: {concurrency: 5, statusPort: 7, serviceCluster: c}\n", []Version{V16}, func(s *seen) { s.Concurrency, s.StatusPort, s.Cluster = 5, 7, "c" }},
		"1.7 other numbers count":        {"defaultConfig: {concurrency: 5, statusPort: 7, serviceCluster: c}\n", []Version{V17}, func(s *seen) { s.Concurrency, s.StatusPort, s.Cluster = 5, 7, "c" }},
		"durations in any spelling":      {"defaultConfig: {drainDuration: 1m10s, parentShutdownDuration: 1m20s}\n", []Version{V16, V17}, func(s *seen) { s.Drain, s.Parent = "1m10s", "1m20s" }},
		"another tracer takes the place": {"defaultConfig: {tracing: {datadog: {address: 'd:1'}}}\n", []Version{V16, V17}, func(s *seen) { s.Zipkin, s.Datadog = "", "d:1" }},
		"1.7 replaces a nested message":  {"defaultConfig: {tracing: {sampling: 5}}\n", []Version{V17}, func(s *seen) { s.Zipkin = "" }},
		"1.6 merges a nested message":    {"defaultConfig: {tracing: {sampling: 5}}\n", []Version{V16}, func(*seen) {}},
		"proxy metadata":                 {"defaultConfig: {proxyMetadata: {A: b}}\n", []Version{V16, V17}, func(s *seen) { s.Metadata = map[string]string{"A": "b"} }},
		"fields removed since are read": {
			"mixerCheckServer: m\ndisableMixerHttpReports: true\nreportBatchMaxTime: 1s\nreportBatchMaxEntries: 7\nthriftConfig: {}\n" +
				"defaultConfig: {connectTimeout: 10s, controlPlaneAuthPolicy: MUTUAL_TLS}\n",
			[]Version{V16, V17},
			func(s *seen) { s.Policy = "MUTUAL_TLS" },
		},
	} {
		for _, v := range tc.versions {
			t.Run(fmt.Sprint(name, " ", v), func(t *testing.T) {
				t.Parallel()
				m, fs := ParseMesh([]byte(tc.text), v)
				if len(fs) > 0 {
					t.Fatal(fs)
				}
				if diff := cmp.Diff(base(v, tc.want), seenOf(m)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestParseMeshFindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"no YAML":         {"a: [b\n", []string{":1: error: the mesh configuration cannot be read: did not find expected ',' or ']' [E_MESH]"}},
		"no mapping":      {"- a\n", []string{":1: error: the mesh configuration cannot be read: expected a mapping, found a list [E_MESH]"}},
		"misspelt":        {"trustDomain: a\ntrustDomian: b\n", []string{":2:1: warning: trustDomian: no such field; Istio 1.7 ignores it [W_MESH_FIELD]"}},
		"misspelt below":  {"defaultConfig:\n  tracing:\n    zipkin:\n      adress: a:1\n      address: b:1\n", []string{":4:7: warning: defaultConfig.tracing.zipkin.adress: no such field; it is ignored [W_MESH_FIELD]"}},
		"newer":           {"defaultConfig:\n  holdApplicationUntilProxyStarts: true\n", []string{":2:3: warning: defaultConfig.holdApplicationUntilProxyStarts: newer than Istio 1.7, whose proxy would not understand it; it is ignored [W_MESH_FIELD]"}},
		"sdsUdsPath":      {"sdsUdsPath: 1\n", []string{":1:1: error: sdsUdsPath: expected a string, found a number [E_MESH]"}},
		"removed, odd":    {"disablePolicyChecks: sure\n", []string{":1:1: warning: disablePolicyChecks: a value of another type was expected; it is ignored [W_MESH_FIELD]"}},
		"duration":        {"defaultConfig:\n  drainDuration: 5 seconds\n", []string{`:2:3: error: defaultConfig.drainDuration: unknown unit " seconds" in duration "5 seconds" (write a number with a unit, such as 45s) [E_MESH]`}},
		"enum":            {"defaultConfig:\n  interceptionMode: redirect\n", []string{`:2:3: error: defaultConfig.interceptionMode: "redirect" is none of REDIRECT, TPROXY, NONE [E_MESH]`}},
		"string for list": {"trustDomainAliases: a\n", []string{":1:1: error: trustDomainAliases: cannot read a string here [E_MESH]"}},
		"proxy config":    {"defaultConfig: [a]\n", []string{":1:1: error: defaultConfig: a proxy configuration must be a mapping, found a list [E_MESH]"}},
		"all at once": {
			"defaultConfig:\n  statusPort: 0\n  proxyAdminPort: 65536\n  configPath: ''\n  discoveryAddress: istiod\n",
			[]string{
				":2:3: error: defaultConfig.statusPort: 0 is no port (1 to 65535) [E_MESH]",
				":3:3: error: defaultConfig.proxyAdminPort: 65536 is no port (1 to 65535) [E_MESH]",
				":4:3: error: defaultConfig.configPath: must not be empty [E_MESH]",
				`:5:3: error: defaultConfig.discoveryAddress: "istiod" is not host:port [E_MESH]`,
			},
		},
		"drain and parent": {"defaultConfig: {drainDuration: 60s}\n", []string{":1:17: error: defaultConfig.drainDuration: the drain time 1m0s must be shorter than parentShutdownDuration, 1m0s [E_MESH]"}},
		"lightstep":        {"defaultConfig: {tracing: {lightstep: {address: 'a:1'}}}\n", []string{":1:27: error: defaultConfig.tracing.lightstep.accessToken: must not be empty [E_MESH]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, fs := ParseMesh([]byte(tc.text), V17)
			var got []string
			for _, f := range fs {
				got = append(got, f.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (m == nil) != (firstError(fs) != nil) {
				t.Errorf("mesh given: %v, error: %v", m != nil, firstError(fs))
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"istiod.istio-system.svc:15012": true, "127.0.0.1:80": true, "[::1]:80": true, "a:1": true, "a.b.:1": true,
		"a": false, "a:": false, "a:0": false, "a:65536": false, ":80": false, "a b:80": false, "-a:80": false, "::1:80": false,
		"[x]:80": false, "a..b:80": false,
	} {
		if got := validAddress(s) == nil; got != want {
			t.Errorf("%q: valid %v, want %v", s, got, want)
		}
	}
}
