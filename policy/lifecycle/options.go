package lifecycle

import "time"

// Options are the inputs of a simulation that the manifest does not hold. Start from [Defaults]; the zero value is a
// pod whose every step takes no time on Kubernetes 0.0. [Flags] documents every field and its default.
type Options struct {
	Kubernetes Version
	Istio      Version
	// SidecarContainers forces the feature gate of that name; nil follows the version (off in 1.28, on from 1.29).
	SidecarContainers *bool

	// ProxyReady is the time from the start of the proxy (or of a later Envoy) to its readiness; may be Never.
	ProxyReady time.Duration
	// InitDuration is the run time of each init container.
	InitDuration PerContainer
	// AppReady is the time from the start of an app to its readiness; it is drawn and decides nothing.
	AppReady time.Duration
	// AppShutdown is the time from SIGTERM to the exit of an app or of another sidecar; may be Never.
	AppShutdown PerContainer
	// RequestsInFlight is how long the longest inbound request still takes at the deletion.
	RequestsInFlight time.Duration
	// ConnectionsOpen is how long the last client keeps its connection after the deletion; may be Never.
	ConnectionsOpen time.Duration
	// EndpointLag is how long new requests arrive after the deletion; zero leaves that unchecked.
	EndpointLag time.Duration
	// AppOutbound says that the app needs the network until it exits.
	AppOutbound bool

	// AppDuration and AppExitCode are the run time and the result of a Job's app.
	AppDuration time.Duration
	AppExitCode int
	// AppQuitsProxy says that a Job's app posts /quitquitquit when it is done.
	AppQuitsProxy bool
	// InitNetwork names the init containers that need the network.
	InitNetwork []string

	// ProxyExits are ends of Envoy in phase Start, in rising order of time.
	ProxyExits []ProxyExit
	// HotRestarts are the times of new configuration or certificates in phase Start (Istio up to 1.7).
	HotRestarts []time.Duration
	// Hooks are durations of hooks by "container.preStop" or "container.postStart".
	Hooks map[string]time.Duration
	// Horizon ends restart loops in phase Start.
	Horizon time.Duration
	// SkipStart and SkipStop leave out a phase.
	SkipStart, SkipStop bool
}

// ProxyExit is an end of Envoy that nobody asked for.
type ProxyExit struct {
	At   time.Duration
	Kind ExitKind
}

// ExitKind says how Envoy ends. Agents from 1.4 on do not look at it; the agent up to 1.3 does.
type ExitKind int

// Ends of Envoy.
const (
	// Crash is an error or a SIGKILL.
	Crash ExitKind = iota
	// Normal is a SIGTERM to Envoy alone: exit code 0.
	Normal
	// CrashLoop is a crash after which every new Envoy crashes at once (agent up to 1.3).
	CrashLoop
)

// String gives the word that --proxy-exit takes.
func (k ExitKind) String() string {
	switch k {
	case Normal:
		return "normal"
	case CrashLoop:
		return "crash-loop"
	default:
		return "crash"
	}
}

// Defaults gives the options of a run without flags.
func Defaults() Options {
	return Options{
		Kubernetes:   Version{1, 33},
		Istio:        Version{1, 30},
		ProxyReady:   2 * time.Second,
		InitDuration: PerContainer{Default: time.Second},
		AppReady:     time.Second,
		AppShutdown:  PerContainer{Default: time.Second},
		AppOutbound:  true,
		AppDuration:  time.Minute,
		Horizon:      5 * time.Minute,
	}
}

// sidecarSupport tells whether the kubelet runs native sidecars, and whether it stops them after the apps
// (KEP-753; Kubernetes pull request 120620, 1.29).
func (o Options) sidecarSupport() (runs, ordered bool) {
	on := o.Kubernetes.AtLeast(29)
	if o.SidecarContainers != nil {
		// Before 1.28 there is no such gate, from 1.33 on it cannot be switched off.
		on = o.Kubernetes.AtLeast(28) && (*o.SidecarContainers || o.Kubernetes.AtLeast(33))
	}
	return on, on && o.Kubernetes.AtLeast(29)
}
