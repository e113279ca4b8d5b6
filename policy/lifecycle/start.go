package lifecycle

import (
	"slices"
	"time"

	"github.com/kube-inject/inject/policy"
)

// starting plays phase Start.
type starting struct {
	*trace
	m *model
	o *Options
	f *facts
	// now is when the next container starts.
	now time.Duration
	// ready and alive are the spans of the proxy, up to the end of time where nothing ends it.
	ready, alive []span
	// redirected says that the app's traffic is sent to the proxy by now.
	redirected bool
	// dead says that the apps never start.
	dead bool
	// runs are the last starts of the apps, failed those whose postStart hook the agent could not take.
	runs   []appRun
	failed []*container
	// starts are all starts of apps.
	starts []appRun
}

type appRun struct {
	c     *container
	start time.Duration
}

func (m *model) start(o *Options, f *facts) *starting {
	s := &starting{trace: newTrace(Start, slices.Concat(m.inits, m.regular), m.memory), m: m, o: o, f: f, redirected: m.cni}
	s.pod(0, PodStart, rankFirst)
	if m.unsupported(o) {
		s.dead = true
		f.plain(NativeUnsupported, Start)
		f.plain(AppNeverStarts, Start)
		return s
	}
	s.initContainers()
	if !s.dead {
		s.regularContainers()
	}
	s.checkNetwork()
	if m.job && !s.dead {
		s.finishJob()
	}
	if m.hold && m.sidecar == Classic && m.proxy.postStart.wait == nil && o.Istio.AtLeast(7) {
		f.plain(HoldCancelled, Start)
	}
	return s
}

// unsupported tells whether the pod has native sidecars that this kubelet does not know: the field is dropped, and a
// plain init container with probes or hooks is refused (Kubernetes, pkg/apis/core/validation, 1.27).
func (m *model) unsupported(o *Options) bool {
	runs, _ := o.sidecarSupport()
	return !runs && slices.ContainsFunc(m.inits, func(c *container) bool { return c.native })
}

func (s *starting) initContainers() {
	for _, c := range s.m.inits {
		s.initContainer(c)
		if s.dead {
			return
		}
	}
}

func (s *starting) initContainer(c *container) {
	switch c.role {
	case roleProxy:
		gate, ok := s.runProxy(c, s.now)
		s.now, s.dead = gate, !ok
		return
	case roleSide:
		// Its startup probe is taken to pass at the first try.
		s.add(c, s.now, ContainerStart)
		s.now = s.hook(c, s.now)
		return
	}
	s.add(c, s.now, ContainerStart)
	end := s.now + s.o.InitDuration.For(c.name)
	s.exit(c, end, 0)
	if slices.Contains(s.o.InitNetwork, c.name) && s.redirected && s.m.redirects() && !c.bypass &&
		!within(s.ready, s.now) {
		s.f.at(InitBeforeProxy, Start, s.now, end).container = c.name
	}
	s.redirected = s.redirected || c.name == policy.ContainerInit
	s.now = end
}

// hook plays a postStart hook that cannot fail and gives its end; hooks that take no time leave no trace.
func (s *starting) hook(c *container, at time.Duration) time.Duration {
	if !c.postStart.set || c.postStart.duration == 0 {
		return at
	}
	s.add(c, at, PostStartBegin)
	s.add(c, at+c.postStart.duration, PostStartEnd)
	return at + c.postStart.duration
}

func (s *starting) regularContainers() {
	started := s.m.sidecar != Classic // the agent serves rewritten hooks once its container has started
	for _, c := range s.m.regular {
		switch {
		case c.role == roleProxy && c == s.m.proxy:
			s.now, _ = s.runProxy(c, s.now)
			started = true
		case c.postStart.statusPort && !started:
			s.refusedHook(c)
		default:
			s.startApp(c)
			s.now = s.hook(c, s.now)
		}
	}
	for _, c := range s.failed {
		s.startAgain(c)
	}
}

func (s *starting) startApp(c *container) {
	s.add(c, s.now, ContainerStart)
	s.add(c, s.now+s.o.AppReady, AppReady)
	s.runs = append(s.runs, appRun{c, s.now})
	s.starts = append(s.starts, appRun{c, s.now})
}

// refusedHook plays an app whose postStart hook injection sent to an agent that does not listen yet: the hook fails
// and the kubelet kills the container (Kubernetes, pkg/kubelet/kuberuntime/kuberuntime_container.go, 1.33).
func (s *starting) refusedHook(c *container) {
	s.starts = append(s.starts, appRun{c, s.now})
	s.add(c, s.now, ContainerStart)
	s.add(c, s.now, PostStartBegin)
	s.add(c, s.now, PostStartFail)
	s.f.at(AppPostStartFails, Start, s.now, s.now).container = c.name
	term := s.now
	if c.preStop.set && !c.preStop.statusPort {
		s.add(c, term, PreStopBegin)
		term = min(term+c.preStop.duration, term+s.m.graceDuration())
		s.add(c, term, PreStopEnd)
	}
	s.add(c, term, SignalTerm)
	left := max(minimumLeft, s.m.graceDuration()-wholeSeconds(term-s.now))
	end, code := term+s.o.AppShutdown.For(c.name), 0
	if end > term+left {
		end, code = term+left, exitKilled
		s.add(c, end, SignalKill)
	}
	s.exit(c, end, code)
	s.now = end
	s.failed = append(s.failed, c)
}

// startAgain starts an app whose first start failed; by now the agent runs.
func (s *starting) startAgain(c *container) {
	if !s.m.always() {
		s.dead = true
		if !s.f.has(AppNeverStarts) {
			s.f.plain(AppNeverStarts, Start)
		}
		return
	}
	s.startApp(c)
	for i := range s.events {
		if e := &s.events[i].Event; e.Container == c.name && e.Kind == ContainerStart && e.At == s.now {
			e.Restart = 1
		}
	}
	s.add(c, s.now, PostStartBegin)
	s.now += c.postStart.duration
	s.add(c, s.now, PostStartEnd)
}

// checkNetwork finds the first app that starts while the proxy it depends on is not ready.
func (s *starting) checkNetwork() {
	if !s.m.redirects() {
		return
	}
	for _, r := range s.starts {
		if !within(s.ready, r.start) {
			s.f.at(AppBeforeProxy, Start, r.start, next(s.ready, r.start)).container = r.c.name
			return
		}
	}
}
