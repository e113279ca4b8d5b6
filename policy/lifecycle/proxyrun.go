package lifecycle

import "time"

// runProxy plays the proxy's whole life in phase Start from at on, crashes and restarts included. It gives the moment
// from which the next container may start, and false where a native sidecar never lets one start.
func (s *starting) runProxy(c *container, at time.Duration) (gate time.Duration, ok bool) {
	gated := false
	for restart := 0; ; restart++ {
		s.add(c, at, ContainerStart).Restart = restart
		run := s.playRun(c, at, restart, gated)
		if !gated && run.gate < Never {
			gate, gated = run.gate, true
		}
		s.alive = append(s.alive, span{at, run.end})
		switch {
		case run.stuck:
			return at, false
		case run.end >= Never:
			return gate, true
		}
		if !gated { // the kubelet goes on with the next container once this one is gone
			gate, gated = run.end, c.role == roleProxy && !c.native
		}
		if !s.restarts(c, run.code) {
			s.f.at(ProxyNotRestarted, Start, run.end, Never)
			return gate, true
		}
		next := run.end + restartDelay(restart+1)
		if run.crashed && !s.f.has(ProxyRestarts) {
			s.f.at(ProxyRestarts, Start, run.end, next+s.o.ProxyReady)
		}
		if restart > 0 && next > s.o.Horizon {
			return gate, true
		}
		at = next
	}
}

// restarts tells whether the kubelet starts c again after an exit with code.
func (s *starting) restarts(c *container, code int) bool {
	return c.native || s.m.always() || code != 0 && !s.m.never()
}

// proxyRun is one run of the proxy container.
type proxyRun struct {
	// gate is when the next container may start, Never if this run does not say.
	gate time.Duration
	// end is when the container exits, Never if it stays.
	end     time.Duration
	code    int
	crashed bool
	// stuck says that the kubelet never gets past this native sidecar.
	stuck bool
}

// playRun plays one run from at on: hook, readiness, probe, and how it ends. Hook and probe leave a trace only in runs
// that somebody waits for.
func (s *starting) playRun(c *container, at time.Duration, restart int, gated bool) proxyRun {
	if s.oldAgent() {
		return s.playOldRun(c, at, restart)
	}
	r := s.plan(c, at)
	crash := s.nextExit(at)
	if crash < Never && crash <= min(r.hookFails, r.probeFails) {
		return s.crashRun(c, r, crash, gated)
	}
	switch {
	case r.hookFails < Never && restart > 0 && r.hookFails > s.o.Horizon:
		return proxyRun{gate: Never, end: Never}
	case r.hookFails < Never:
		return s.failRun(c, r, restart)
	case r.probeFails < Never:
		s.readyAt(c, r.ready, r.probeFails+1)
		s.add(c, r.probeFails, StartupProbeFail)
		f := s.f.at(AppNeverStarts, Start, at, Never)
		f.container, f.a = c.name, r.probeFails
		return proxyRun{gate: Never, end: Never, stuck: true}
	}
	s.readyAt(c, r.ready, Never)
	if !gated {
		s.gateEvents(c, r, Never)
	}
	if c.native && c.startup == nil && (c.postStart.wait == nil || c.postStart.wait.asks != asksProxy) && !gated {
		s.f.plain(NativeNoStartupGate, Start)
	}
	s.hotRestarts(c, r.ready)
	return proxyRun{gate: r.gate, end: Never}
}

// plan holds the times of an undisturbed run; what does not happen is Never.
type plan struct {
	at, ready             time.Duration
	hookEnd, hookFails    time.Duration
	probeOK, probeFails   time.Duration
	gate                  time.Duration
	hookTraced, probeGate bool
}

func (s *starting) plan(c *container, at time.Duration) plan {
	r := plan{at: at, ready: at + s.o.ProxyReady, hookEnd: at + c.postStart.duration, hookFails: Never, probeFails: Never}
	r.hookTraced = c.postStart.set && (c.postStart.wait != nil || c.postStart.duration > 0)
	if w := c.postStart.wait; w != nil {
		after, ok := w.looks(s.o.ProxyReady)
		if !s.o.Istio.AtLeast(7) {
			after, ok = 0, false // there is no such command yet
		}
		r.hookEnd += after
		if !ok {
			r.hookEnd, r.hookFails = Never, at+after
		}
	}
	r.gate = r.hookEnd
	if p := c.startup; c.native && p != nil {
		r.probeGate = true
		delay, period := ofSeconds(int64(p.InitialDelaySeconds)), ofSeconds(int64(p.PeriodSeconds))
		if period == 0 {
			period = 10 * time.Second
		}
		failures := min(time.Duration(p.FailureThreshold), longest/period)
		if p.FailureThreshold <= 0 {
			failures = 3
		}
		after := delay
		if late := s.o.ProxyReady - delay; late > 0 {
			after += (late + period - 1) / period * period
		}
		r.probeOK = at + after
		if after-delay >= failures*period {
			r.probeOK, r.probeFails = Never, at+delay+(failures-1)*period
		}
		r.gate = max(r.hookEnd, r.probeOK)
	}
	return r
}

// oldAgent tells the agent up to 1.3.
func (s *starting) oldAgent() bool { return !s.o.Istio.AtLeast(4) }

// nextExit gives the first end of Envoy from at on, or Never.
func (s *starting) nextExit(at time.Duration) time.Duration {
	for _, e := range s.o.ProxyExits {
		if e.At > at {
			return e.At
		}
	}
	return Never
}

// readyAt notes readiness that lasts until end, where it comes before end.
func (s *starting) readyAt(c *container, ready, end time.Duration) {
	if ready < end && ready < Never {
		s.add(c, ready, ProxyReady)
		s.ready = append(s.ready, span{ready, end})
	}
}

// gateEvents traces hook and probe as far as they come before end, the end of the run.
func (s *starting) gateEvents(c *container, r plan, end time.Duration) {
	if r.hookTraced {
		s.add(c, r.at, PostStartBegin)
		switch {
		case r.hookEnd <= end && r.hookEnd < Never:
			s.add(c, r.hookEnd, PostStartEnd)
		case end < Never:
			s.add(c, end, PostStartFail)
		}
	}
	if r.probeGate && r.probeOK <= end && r.probeOK < Never {
		s.add(c, r.probeOK, StartupProbeOK)
	}
}

// crashRun ends the run at crash: whatever Envoy's own exit code, the agent leaves with 0 (Istio, pkg/envoy/agent.go,
// 1.6 to 1.30).
func (s *starting) crashRun(c *container, r plan, crash time.Duration, gated bool) proxyRun {
	s.readyAt(c, r.ready, crash)
	if !gated {
		s.gateEvents(c, r, crash)
	}
	s.exit(c, crash, 0).Cause = CauseCrash
	out := proxyRun{gate: Never, end: crash, crashed: true}
	if r.gate <= crash {
		out.gate = r.gate
	}
	return out
}

// failRun is a hold hook without success: the kubelet stops the container. In a native sidecar it tries again and
// again and starts nothing else; a classic one that is gone lets the next container start.
func (s *starting) failRun(c *container, r plan, restart int) proxyRun {
	if restart == 0 || c.native {
		s.add(c, r.at, PostStartBegin)
	}
	if !s.f.has(HoldTimeout) {
		s.f.at(HoldTimeout, Start, r.at, r.hookFails)
	}
	if c.native {
		s.readyAt(c, r.ready, r.hookFails)
		s.add(c, r.hookFails, PostStartFail)
		s.f.at(AppNeverStarts, Start, r.at, Never).container = c.name
		return proxyRun{gate: Never, end: Never, stuck: true}
	}
	term, drained := r.hookFails, false
	if c.preStop.set {
		term += min(c.preStop.duration, s.m.graceDuration())
		drained = s.m.drainsBeforeStop(c, s.o)
	}
	s.readyAt(c, r.ready, term)
	s.add(c, r.hookFails, PostStartFail)
	if c.preStop.set {
		s.add(c, r.hookFails, PreStopBegin)
		s.add(c, term, PreStopEnd)
	}
	s.add(c, term, SignalTerm)
	kill := term + max(minimumLeft, s.m.graceDuration()-wholeSeconds(term-r.hookFails))
	end, code := s.m.stop(s.o, term, drained, false).exit, 0
	if end > kill {
		end, code = kill, exitKilled
		s.add(c, end, SignalKill)
	}
	s.exit(c, end, code)
	return proxyRun{gate: Never, end: end, code: code}
}
