package lifecycle

import (
	"slices"
	"time"
)

// Rules of the agent up to 1.3 (Istio, pilot/pkg/proxy/agent.go DefaultRetry, pilot/pkg/proxy/envoy/watcher.go, 1.0 to
// 1.3). Its limit of one loop turn a second with bursts of ten is never reached by these delays.
const (
	retryBudget     = 10
	retryFirst      = 200 * time.Millisecond
	certificateWait = 10 * time.Second
	exitAgent       = 255
	exitAborted     = exitKilled
)

// happening is what the old agent reacts to.
type happening struct {
	at     time.Duration
	what   int
	epoch  int
	serial int
	kind   ExitKind
}

const (
	changes  = iota // a changed configuration gets through
	ends            // an Envoy ends unasked
	readies         // an epoch becomes ready
	outlived        // an older epoch is ended by Envoy itself
	retries         // the retry timer
)

// oldAgentRun is the agent's loop: running epochs, the retry budget and the timer.
type oldAgentRun struct {
	s       *starting
	c       *container
	queue   []happening
	running []int // epochs, rising
	ready   map[int]bool
	drained map[int]bool
	desired int         // number of the configuration wanted
	configs map[int]int // configuration of each epoch
	serials map[int]int // which launch each epoch is; numbers come again after an abort
	serial  int
	budget  int
	retryAt time.Duration
	looping bool
}

// playOldRun plays one run of the container with the agent up to 1.3.
func (s *starting) playOldRun(c *container, at time.Duration, restart int) proxyRun {
	p := s.plan(c, at)
	if p.hookFails < Never {
		if restart > 0 && p.hookFails > s.o.Horizon {
			return proxyRun{gate: Never, end: Never}
		}
		return s.failRun(c, p, restart)
	}
	if restart == 0 {
		s.gateEvents(c, p, Never)
	}
	a := &oldAgentRun{
		s: s, c: c, ready: map[int]bool{}, drained: map[int]bool{}, configs: map[int]int{}, serials: map[int]int{},
		budget: retryBudget, retryAt: Never,
	}
	a.plan(at)
	a.launch(at, restart > 0 || a.looping, false)
	end := a.loop()
	out := proxyRun{gate: p.gate, end: end, crashed: end < Never}
	if end < Never {
		out.code = exitAgent
		s.exit(c, end, exitAgent).Cause = CauseCrash
	}
	return out
}

// plan fills the queue with what comes from outside.
func (a *oldAgentRun) plan(at time.Duration) {
	quiet := time.Duration(-1)
	for _, x := range a.s.o.HotRestarts {
		if x <= at || x <= quiet {
			continue
		}
		quiet = x + certificateWait // later changes up to here are taken along
		a.push(happening{at: quiet, what: changes})
	}
	for _, e := range a.s.o.ProxyExits {
		switch {
		case e.At > at:
			a.push(happening{at: e.At, what: ends, epoch: -1, kind: e.Kind})
		case e.Kind == CrashLoop:
			a.looping = true
		}
	}
}

func (a *oldAgentRun) push(h happening) {
	i := len(a.queue)
	for i > 0 && a.queue[i-1].at > h.at {
		i--
	}
	a.queue = slices.Insert(a.queue, i, h)
}

// loop runs until nothing more happens, the horizon, or the agent's end, which it gives; else Never.
func (a *oldAgentRun) loop() time.Duration {
	for len(a.queue) > 0 {
		h := a.queue[0]
		a.queue = a.queue[1:]
		if h.at > a.s.o.Horizon {
			break
		}
		if a.handle(h) {
			return h.at
		}
	}
	return Never
}

// handle plays one happening and tells whether it ended the agent.
func (a *oldAgentRun) handle(h happening) bool {
	switch h.what {
	case changes:
		a.desired++
		a.budget, a.retryAt = retryBudget, Never
		a.s.add(a.c, h.at-certificateWait, EpochRequested).Epoch = a.latest() + 1
		a.launch(h.at, true, true)
	case readies:
		a.becomesReady(h)
	case outlived:
		if slices.Contains(a.running, h.epoch) && a.serials[h.epoch] == h.serial {
			a.end(h.at, h.epoch)
		}
	case retries:
		if a.retryAt == h.at {
			a.retryAt = Never
			a.launch(h.at, true, false)
		}
	case ends:
		return a.ended(h)
	}
	return false
}

// latest gives the highest running epoch, or -1.
func (a *oldAgentRun) latest() int {
	if len(a.running) == 0 {
		return -1
	}
	return a.running[len(a.running)-1]
}

// launch starts the next epoch unless the newest one has the desired configuration already.
func (a *oldAgentRun) launch(at time.Duration, traced, changed bool) {
	if n := a.latest(); n >= 0 && a.configs[n] == a.desired && !changed {
		return
	}
	epoch := a.latest() + 1
	a.running = append(a.running, epoch)
	a.configs[epoch] = a.desired
	a.serial++
	a.serials[epoch] = a.serial
	if traced {
		a.s.add(a.c, at, EpochStart).Epoch = epoch
	}
	if a.looping {
		a.push(happening{at: at, what: ends, epoch: epoch, kind: CrashLoop})
		return
	}
	if a.s.o.ProxyReady < Never {
		a.push(happening{at: at + a.s.o.ProxyReady, what: readies, epoch: epoch, serial: a.serial})
	}
}

// becomesReady opens the listeners of an epoch; the older ones drain and Envoy ends them later.
func (a *oldAgentRun) becomesReady(h happening) {
	if !slices.Contains(a.running, h.epoch) || a.serials[h.epoch] != h.serial {
		return
	}
	if !a.anyReady() {
		a.s.add(a.c, h.at, ProxyReady)
		a.s.ready = append(a.s.ready, span{h.at, Never})
		a.closeFacts(h.at)
	}
	a.ready[h.epoch] = true
	for _, old := range a.running {
		if old < h.epoch && !a.drained[old] {
			a.drained[old] = true
			a.s.add(a.c, h.at, EpochDrain).Epoch = old
			a.push(happening{at: h.at + a.s.m.settings.parentShutdown, what: outlived, epoch: old, serial: a.serials[old]})
		}
	}
}

func (a *oldAgentRun) anyReady() bool {
	return slices.ContainsFunc(a.running, func(e int) bool { return a.ready[e] })
}

// end takes an epoch out and closes the span of readiness with the last ready one.
func (a *oldAgentRun) end(at time.Duration, epoch int) *Event {
	was := a.anyReady()
	a.running = slices.DeleteFunc(a.running, func(e int) bool { return e == epoch })
	delete(a.ready, epoch)
	delete(a.drained, epoch)
	if was && !a.anyReady() {
		a.s.ready[len(a.s.ready)-1].to = at
	}
	e := a.s.add(a.c, at, EpochExit)
	e.Epoch = epoch
	return e
}

// ended is an Envoy that ends unasked; it tells whether the agent gives up.
func (a *oldAgentRun) ended(h happening) bool {
	epoch := h.epoch
	if epoch < 0 {
		epoch = a.latest()
	}
	a.looping = a.looping || h.kind == CrashLoop
	if epoch < 0 || !slices.Contains(a.running, epoch) {
		return false
	}
	e := a.end(h.at, epoch)
	if h.kind == Normal {
		if len(a.running) == 0 && !a.s.f.has(AgentWithoutEnvoy) {
			a.s.f.at(AgentWithoutEnvoy, Start, h.at, Never)
		}
		return false
	}
	e.Cause = CauseCrash
	for _, other := range slices.Backward(slices.Clone(a.running)) {
		a.end(h.at, other).ExitCode = exitAborted
	}
	if !a.s.f.has(ProxyRestarts) {
		a.s.f.at(ProxyRestarts, Start, h.at, Never)
	}
	if a.retryAt < Never {
		return false
	}
	if a.budget == 0 {
		return true
	}
	a.retryAt = h.at + retryFirst<<(retryBudget-a.budget)
	a.budget--
	a.push(happening{at: a.retryAt, what: retries})
	return false
}

// closeFacts ends the open losses at the moment an Envoy is ready again.
func (a *oldAgentRun) closeFacts(at time.Duration) {
	for i, f := range *a.s.f {
		if (f.id == AgentWithoutEnvoy || f.id == ProxyRestarts) && f.to == Never {
			(*a.s.f)[i].to = at
		}
	}
}

// hotRestarts plays epochs of the agents 1.4 to 1.7: epoch n+1 starts when epoch n is live (looked at every 0.5 s, at
// most for 20 s), the older one drains once the newer is ready, and Envoy ends it (Istio, pkg/envoy/agent.go, 1.7).
func (s *starting) hotRestarts(c *container, live time.Duration) {
	const look, patience = 500 * time.Millisecond, 20 * time.Second
	if s.o.Istio.AtLeast(8) {
		return
	}
	epoch := 0
	for _, x := range s.o.HotRestarts {
		if x < live-s.o.ProxyReady {
			continue // before the container started
		}
		begin := x
		if live > x {
			begin += min(patience, (live-x+look-1)/look*look)
		}
		epoch++
		s.add(c, x, EpochRequested).Epoch = epoch
		s.add(c, begin, EpochStart).Epoch = epoch
		live = begin + s.o.ProxyReady
		if live < Never {
			s.add(c, live, EpochDrain).Epoch = epoch - 1
			s.add(c, live+s.m.settings.parentShutdown, EpochExit).Epoch = epoch - 1
		}
	}
}
