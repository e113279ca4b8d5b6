package lifecycle

import "time"

// Facts are what the model reads from a pod, for rules that need no simulation.
type Facts struct {
	Sidecar Sidecar
	// HoldRequested and HoldHook say that hold is asked for, and that the proxy has a hook that waits for it.
	HoldRequested, HoldHook bool
	// DrainHook says that the preStop hook starts the drain, DrainWorks that it also reaches the agent.
	DrainHook, DrainWorks bool
	// StartupGate says that the kubelet waits for a native proxy (startup probe).
	StartupGate bool
	// Redirects says that the pod's traffic goes through the proxy.
	Redirects bool
	// RedirectedInit says that traffic is redirected while the user's init containers run (CNI).
	RedirectedInit bool
	StatusPort     int
	Grace          time.Duration
	// TerminationDrain, Drain and MinimumDrain are terminationDrainDuration, drainDuration and
	// MINIMUM_DRAIN_DURATION; ExitOnZero is EXIT_ON_ZERO_ACTIVE_CONNECTIONS as this agent understands it.
	TerminationDrain, Drain, MinimumDrain time.Duration
	ExitOnZero                            bool
	// ProxyPreStop is the length of the proxy's preStop hook, ProxyStop the time from the deletion to the end of a
	// classic proxy that nobody kills and that nobody is connected to.
	ProxyPreStop, ProxyStop time.Duration
	// Apps are the regular containers that are not the proxy, in their order.
	Apps []AppFacts
}

// AppFacts are the facts of one app.
type AppFacts struct {
	Name string
	// BeforeProxy says that it is started before a classic proxy in the list.
	BeforeProxy bool
	// PreStop and PostStart are the lengths of its hooks, zero where unknown.
	PreStop, PostStart time.Duration
	// PreStopAsksAgent and PostStartAsksAgent say that injection rewrote an HTTP hook to the agent's port.
	PreStopAsksAgent, PostStartAsksAgent bool
	HasPostStart                         bool
}

// Inspect reads the facts of an injected pod; o gives the versions and the durations of hooks.
func Inspect(p Pod, o Options) Facts {
	m := read(&p, &o)
	s := m.settings
	f := Facts{
		Sidecar: m.sidecar, HoldRequested: m.hold, Redirects: m.redirects(), RedirectedInit: m.cni,
		StatusPort: s.statusPort, Grace: m.graceDuration(), TerminationDrain: s.terminationDrain, Drain: s.drain,
		MinimumDrain: s.minimumDrain, ExitOnZero: s.exitOnZero,
	}
	if c := m.proxy; c != nil {
		f.HoldHook = c.postStart.wait != nil
		f.DrainHook, f.DrainWorks = c.preStop.drain != nil, m.drainsBeforeStop(c, &o)
		f.StartupGate = c.native && c.startup != nil
		f.ProxyPreStop = c.preStop.duration
		f.ProxyStop = m.stop(&o, c.preStop.duration, f.DrainWorks, false).exit
	}
	before := m.sidecar == Classic
	for _, c := range m.regular {
		if c.role == roleProxy {
			before = false
			continue
		}
		f.Apps = append(f.Apps, AppFacts{
			Name: c.name, BeforeProxy: before, PreStop: c.preStop.duration, PostStart: c.postStart.duration,
			PreStopAsksAgent: c.preStop.statusPort, PostStartAsksAgent: c.postStart.statusPort,
			HasPostStart: c.postStart.set,
		})
	}
	return f
}
