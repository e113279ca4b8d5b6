package legacy

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/kube-inject/inject/policy"
)

// validate checks what Istio checked before it used a mesh configuration (istio/istio, pkg/config/validation, 1.7.8,
// ValidateMeshConfig).
func (m *Mesh) validate() []problem {
	var ps []problem
	check := func(path string, err error) {
		if err != nil {
			ps = append(ps, problem{path: strings.Split(path, "."), severity: policy.Error, message: err.Error()})
		}
	}
	check("proxyListenPort", validPort(int64(m.ProxyListenPort)))
	check("connectTimeout", validConnectTimeout(m.ConnectTimeout))
	for _, p := range m.DefaultConfig.validate() {
		p.path = append([]string{"defaultConfig"}, p.path...)
		ps = append(ps, p)
	}
	return ps
}

// validate checks a proxy configuration (the same file, ValidateProxyConfig).
func (p *ProxyConfig) validate() []problem {
	var ps []problem
	check := func(path string, err error) {
		if err != nil {
			ps = append(ps, problem{path: strings.Split(path, "."), severity: policy.Error, message: err.Error()})
		}
	}
	check("configPath", notEmpty(p.ConfigPath))
	check("binaryPath", notEmpty(p.BinaryPath))
	check("serviceCluster", notEmpty(p.ServiceCluster))
	check("discoveryAddress", validAddress(p.DiscoveryAddress))
	check("proxyAdminPort", validPort(int64(p.ProxyAdminPort)))
	check("statusPort", validPort(int64(p.StatusPort)))
	drain, parent := validDrain(p.DrainDuration), validDrain(p.ParentShutdownDuration)
	check("drainDuration", drain)
	check("parentShutdownDuration", parent)
	if d, q := p.DrainDuration.AsDuration(), p.ParentShutdownDuration.AsDuration(); drain == nil && parent == nil && q <= d {
		// The drain time is what people change; the other one keeps its default.
		check("drainDuration", fmt.Errorf("the drain time %v must be shorter than parentShutdownDuration, %v", d, q))
	}
	if ls := p.GetTracing().GetLightstep(); ls != nil {
		check("tracing.lightstep.address", validAddress(ls.Address))
		check("tracing.lightstep.accessToken", notEmpty(ls.AccessToken))
	}
	if z := p.GetTracing().GetZipkin(); z != nil {
		check("tracing.zipkin.address", validAddress(z.Address))
	}
	if d := p.GetTracing().GetDatadog(); d != nil {
		check("tracing.datadog.address", validAddress(strings.Replace(d.Address, "$(HOST_IP)", "127.0.0.1", 1)))
	}
	for _, a := range []struct{ path, value string }{
		{"statsdUdpAddress", p.StatsdUdpAddress},
		{"envoyMetricsService.address", p.EnvoyMetricsService.GetAddress()},
		{"envoyAccessLogService.address", p.EnvoyAccessLogService.GetAddress()},
	} {
		if a.value != "" {
			check(a.path, validAddress(a.value))
		}
	}
	return ps
}

func notEmpty(s string) error {
	if s == "" {
		return fmt.Errorf("must not be empty")
	}
	return nil
}

func validPort(n int64) error {
	if n < 1 || n > 65535 {
		return fmt.Errorf("%d is no port (1 to 65535)", n)
	}
	return nil
}

func validConnectTimeout(d *durationpb.Duration) error {
	if t := d.AsDuration(); t < time.Millisecond || t > 30*time.Second {
		return fmt.Errorf("%v is not between 1ms and 30s", t)
	}
	return nil
}

// validDrain checks one of the two durations of a hot restart.
func validDrain(d *durationpb.Duration) error {
	switch t := d.AsDuration(); {
	case t < time.Millisecond:
		return fmt.Errorf("%v is too short (more than 1ms)", t)
	case t%time.Second != 0:
		return fmt.Errorf("%v is not in whole seconds", t)
	case t > time.Hour:
		return fmt.Errorf("%v is too long (at most 1h)", t)
	}
	return nil
}

// validAddress checks host:port, where host is a name or an IP address, an IPv6 one in brackets.
func validAddress(s string) error {
	host, port, ok := cutLast(s, ":")
	if !ok {
		return fmt.Errorf("%q is not host:port", s)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("%q: the port is not a number", s)
	}
	if err := validPort(int64(n)); err != nil {
		return fmt.Errorf("%q: %w", s, err)
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if _, err := netip.ParseAddr(strings.TrimSuffix(inner, "]")); err == nil {
			return nil
		}
	}
	if !validName(host) {
		return fmt.Errorf("%q: the host is no name and no IP address", s)
	}
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// validName tells whether s is a DNS name: labels of letters, digits and inner hyphens. An IPv4 address is one too.
func validName(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
				return false
			}
		}
	}
	return true
}
