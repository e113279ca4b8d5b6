package lifecycle

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
)

// Variables of istio-proxy that change how it stops (Istio, pilot/cmd/pilot-agent/options/options.go, 1.30; the last
// one up to 1.7).
const (
	envExitOnZero   = "EXIT_ON_ZERO_ACTIVE_CONNECTIONS"
	envMinimumDrain = "MINIMUM_DRAIN_DURATION"
	envProxyConfig  = "PROXY_CONFIG"
	envMode         = "ISTIO_META_INTERCEPTION_MODE"
	envDrainSeconds = "TERMINATION_DRAIN_DURATION_SECONDS"
)

// Default timings of the agent (Istio, pkg/config/mesh/mesh.go, 1.7 and 1.30; options.go, 1.30).
const (
	defaultTerminationDrain = 5 * time.Second
	defaultDrain            = 45 * time.Second
	defaultParentShutdown   = 60 * time.Second
	defaultMinimumDrain     = 5 * time.Second
)

// proxySettings are the agent's own settings, read from the injected container and the pod's annotations.
type proxySettings struct {
	terminationDrain time.Duration
	drain            time.Duration
	parentShutdown   time.Duration
	exitOnZero       bool
	minimumDrain     time.Duration
	mode             string
	statusPort       int
	hold             bool
}

// proxyConfig holds the fields of Istio's ProxyConfig that the model needs; durations are texts such as "5s".
type proxyConfig struct {
	TerminationDrainDuration       string            `json:"terminationDrainDuration"`
	DrainDuration                  string            `json:"drainDuration"`
	ParentShutdownDuration         string            `json:"parentShutdownDuration"`
	ProxyMetadata                  map[string]string `json:"proxyMetadata"`
	StatusPort                     int               `json:"statusPort"`
	InterceptionMode               string            `json:"interceptionMode"`
	HoldApplicationUntilProxyStart *bool             `json:"holdApplicationUntilProxyStarts"`
}

// readProxySettings applies, in this order: defaults, PROXY_CONFIG, the container's variables and arguments, the
// annotation proxy.istio.io/config with its proxyMetadata, and the single annotations. What cannot be read leaves the
// value before it, as in the agent.
func readProxySettings(p *Pod, proxy *corev1.Container, istio Version) proxySettings {
	s := proxySettings{
		terminationDrain: defaultTerminationDrain, drain: defaultDrain, parentShutdown: defaultParentShutdown,
		minimumDrain: defaultMinimumDrain, mode: "REDIRECT", statusPort: policy.PortTelemetry,
	}
	if proxy != nil {
		var c proxyConfig
		if text := envValue(proxy, envProxyConfig); text != "" && json.Unmarshal([]byte(text), &c) == nil {
			s.apply(c, istio)
		}
		for _, e := range proxy.Env {
			s.env(e.Name, e.Value, istio)
		}
		s.args(proxy.Args)
	}
	if text := p.Annotations[policy.AnnotationProxyConfig]; text != "" {
		var c proxyConfig
		if yaml.Unmarshal([]byte(text), &c) == nil {
			s.apply(c, istio)
		}
	}
	if mode := p.Annotations[policy.AnnotationInterceptionMode]; mode != "" {
		s.mode = mode
	}
	if port, err := strconv.Atoi(p.Annotations[policy.AnnotationStatusPort]); err == nil {
		s.statusPort = port
	}
	return s
}

func (s *proxySettings) apply(c proxyConfig, istio Version) {
	setText(&s.terminationDrain, c.TerminationDrainDuration)
	setText(&s.drain, c.DrainDuration)
	setText(&s.parentShutdown, c.ParentShutdownDuration)
	if c.StatusPort != 0 {
		s.statusPort = c.StatusPort
	}
	if c.InterceptionMode != "" {
		s.mode = c.InterceptionMode
	}
	if c.HoldApplicationUntilProxyStart != nil {
		s.hold = *c.HoldApplicationUntilProxyStart
	}
	for k, v := range c.ProxyMetadata {
		s.env(k, v, istio) // each name sets its own field, so the order of the map shows nowhere
	}
}

func (s *proxySettings) env(name, value string, istio Version) {
	switch name {
	case envExitOnZero:
		if on, err := strconv.ParseBool(value); err == nil {
			s.exitOnZero = on && istio.AtLeast(12)
		}
	case envMinimumDrain:
		setText(&s.minimumDrain, value)
	case envDrainSeconds:
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && !istio.AtLeast(8) {
			s.terminationDrain = ofSeconds(int64(n))
		}
	case envMode:
		if value != "" {
			s.mode = value
		}
	}
}

// args reads --statusPort, which agents before 1.8 are given on the command line.
func (s *proxySettings) args(args []string) {
	for i, a := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name != "statusPort" {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if n, err := strconv.Atoi(value); err == nil {
			s.statusPort = n
		}
	}
}

func setText(d *time.Duration, text string) {
	if v, err := time.ParseDuration(text); err == nil && v >= 0 {
		*d = min(v, longest).Truncate(time.Millisecond)
	}
}

func envValue(c *corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}
