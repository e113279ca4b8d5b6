package template

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// protoToJSON prints a message as compact JSON in the order of its declaration, map keys sorted and strings
// HTML-escaped: what the MarshalJSON of istio.io/api prints. Of a ProxyConfig, fields that equal defaults are left
// out (istio/istio, pkg/kube/inject/template.go, cleanProxyConfig, 1.30).
func protoToJSON(m proto.Message, defaults *meshconfig.ProxyConfig) (string, error) {
	if m == nil {
		return "{}", nil
	}
	if pc, ok := m.(*meshconfig.ProxyConfig); ok && defaults != nil {
		m = withoutDefaults(pc, defaults)
	}
	j, ok := m.(interface{ MarshalJSON() ([]byte, error) })
	if !ok {
		return "", fmt.Errorf("protoToJSON: not a mesh configuration message")
	}
	out, err := j.MarshalJSON()
	return string(out), err
}

// withoutDefaults copies the set fields of pc, but those that stand in Istio's list and equal the default.
func withoutDefaults(pc, def *meshconfig.ProxyConfig) *meshconfig.ProxyConfig {
	out := proto.CloneOf(pc)
	if out.ConfigPath == def.ConfigPath {
		out.ConfigPath = ""
	}
	if out.BinaryPath == def.BinaryPath {
		out.BinaryPath = ""
	}
	if out.ControlPlaneAuthPolicy == def.ControlPlaneAuthPolicy {
		out.ControlPlaneAuthPolicy = 0
	}
	if x, ok := out.ClusterName.(*meshconfig.ProxyConfig_ServiceCluster); ok && x.ServiceCluster == def.GetServiceCluster() {
		out.ClusterName = nil
	}
	if proto.Equal(out.DrainDuration, def.DrainDuration) {
		out.DrainDuration = nil
	}
	if proto.Equal(out.TerminationDrainDuration, def.TerminationDrainDuration) {
		out.TerminationDrainDuration = nil
	}
	if out.DiscoveryAddress == def.DiscoveryAddress {
		out.DiscoveryAddress = ""
	}
	if proto.Equal(out.EnvoyMetricsService, def.EnvoyMetricsService) {
		out.EnvoyMetricsService = nil
	}
	if proto.Equal(out.EnvoyAccessLogService, def.EnvoyAccessLogService) {
		out.EnvoyAccessLogService = nil
	}
	if proto.Equal(out.Tracing, def.Tracing) {
		out.Tracing = nil
	}
	if out.ProxyAdminPort == def.ProxyAdminPort {
		out.ProxyAdminPort = 0
	}
	if out.StatNameLength == def.StatNameLength {
		out.StatNameLength = 0
	}
	if out.StatusPort == def.StatusPort {
		out.StatusPort = 0
	}
	if proto.Equal(out.Concurrency, def.Concurrency) {
		out.Concurrency = nil
	}
	if len(out.ProxyMetadata) == 0 {
		out.ProxyMetadata = nil
	}
	return out
}
