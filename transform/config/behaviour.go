package config

// InjectValues says how the label and annotation sidecar.istio.io/inject are read.
type InjectValues string

// The three readings (Istio, pkg/kube/inject/inject.go, injectRequired, 1.30, 1.26 and 1.7).
const (
	// InjectStrict: true and false count, anything else falls back to selectors and policy.
	InjectStrict InjectValues = "strict"
	// InjectLoose: y, yes, true and on in any case are yes, empty falls back, anything else is no.
	InjectLoose InjectValues = "loose"
	// InjectLegacy: as InjectLoose, of the annotation alone.
	InjectLegacy InjectValues = "legacy"
)

// Behaviour is what differs between the minor versions, because that version's agent or webhook must understand the result.
// All else is done as the newest does it.
type Behaviour struct {
	// Since is the first minor version of the row, such as "1.27".
	Since        string
	InjectValues InjectValues
	// LifecycleHandlers: HTTP and TCP lifecycle handlers are rewritten with the probes.
	LifecycleHandlers bool
	// StartupProbes: startup probes are rewritten too.
	StartupProbes bool
	// NativeByDefault: istio-proxy is a native sidecar where nothing says otherwise and Kubernetes has them.
	NativeByDefault bool
	// ProxyInitImage: the init containers have an image of their own (global.proxy_init.image).
	ProxyInitImage bool
	// ScrapeTargets: the annotation prometheus.istio.io/scrape-targets is read and removed.
	ScrapeTargets bool
	// PrometheusPortChecks: the port of prometheus.io/port is checked.
	PrometheusPortChecks bool
	// SecurePort: prometheus.istio.io/secure-port is written where the proxy has a secure metrics port.
	SecurePort bool

	major, minor int
}

// Behaviours is the table, oldest first (Istio, pkg/kube/inject, the tags 1.6.14, 1.7.8 and 1.24.6 to 1.31.0-rc.0). A version
// takes the last row that is not newer; what came before 1.24 in today's format is injected as 1.24 is.
func Behaviours() []Behaviour {
	return []Behaviour{
		{Since: "1.6", major: 1, minor: 6, InjectValues: InjectLegacy},
		{Since: "1.7", major: 1, minor: 7, InjectValues: InjectLegacy, StartupProbes: true},
		{Since: "1.24", major: 1, minor: 10, InjectValues: InjectLoose, StartupProbes: true},
		{Since: "1.25", major: 1, minor: 25, InjectValues: InjectLoose, StartupProbes: true, LifecycleHandlers: true},
		{
			Since: "1.27", major: 1, minor: 27, InjectValues: InjectStrict, StartupProbes: true, LifecycleHandlers: true,
			NativeByDefault: true,
		},
		{
			Since: "1.31", major: 1, minor: 31, InjectValues: InjectStrict, StartupProbes: true, LifecycleHandlers: true,
			NativeByDefault: true, ProxyInitImage: true, ScrapeTargets: true, PrometheusPortChecks: true, SecurePort: true,
		},
	}
}

// BehaviourOf is the row for a version.
func BehaviourOf(v Version) Behaviour {
	rows := Behaviours()
	row := rows[0]
	for _, r := range rows[1:] {
		if v.less(r.major, r.minor) {
			break
		}
		row = r
	}
	return row
}
