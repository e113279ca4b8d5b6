package lifecycle

import "time"

// agentStop is what pilot-agent does from SIGTERM on when nobody kills it.
type agentStop struct {
	exit time.Duration
	// drains says that a drain begins at SIGTERM.
	drains bool
	// hangs says that it waits for connections that never close.
	hangs bool
}

// stop gives the agent's end for a SIGTERM at term; drained says that POST /drain came before. Connections are those
// of the deletion at zero, so only a stop of the whole pod has them.
//
// Up to 1.0 all epochs are aborted at once; up to 1.3 a drain epoch starts and the rest follows after the drain
// duration (pilot/pkg/proxy/agent.go); 1.6 and 1.7 sleep the drain duration (pkg/envoy/agent.go); from 1.12 on
// EXIT_ON_ZERO_ACTIVE_CONNECTIONS looks every second after the minimum (pkg/envoy/agent.go, 1.30).
func (m *model) stop(o *Options, term time.Duration, drained, connections bool) agentStop {
	switch {
	case drained:
		return agentStop{exit: term}
	case !o.Istio.AtLeast(1):
		return agentStop{exit: term}
	case !m.settings.exitOnZero:
		return agentStop{exit: term + m.settings.terminationDrain, drains: true}
	}
	first := term + m.settings.minimumDrain + time.Second
	busy := time.Duration(0)
	if connections {
		busy = max(o.RequestsInFlight, o.ConnectionsOpen)
	}
	switch {
	case busy >= Never:
		return agentStop{exit: Never, drains: true, hangs: true}
	case busy <= first:
		return agentStop{exit: first, drains: true}
	default:
		late := busy - first
		return agentStop{exit: first + (late+time.Second-1)/time.Second*time.Second, drains: true}
	}
}

// quits tells whether the agent serves POST /quitquitquit, and how long it still takes to end after it: from 1.20 on it
// leaves at once, before it sends itself SIGTERM (pilot/cmd/pilot-agent/status/server.go; since 1.3).
func (m *model) quits(o *Options) (after time.Duration, ok bool) {
	switch {
	case o.Istio.AtLeast(20):
		return 0, true
	case o.Istio.AtLeast(3):
		return m.stop(o, 0, false, false).exit, true
	default:
		return 0, false
	}
}

// drainsBeforeStop tells whether the preStop hook of c reaches the agent's /drain.
func (m *model) drainsBeforeStop(c *container, o *Options) bool {
	return c.role == roleProxy && c.preStop.drain != nil && c.preStop.drain.reaches(m.settings.statusPort, o.Istio)
}

// restartDelay is the kubelet's back-off before restart n, counted from 1: none, then 10 s doubling up to 300 s
// (Kubernetes, pkg/kubelet/kubelet.go, MaxContainerBackOff, 1.33).
func restartDelay(n int) time.Duration {
	if n <= 1 {
		return 0
	}
	d := 10 * time.Second
	for ; n > 2 && d < 5*time.Minute; n-- {
		d *= 2
	}
	return min(d, 5*time.Minute)
}
