package config

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/kube-inject/inject/policy"
	"google.golang.org/protobuf/types/known/durationpb"
	meshv1alpha1 "istio.io/api/mesh/v1alpha1"
	networkingv1alpha3 "istio.io/api/networking/v1alpha3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// validator checks an effective config (Istio, pkg/config/validation/agent, 1.30). place finds the line of a field.
type validator struct {
	problems *problems
	place    func(path ...string) policy.Position
}

func validateMesh(m *Mesh, p *problems) {
	v := validator{problems: p, place: func(path ...string) policy.Position { return m.tree.place(path) }}
	c := m.Config
	v.port(c.ProxyListenPort, "proxyListenPort")
	v.duration(c.ConnectTimeout, time.Millisecond, "connectTimeout")
	if d := c.ProtocolDetectionTimeout; d.AsDuration() != 0 {
		v.duration(d, time.Millisecond, "protocolDetectionTimeout")
	}
	v.proxyConfig(c.DefaultConfig, m.engine, m.ParentShutdown(nil), []string{"defaultConfig"})
}

func (v validator) fail(path []string, hint, format string, args ...any) {
	field := showPath(path)
	v.problems.errorf(CodeValue, v.place(path...), field, hint, format, args...)
}

func (v validator) port(port int32, path ...string) {
	if port < 1 || port > 65535 {
		v.fail(path, "Write a port from 1 to 65535.", "%d is no port", port)
	}
}

func (v validator) duration(d *durationpb.Duration, unit time.Duration, path ...string) {
	switch t := d.AsDuration(); {
	case t < time.Millisecond:
		v.fail(path, "Write a duration such as 45s.", "%s is not longer than 1ms", t)
	case t%unit != 0:
		v.fail(path, "Write a duration such as 45s.", "%s is not in whole %s", t,
			map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[unit])
	}
}

func (v validator) proxyConfig(c *meshv1alpha1.ProxyConfig, e Engine, parentShutdown time.Duration, at []string) {
	path := func(keys ...string) []string { return append(at[:len(at):len(at)], keys...) }
	for _, f := range []struct{ key, value string }{{"configPath", c.ConfigPath}, {"binaryPath", c.BinaryPath}} {
		if f.value == "" {
			v.fail(path(f.key), "Remove the line to have the default.", "it is empty")
		}
	}
	if s, ok := c.ClusterName.(*meshv1alpha1.ProxyConfig_ServiceCluster); c.ClusterName == nil || ok && s.ServiceCluster == "" {
		v.fail(path("serviceCluster"), "Remove the line to have the default.", "it is empty")
	}
	v.duration(c.DrainDuration, time.Second, path("drainDuration")...)
	if e != Modern && parentShutdown <= c.DrainDuration.AsDuration() {
		v.fail(path("parentShutdownDuration"), "Make it longer than drainDuration.",
			"%s is not longer than drainDuration, %s", parentShutdown, c.DrainDuration.AsDuration())
	}
	v.address(c.DiscoveryAddress, path("discoveryAddress"))
	//lint:ignore SA1019 deprecated in the API, still read
	v.optionalAddress(c.ZipkinAddress, path("zipkinAddress"))
	v.optionalAddress(c.StatsdUdpAddress, path("statsdUdpAddress"))
	//lint:ignore SA1019 deprecated in the API, still read
	v.optionalAddress(c.EnvoyMetricsServiceAddress, path("envoyMetricsServiceAddress"))
	v.service(c.EnvoyMetricsService, path("envoyMetricsService"))
	v.service(c.EnvoyAccessLogService, path("envoyAccessLogService"))
	v.port(c.ProxyAdminPort, path("proxyAdminPort")...)
	v.port(c.StatusPort, path("statusPort")...)
	if c.Tracing != nil {
		v.tracing(c.Tracing, path("tracing"))
	}
	if c.PrivateKeyProvider != nil {
		v.privateKeyProvider(c.PrivateKeyProvider, path("privateKeyProvider"))
	}
}

func (v validator) service(s *meshv1alpha1.RemoteService, at []string) {
	if s != nil {
		v.optionalAddress(s.Address, append(at[:len(at):len(at)], "address"))
		v.tls(s.TlsSettings, append(at[:len(at):len(at)], "tlsSettings"))
	}
}

func (v validator) optionalAddress(address string, path []string) {
	if address != "" {
		v.address(address, path)
	}
}

// address checks host:port, the host a name or an IP address, a v6 one in brackets.
func (v validator) address(address string, path []string) {
	const hint = "Write host:port, such as istiod.istio-system.svc:15012."
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		v.fail(path, hint, "%s has no port", quote(address))
		return
	}
	host, port := address[:i], address[i+1:]
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		v.fail(path, hint, "in %s, %s is no port", quote(address), quote(port))
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		if ip, err := netip.ParseAddr(inner); !closed || err != nil || ip.Is4() {
			v.fail(path, hint, "in %s, %s is no IPv6 address", quote(address), quote(host))
		}
		return
	}
	// A trailing dot is a full name; a wildcard is none.
	name := strings.TrimSuffix(host, ".")
	if _, err := netip.ParseAddr(host); err == nil && !strings.Contains(host, ":") {
		return
	}
	if name == "" || len(name) > 255 {
		v.fail(path, hint, "%s has no host", quote(address))
		return
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(validation.IsDNS1123Label(strings.ToLower(label))) > 0 {
			v.fail(path, hint, "in %s, %s is neither a host name nor an IP address", quote(address), quote(host))
			return
		}
	}
}

func (v validator) tracing(t *meshv1alpha1.Tracing, at []string) {
	path := func(keys ...string) []string { return append(at[:len(at):len(at)], keys...) }
	switch tracer := t.Tracer.(type) {
	case *meshv1alpha1.Tracing_Zipkin_:
		v.address(tracer.Zipkin.GetAddress(), path("zipkin", "address"))
	case *meshv1alpha1.Tracing_Lightstep_:
		v.address(tracer.Lightstep.GetAddress(), path("lightstep", "address"))
		if tracer.Lightstep.GetAccessToken() == "" {
			v.fail(path("lightstep", "accessToken"), "Write the token.", "it is empty")
		}
	case *meshv1alpha1.Tracing_Datadog_:
		// The agent of the node is named by a variable that the kubelet fills in.
		v.address(strings.Replace(tracer.Datadog.GetAddress(), "$(HOST_IP)", "127.0.0.1", 1), path("datadog", "address"))
	}
	for _, name := range sortedKeys(t.CustomTags) {
		var value, key string
		switch tag := t.CustomTags[name].GetType().(type) {
		case *meshv1alpha1.Tracing_CustomTag_Literal:
			value, key = tag.Literal.GetValue(), "literal.value"
		case *meshv1alpha1.Tracing_CustomTag_Environment:
			value, key = tag.Environment.GetName(), "environment.name"
		case *meshv1alpha1.Tracing_CustomTag_Header:
			value, key = tag.Header.GetName(), "header.name"
		default:
			continue
		}
		if value == "" {
			v.fail(path("customTags", name), "Write its "+key+".", "its %s is empty", key)
		}
	}
	v.tls(t.TlsSettings, path("tlsSettings"))
}

func (v validator) tls(s *networkingv1alpha3.ClientTLSSettings, at []string) {
	if s == nil {
		return
	}
	simple := s.Mode == networkingv1alpha3.ClientTLSSettings_SIMPLE
	mutual := s.Mode == networkingv1alpha3.ClientTLSSettings_MUTUAL
	if s.GetInsecureSkipVerify().GetValue() && (simple && (s.CaCertificates != "" || s.CredentialName != "" || len(s.SubjectAltNames) > 0) ||
		mutual && (s.CaCertificates != "" || len(s.SubjectAltNames) > 0)) {
		v.fail(at, "Remove insecureSkipVerify, or what it leaves unused.", "it skips verification and says what to verify with")
	}
	if (simple || mutual) && s.CredentialName != "" {
		if s.ClientCertificate != "" || s.CaCertificates != "" || s.PrivateKey != "" {
			v.fail(at, "Keep credentialName or the files.", "it has both credentialName and certificate files")
		}
		return
	}
	if mutual && s.ClientCertificate == "" {
		v.fail(append(at[:len(at):len(at)], "clientCertificate"), "Mode MUTUAL needs it.", "it is empty")
	}
	if mutual && s.PrivateKey == "" {
		v.fail(append(at[:len(at):len(at)], "privateKey"), "Mode MUTUAL needs it.", "it is empty")
	}
}

func (v validator) privateKeyProvider(p *meshv1alpha1.PrivateKeyProvider, at []string) {
	var delay *durationpb.Duration
	key := ""
	switch provider := p.Provider.(type) {
	case *meshv1alpha1.PrivateKeyProvider_Cryptomb:
		delay, key = provider.Cryptomb.GetPollDelay(), "cryptomb"
	case *meshv1alpha1.PrivateKeyProvider_Qat:
		delay, key = provider.Qat.GetPollDelay(), "qat"
	default:
		v.fail(at, "Name cryptomb or qat.", "it names no provider")
		return
	}
	if delay.AsDuration() == 0 {
		v.fail(append(at[:len(at):len(at)], key, "pollDelay"), "Write a duration such as 2ms.", "it is missing or zero")
	}
}
