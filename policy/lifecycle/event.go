package lifecycle

import (
	"cmp"
	"slices"
	"time"
)

// Phase is one of the two clocks, or Whole for a verdict about both.
type Phase string

// Phases.
const (
	Start Phase = "start"
	Stop  Phase = "stop"
	Whole Phase = "pod"
)

// Kind names what happens; the words are those of the JSON report.
type Kind string

// Kinds of events.
const (
	PodStart         Kind = "pod.start"
	PodDeleted       Kind = "pod.deleted"
	PodGone          Kind = "pod.gone"
	PodSucceeded     Kind = "pod.succeeded"
	PodFailed        Kind = "pod.failed"
	ContainerStart   Kind = "container.start"
	ContainerExit    Kind = "container.exit"
	ProxyReady       Kind = "proxy.ready"
	AppReady         Kind = "app.ready"
	PostStartBegin   Kind = "hook.postStart.begin"
	PostStartEnd     Kind = "hook.postStart.end"
	PostStartFail    Kind = "hook.postStart.fail"
	PreStopBegin     Kind = "hook.preStop.begin"
	PreStopEnd       Kind = "hook.preStop.end"
	PreStopTimeout   Kind = "hook.preStop.timeout"
	PreStopFail      Kind = "hook.preStop.fail"
	StartupProbeOK   Kind = "probe.startup.ok"
	StartupProbeFail Kind = "probe.startup.fail"
	SignalTerm       Kind = "signal.term"
	SignalKill       Kind = "signal.kill"
	DrainBegin       Kind = "drain.begin"
	ListenersClose   Kind = "listeners.close"
	StatusPortClose  Kind = "statusport.close"
	EpochRequested   Kind = "epoch.requested"
	EpochStart       Kind = "epoch.start"
	EpochDrain       Kind = "epoch.drain"
	EpochExit        Kind = "epoch.exit"
)

// Why a proxy container ended before its time.
const (
	CauseCrash = "envoy-crash"
	CauseQuit  = "quitquitquit"
)

// Event is one thing that happens.
type Event struct {
	Phase Phase
	At    time.Duration
	// Container is empty for events of the pod.
	Container string
	Kind      Kind
	// ExitCode belongs to ContainerExit, and to EpochExit of the agent up to 1.3.
	ExitCode int
	// Restart counts the restarts of the container; zero on its first start.
	Restart int
	// Epoch belongs to the epoch events.
	Epoch int
	// Cause is CauseCrash, CauseQuit or empty.
	Cause string
}

// HasExitCode tells whether ExitCode means something.
func (e Event) HasExitCode() bool {
	return e.Kind == ContainerExit || e.Kind == EpochExit && e.ExitCode != 0
}

// HasEpoch tells whether Epoch means something.
func (e Event) HasEpoch() bool {
	switch e.Kind {
	case EpochRequested, EpochStart, EpochDrain, EpochExit:
		return true
	}
	return false
}

// ranked is an event with its place among those of the same moment.
type ranked struct {
	Event
	rank int
}

// trace collects events of one phase; a container's events are added in their own order.
type trace struct {
	phase  Phase
	order  []*container
	events []ranked
}

// Ranks of the pod's own events; containers stand between them.
const (
	rankFirst = -1
	rankLast  = 1 << 20
)

// newTrace takes the memory of an earlier trace of the same model, whose events nobody reads any more.
func newTrace(phase Phase, order []*container, memory []ranked) *trace {
	if memory == nil {
		memory = make([]ranked, 0, 32)
	}
	return &trace{phase: phase, order: order, events: memory[:0]}
}

func (t *trace) pod(at time.Duration, kind Kind, rank int) {
	t.events = append(t.events, ranked{Event{Phase: t.phase, At: at, Kind: kind}, rank})
}

func (t *trace) add(c *container, at time.Duration, kind Kind) *Event {
	rank := slices.Index(t.order, c)
	t.events = append(t.events, ranked{Event{Phase: t.phase, At: at, Container: c.name, Kind: kind}, rank})
	return &t.events[len(t.events)-1].Event
}

func (t *trace) exit(c *container, at time.Duration, code int) *Event {
	e := t.add(c, at, ContainerExit)
	e.ExitCode = code
	return e
}

// cut drops what would happen after limit, as the deletion of the pod ends the story.
func (t *trace) cut(limit time.Duration) {
	t.events = slices.DeleteFunc(t.events, func(r ranked) bool { return r.At > limit })
}

// sorted gives the events by time, then container, then the container's own order.
func (t *trace) sorted() []Event {
	slices.SortStableFunc(t.events, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.rank, b.rank))
	})
	out := make([]Event, len(t.events))
	for i, r := range t.events {
		out[i] = r.Event
	}
	return out
}
