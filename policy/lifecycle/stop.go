package lifecycle

import (
	"slices"
	"time"
)

// minimumLeft is the least time between SIGTERM and SIGKILL (Kubernetes, minimumGracePeriodInSeconds in
// pkg/kubelet/kuberuntime/kuberuntime_container.go, 1.33), exitKilled the code of a killed container.
const (
	minimumLeft = 2 * time.Second
	exitKilled  = 137
)

func (m *model) graceDuration() time.Duration { return ofSeconds(m.grace()) }

// stopping plays phase Stop, or the stop of the sidecars after a Job's app.
type stopping struct {
	*trace
	m *model
	o *Options
	f *facts
	// base is when the kubelet starts to stop the containers.
	base time.Duration
	// job says that this is the end of a Job: nobody connects any more, and the trace stays short.
	job bool
	// exits are the ends so far.
	exits map[*container]time.Duration
	// listeners is when the proxy takes no new inbound connection any more.
	listeners time.Duration
}

// stopPod plays the deletion of a running pod.
func (m *model) stopPod(o *Options, f *facts) *stopping {
	sides := m.sides()
	s := &stopping{
		trace: newTrace(Stop, slices.Concat(m.regular, sides), m.memory), m: m, o: o, f: f,
		exits: map[*container]time.Duration{}, listeners: Never,
	}
	s.pod(0, PodDeleted, rankFirst)
	for _, c := range m.regular {
		s.stop(c, 0)
	}
	s.stopSides(sides)
	s.pod(s.last(m.regular, sides), PodGone, rankLast)
	if m.sidecar == Native {
		s.checkNative()
	}
	s.checkLosses()
	return s
}

// stopSides stops native sidecars, given in reverse order: from 1.29 on each waits for all regular containers and
// every sidecar declared after it (Kubernetes pull request 120620, kuberuntime_termination_order.go).
func (s *stopping) stopSides(sides []*container) {
	_, ordered := s.o.sidecarSupport()
	after := s.last(s.m.regular, nil)
	for _, c := range sides {
		wait := time.Duration(0)
		if ordered {
			wait = after
		}
		s.stop(c, wait)
		after = max(after, s.exits[c])
	}
}

func (s *stopping) last(lists ...[]*container) time.Duration {
	end := s.base
	for _, list := range lists {
		for _, c := range list {
			end = max(end, s.exits[c])
		}
	}
	return end
}

// stop plays one container: hook, turn, SIGTERM, exit or SIGKILL. after is when those it has to wait for are gone.
func (s *stopping) stop(c *container, after time.Duration) {
	grace := s.m.graceDuration()
	length, drained := s.preStop(c, grace)
	left := grace - wholeSeconds(length)
	term := s.base + length
	if wait := min(after-term, left); wait > 0 {
		term += wait
		left -= wholeSeconds(wait)
	}
	left = max(minimumLeft, left)
	s.add(c, term, SignalTerm)
	end := term + s.o.AppShutdown.For(c.name)
	if c.role == roleProxy {
		end = s.stopProxy(c, term, term+left, drained)
	}
	if end > term+left {
		end = term + left
		s.add(c, end, SignalKill)
		s.exit(c, end, exitKilled)
		s.killed(c, term, end)
	} else {
		s.exit(c, end, 0)
	}
	s.exits[c] = end
}

func (s *stopping) killed(c *container, term, end time.Duration) {
	id := AppKilled
	if c.role == roleProxy {
		id = ProxyKilled
	}
	if !s.job && !s.f.has(id) {
		f := s.f.at(id, Stop, end, end)
		f.container, f.a = c.name, term
	}
}

// preStop plays the hook of c and gives the time it takes of the grace period, and whether it made the proxy drain.
func (s *stopping) preStop(c *container, grace time.Duration) (length time.Duration, drained bool) {
	h := c.preStop
	if !h.set {
		return 0, false
	}
	s.add(c, s.base, PreStopBegin)
	if h.statusPort && c.role != roleProxy && s.statusPortGone() {
		s.add(c, s.base, PreStopFail)
		if !s.f.has(PreStopHTTPRace) && !s.job {
			s.f.at(PreStopHTTPRace, Stop, s.base, s.base).container = c.name
		}
		return 0, false
	}
	if h.drain != nil && c.role == roleProxy {
		drained = s.m.drainsBeforeStop(c, s.o) && h.drainAt <= grace
		switch {
		case !drained && h.duration == 0:
			s.add(c, s.base, PreStopFail)
			return 0, false
		case drained && !s.job:
			s.add(c, s.base+h.drainAt, DrainBegin)
		}
	}
	if h.duration > grace {
		s.add(c, s.base+grace, PreStopTimeout)
		return grace, drained
	}
	s.add(c, s.base+h.duration, PreStopEnd)
	return h.duration, drained
}

// statusPortGone tells whether the agent gets its SIGTERM at once and closes the port that rewritten hooks ask: nothing
// says that the hook's request comes first.
func (s *stopping) statusPortGone() bool {
	if s.m.sidecar == None || s.m.proxy.preStop.duration > 0 {
		return false
	}
	_, ordered := s.o.sidecarSupport()
	return s.m.sidecar == Classic || !ordered
}

// stopProxy plays SIGTERM at the agent and gives its end if nobody kills it; kill is when somebody does.
func (s *stopping) stopProxy(c *container, term, kill time.Duration, drained bool) time.Duration {
	a := s.m.stop(s.o, term, drained, !s.job)
	if s.job {
		return a.exit
	}
	if s.o.Istio.AtLeast(1) {
		s.add(c, term, StatusPortClose)
	}
	begin := term
	if a.drains {
		s.add(c, term, DrainBegin)
	}
	if a.drains && !s.o.Istio.AtLeast(4) {
		s.add(c, term, EpochStart).Epoch = 1 // an Envoy without listeners takes over (pilot/pkg/proxy/agent.go, 1.1)
	}
	end := min(a.exit, kill)
	switch {
	case !a.drains:
	case !s.o.Istio.AtLeast(8):
		s.listeners = begin
		s.add(c, begin, ListenersClose)
	case begin+s.m.settings.drain < end:
		// graceful: listeners stay open for drainDuration (Envoy, source/server/admin/listeners_handler.cc)
		s.listeners = begin + s.m.settings.drain
		s.add(c, s.listeners, ListenersClose)
	}
	if a.exit > kill && s.m.settings.exitOnZero && a.drains {
		first := term + s.m.settings.minimumDrain + time.Second
		s.f.at(DrainHang, Stop, min(first, kill), kill).a = first
	}
	return a.exit
}

func (s *stopping) checkNative() {
	if _, ordered := s.o.sidecarSupport(); !ordered {
		s.f.plain(NativeUnordered, Stop)
	}
	if !s.m.drainsBeforeStop(s.m.proxy, s.o) && s.o.Istio.AtLeast(20) {
		s.f.plain(NativeDrainCancelled, Stop)
	}
}

// checkLosses compares the ends: proxy, app, listeners against what clients and the app still need.
func (s *stopping) checkLosses() {
	apps := s.m.apps()
	app := s.last(apps, nil)
	need, lag := s.o.RequestsInFlight, s.o.EndpointLag
	if s.m.sidecar != None {
		proxy := s.exits[s.m.proxy]
		s.lost(InFlightCutByProxy, proxy, need)
		s.lost(NewRefusedByProxy, min(s.listeners, proxy), lag)
		if s.o.AppOutbound && s.m.redirects() && len(apps) > 0 {
			s.lost(OutboundLost, proxy, app)
		}
		if s.earlyExit(proxy) && proxy < app {
			s.f.at(DrainEarlyExit, Stop, proxy, app)
		}
	}
	if len(apps) > 0 {
		s.lost(InFlightCutByApp, app, need)
		s.lost(NewRefusedByApp, app, lag)
	}
}

func (s *stopping) lost(id ID, end, need time.Duration) {
	if need > end {
		s.f.at(id, Stop, end, need)
	}
}

// earlyExit tells whether the agent left because it saw no connection.
func (s *stopping) earlyExit(exit time.Duration) bool {
	drained := s.m.drainsBeforeStop(s.m.proxy, s.o)
	return s.m.settings.exitOnZero && !drained && !s.f.has(DrainHang) && exit < Never
}
