package legacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
)

// protoToJSON prints a message; of a proxy configuration, the fields that differ from the release's defaults.
func protoToJSON(m json.Marshaler, v Version) (string, error) {
	p, ok := m.(*ProxyConfig)
	if !ok {
		text, err := m.MarshalJSON()
		return string(text), err
	}
	if p == nil {
		return "{}", nil
	}
	b := v.behaviour()
	text, err := p.withoutDefaults(defaultProxyConfig(v), b.protoDefaults).json(func(c Concurrency) bool {
		return c != defaultConcurrency && (c != 0 || b.zerosCount)
	})
	return string(text), err
}

// withoutDefaults blanks what Istio's cleanProxyConfig did.
func (p *ProxyConfig) withoutDefaults(def *ProxyConfig, more bool) *ProxyConfig {
	out := p.clone()
	blank(&out.ConfigPath, def.ConfigPath)
	blank(&out.BinaryPath, def.BinaryPath)
	blank(&out.ServiceCluster, def.ServiceCluster)
	blank(&out.DiscoveryAddress, def.DiscoveryAddress)
	blank(&out.ProxyAdminPort, def.ProxyAdminPort)
	blank(&out.StatNameLength, def.StatNameLength)
	blank(&out.StatusPort, def.StatusPort)
	blankMessage(&out.DrainDuration, def.DrainDuration)
	blankMessage(&out.ParentShutdownDuration, def.ParentShutdownDuration)
	blankMessage(&out.EnvoyMetricsService, def.EnvoyMetricsService)
	blankMessage(&out.EnvoyAccessLogService, def.EnvoyAccessLogService)
	blankMessage(&out.Tracing, def.Tracing)
	if more {
		blank(&out.ControlPlaneAuthPolicy, def.ControlPlaneAuthPolicy)
		blankMessage(&out.TerminationDrainDuration, def.TerminationDrainDuration)
	}
	return out
}

func blank[T comparable](field *T, def T) {
	if *field == def {
		var zero T
		*field = zero
	}
}

func blankMessage[T interface {
	comparable
	proto.Message
}](field *T, def T) {
	if proto.Equal(*field, def) {
		var zero T
		*field = zero
	}
}

// MarshalJSON prints the fields that are set, in the order of the protocol buffer.
func (p *ProxyConfig) MarshalJSON() ([]byte, error) {
	return p.json(func(Concurrency) bool { return true })
}

func (p *ProxyConfig) json(concurrency func(Concurrency) bool) ([]byte, error) {
	text, err := p.ProxyConfig.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if p.ServiceCluster != "" {
		fields["serviceCluster"], _ = json.Marshal(p.ServiceCluster)
	}
	if d := p.ParentShutdownDuration; d != nil {
		fields["parentShutdownDuration"], _ = json.Marshal(strconv.FormatFloat(d.AsDuration().Seconds(), 'f', -1, 64) + "s")
	}
	if concurrency(p.Concurrency) {
		fields["concurrency"], _ = json.Marshal(p.Concurrency)
	}
	return inOrder(fields), nil
}

// MarshalJSON prints the fields that are set, keys sorted; of the removed ones only sdsUdsPath.
func (m *Mesh) MarshalJSON() ([]byte, error) {
	text, err := m.MeshConfig.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if fields["defaultConfig"], err = m.DefaultConfig.MarshalJSON(); err != nil {
		return nil, err
	}
	if m.SdsUdsPath != "" {
		fields["sdsUdsPath"], _ = json.Marshal(m.SdsUdsPath)
	}
	return json.Marshal(fields)
}

// inOrder prints fields as an object in the order of the protocol buffer of 1.7.
func inOrder(fields map[string]json.RawMessage) []byte {
	const order = "configPath binaryPath serviceCluster drainDuration parentShutdownDuration discoveryAddress " +
		"discoveryRefreshDelay zipkinAddress statsdUdpAddress envoyMetricsServiceAddress proxyAdminPort " +
		"availabilityZone controlPlaneAuthPolicy customConfigFile statNameLength concurrency " +
		"proxyBootstrapTemplatePath interceptionMode tracing sds envoyAccessLogService envoyMetricsService " +
		"proxyMetadata statusPort extraStatTags gatewayTopology terminationDrainDuration"
	var out bytes.Buffer
	out.WriteByte('{')
	for name := range strings.FieldsSeq(order) {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%q:%s", name, raw)
	}
	out.WriteByte('}')
	return out.Bytes()
}
