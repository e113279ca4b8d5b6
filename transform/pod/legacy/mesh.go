package legacy

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// Mesh is the mesh configuration as templates of 1.6 and 1.7 see it: today's type, and the fields that have been
// removed from it since (istio/api, mesh/v1alpha1/config.proto, 1.7). The embedded message has no DefaultConfig.
type Mesh struct {
	*meshconfig.MeshConfig
	DefaultConfig *ProxyConfig
	Removed
}

// Removed holds the fields of MeshConfig that today's API no longer has. Only SdsUdsPath matters to injection: where
// it is not empty, the pod's fsGroup becomes 1337. Durations are as written in the file.
type Removed struct {
	SdsUdsPath                        string `json:"sdsUdsPath"`
	MixerCheckServer                  string `json:"mixerCheckServer"`
	MixerReportServer                 string `json:"mixerReportServer"`
	MixerAddress                      string `json:"mixerAddress"`
	DisablePolicyChecks               bool   `json:"disablePolicyChecks"`
	DisableMixerHttpReports           bool   `json:"disableMixerHttpReports"`
	PolicyCheckFailOpen               bool   `json:"policyCheckFailOpen"`
	SidecarToTelemetrySessionAffinity bool   `json:"sidecarToTelemetrySessionAffinity"`
	EnableClientSidePolicyCheck       bool   `json:"enableClientSidePolicyCheck"`
	AuthPolicy                        string `json:"authPolicy"`
	RdsRefreshDelay                   string `json:"rdsRefreshDelay"`
	SdsRefreshDelay                   string `json:"sdsRefreshDelay"`
	EnableSdsTokenMount               bool   `json:"enableSdsTokenMount"`
	SdsUseK8SSaJwt                    bool   `json:"sdsUseK8sSaJwt"`
	TerminationDrainDuration          string `json:"terminationDrainDuration"`
	DisableReportBatch                bool   `json:"disableReportBatch"`
	ReportBatchMaxEntries             uint32 `json:"reportBatchMaxEntries"`
	ReportBatchMaxTime                string `json:"reportBatchMaxTime"`
	ThriftConfig                      any    `json:"thriftConfig"`
}

// GetDefaultConfig gives DefaultConfig; templates call it.
func (m *Mesh) GetDefaultConfig() *ProxyConfig { return m.DefaultConfig }

// GetSdsUdsPath gives SdsUdsPath; templates call it.
func (m *Mesh) GetSdsUdsPath() string { return m.SdsUdsPath }

// ProxyConfig is a proxy's configuration as templates of 1.6 and 1.7 see it: today's type, with the two fields whose
// Go type has changed since and the one that was removed. The embedded message's own fields of these names are unset.
type ProxyConfig struct {
	*meshconfig.ProxyConfig
	ServiceCluster         string
	ParentShutdownDuration *durationpb.Duration
	Concurrency            Concurrency
}

// Concurrency is a number of worker threads. It serves both spellings of a template: 1.6 compares and prints it as
// a plain number, 1.7 calls GetValue.
type Concurrency int32

// GetValue gives the number; 1.7's wrapper type had this method.
func (c Concurrency) GetValue() int32 { return int32(c) }

// Value gives the number; a template that reads the wrapper's field finds it by this name.
func (c Concurrency) Value() int32 { return int32(c) }

// GetServiceCluster gives ServiceCluster; templates call it.
func (p *ProxyConfig) GetServiceCluster() string { return p.ServiceCluster }

// GetParentShutdownDuration gives ParentShutdownDuration; templates call it.
func (p *ProxyConfig) GetParentShutdownDuration() *durationpb.Duration {
	return p.ParentShutdownDuration
}

// GetConcurrency gives Concurrency; templates call it.
func (p *ProxyConfig) GetConcurrency() Concurrency { return p.Concurrency }

func (p *ProxyConfig) clone() *ProxyConfig {
	c := *p
	c.ProxyConfig = proto.CloneOf(p.ProxyConfig)
	c.ParentShutdownDuration = proto.CloneOf(p.ParentShutdownDuration)
	return &c
}

// DefaultMesh gives the mesh configuration that a release assumes where the file says nothing (istio/istio,
// pkg/config/mesh/mesh.go, 1.6.14 and 1.7.8).
func DefaultMesh(v Version) *Mesh {
	return &Mesh{
		MeshConfig: &meshconfig.MeshConfig{
			ProxyListenPort:                15001,
			ConnectTimeout:                 seconds(10),
			IngressClass:                   "istio",
			IngressService:                 "istio-ingressgateway",
			IngressControllerMode:          meshconfig.MeshConfig_STRICT,
			EnableTracing:                  true,
			AccessLogEncoding:              meshconfig.MeshConfig_TEXT,
			EnableAutoMtls:                 wrapperspb.Bool(true),
			OutboundTrafficPolicy:          &meshconfig.MeshConfig_OutboundTrafficPolicy{Mode: meshconfig.MeshConfig_OutboundTrafficPolicy_ALLOW_ANY},
			TrustDomain:                    "cluster.local",
			RootNamespace:                  "istio-system",
			DefaultServiceExportTo:         []string{"*"},
			DefaultVirtualServiceExportTo:  []string{"*"},
			DefaultDestinationRuleExportTo: []string{"*"},
			DnsRefreshRate:                 seconds(300),
		},
		DefaultConfig: defaultProxyConfig(v),
		Removed: Removed{
			SdsUdsPath:              "unix:/etc/istio/proxy/SDS",
			DisableMixerHttpReports: true,
			DisablePolicyChecks:     true,
			ReportBatchMaxEntries:   100,
			ReportBatchMaxTime:      "1s",
		},
	}
}

func defaultProxyConfig(v Version) *ProxyConfig {
	b := v.behaviour()
	pc := &ProxyConfig{
		ProxyConfig: &meshconfig.ProxyConfig{
			ConfigPath:             "./etc/istio/proxy",
			BinaryPath:             "/usr/local/bin/envoy",
			DrainDuration:          seconds(45),
			DiscoveryAddress:       "istiod.istio-system.svc:15012",
			ProxyAdminPort:         15000,
			ControlPlaneAuthPolicy: b.authPolicy,
			StatNameLength:         189,
			StatusPort:             15020,
			Tracing: &meshconfig.Tracing{Tracer: &meshconfig.Tracing_Zipkin_{
				Zipkin: &meshconfig.Tracing_Zipkin{Address: "zipkin.istio-system:9411"},
			}},
			EnvoyMetricsService:   &meshconfig.RemoteService{},
			EnvoyAccessLogService: &meshconfig.RemoteService{},
		},
		ServiceCluster:         "istio-proxy",
		ParentShutdownDuration: seconds(60),
		Concurrency:            defaultConcurrency,
	}
	if b.terminationDrain > 0 {
		pc.TerminationDrainDuration = seconds(b.terminationDrain)
	}
	return pc
}

// defaultConcurrency is the number of worker threads that 1.6 and 1.7 start unless told otherwise.
const defaultConcurrency = 2

func seconds(n int64) *durationpb.Duration { return &durationpb.Duration{Seconds: n} }
