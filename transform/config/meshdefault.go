package config

import (
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	meshv1alpha1 "istio.io/api/mesh/v1alpha1"
	networkingv1alpha3 "istio.io/api/networking/v1alpha3"
)

// DefaultMeshConfig is what a mesh config file is laid over (Istio, pkg/config/mesh/mesh.go, DefaultMeshConfig; the same from
// 1.24 to 1.31). The legacy engines have defaults of their own. The caller owns the result.
//
// It is written out as a value because reading it from text would cost the protobuf registry's first use at every start.
func DefaultMeshConfig(e Engine) *meshv1alpha1.MeshConfig {
	return &meshv1alpha1.MeshConfig{
		ProxyListenPort:          15001,
		ProxyInboundListenPort:   15006,
		ConnectTimeout:           &durationpb.Duration{Seconds: 10},
		ProtocolDetectionTimeout: &durationpb.Duration{},
		IngressClass:             "istio",
		IngressService:           "istio-ingressgateway",
		IngressControllerMode:    meshv1alpha1.MeshConfig_STRICT,
		EnableTracing:            true,
		DefaultConfig:            DefaultProxyConfig(e),
		OutboundTrafficPolicy: &meshv1alpha1.MeshConfig_OutboundTrafficPolicy{
			Mode: meshv1alpha1.MeshConfig_OutboundTrafficPolicy_ALLOW_ANY,
		},
		InboundTrafficPolicy: &meshv1alpha1.MeshConfig_InboundTrafficPolicy{
			Mode: meshv1alpha1.MeshConfig_InboundTrafficPolicy_PASSTHROUGH,
		},
		EnableAutoMtls:                 wrapperspb.Bool(true),
		TrustDomain:                    "cluster.local",
		DefaultServiceExportTo:         []string{"*"},
		DefaultVirtualServiceExportTo:  []string{"*"},
		DefaultDestinationRuleExportTo: []string{"*"},
		RootNamespace:                  "istio-system",
		LocalityLbSetting:              &networkingv1alpha3.LocalityLoadBalancerSetting{Enabled: wrapperspb.Bool(true)},
		DnsRefreshRate:                 &durationpb.Duration{Seconds: 60},
		EnablePrometheusMerge:          wrapperspb.Bool(true),
		DefaultProviders:               &meshv1alpha1.MeshConfig_DefaultProviders{},
		ExtensionProviders:             defaultProviders(),
	}
}

func defaultProviders() []*meshv1alpha1.MeshConfig_ExtensionProvider {
	type provider = meshv1alpha1.MeshConfig_ExtensionProvider
	return []*provider{
		{Name: "prometheus", Provider: &meshv1alpha1.MeshConfig_ExtensionProvider_Prometheus{
			Prometheus: &meshv1alpha1.MeshConfig_ExtensionProvider_PrometheusMetricsProvider{},
		}},
		{Name: "stackdriver", Provider: &meshv1alpha1.MeshConfig_ExtensionProvider_Stackdriver{
			Stackdriver: &meshv1alpha1.MeshConfig_ExtensionProvider_StackdriverProvider{},
		}},
		{Name: "envoy", Provider: &meshv1alpha1.MeshConfig_ExtensionProvider_EnvoyFileAccessLog{
			EnvoyFileAccessLog: &meshv1alpha1.MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider{Path: "/dev/stdout"},
		}},
	}
}

// DefaultProxyConfig is the ProxyConfig of that mesh config (Istio, pkg/config/mesh/mesh.go, DefaultProxyConfig).
func DefaultProxyConfig(e Engine) *meshv1alpha1.ProxyConfig {
	c := &meshv1alpha1.ProxyConfig{
		ConfigPath:               "./etc/istio/proxy",
		BinaryPath:               "/usr/local/bin/envoy",
		ClusterName:              &meshv1alpha1.ProxyConfig_ServiceCluster{ServiceCluster: "istio-proxy"},
		DrainDuration:            &durationpb.Duration{Seconds: 45},
		TerminationDrainDuration: &durationpb.Duration{Seconds: 5},
		DiscoveryAddress:         "istiod.istio-system.svc:15012",
		ProxyAdminPort:           15000,
		ControlPlaneAuthPolicy:   meshv1alpha1.AuthenticationPolicy_MUTUAL_TLS,
		StatNameLength:           189,
		StatusPort:               15020,
	}
	if e == Modern {
		return c
	}
	c.Concurrency = wrapperspb.Int32(2)
	c.Tracing = &meshv1alpha1.Tracing{Tracer: &meshv1alpha1.Tracing_Zipkin_{
		Zipkin: &meshv1alpha1.Tracing_Zipkin{Address: "zipkin.istio-system:9411"},
	}}
	if e == Legacy16 {
		c.ControlPlaneAuthPolicy = meshv1alpha1.AuthenticationPolicy_NONE
		c.TerminationDrainDuration = nil
	}
	return c
}
