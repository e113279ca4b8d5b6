package lifecycle

import (
	"slices"
	"time"
)

// State is what a container does during a bar.
type State string

// States of bars.
const (
	Initialising State = "init"  // an init container runs
	Waiting      State = "wait"  // started, not ready
	Running      State = "run"   // ready, or a container whose readiness is not modelled
	Hooking      State = "hook"  // a lifecycle hook runs
	Draining     State = "drain" // the proxy drains
	Loss         State = "loss"  // traffic is lost
)

// Bar is a stretch of one state.
type Bar struct {
	From, To time.Duration
	State    State
	// Verdict names the loss of a Loss bar.
	Verdict ID
	// Open says that the state goes on behind the picture; To is the picture's end then.
	Open bool
}

// Mark is a moment worth a sign: ProxyReady, AppReady, SignalTerm, SignalKill or ContainerExit.
type Mark struct {
	At   time.Duration
	Kind Kind
}

// Row is one line of the picture.
type Row struct {
	Name  string
	Bars  []Bar
	Marks []Mark
	// Losses are the spans of trouble because of this container.
	Losses []Bar
	// After is the state that goes on behind the picture; empty where the container has ended.
	After State
}

// Timeline is the picture of one phase.
type Timeline struct {
	Phase Phase
	// Length is the time of the last event.
	Length time.Duration
	// Rows are the containers in the order of the events.
	Rows []Row
	// Inbound and Outbound are the lost spans by direction, as [Row] values named so; empty where nothing is lost.
	Inbound, Outbound Row
}

// Timelines gives the pictures of the phases that were played and have a length.
func (r Result) Timelines() []Timeline {
	var out []Timeline
	for _, phase := range []Phase{Start, Stop} {
		if t := r.timeline(phase); t.Length > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (r Result) timeline(phase Phase) Timeline {
	t := Timeline{Phase: phase, Inbound: Row{Name: "inbound"}, Outbound: Row{Name: "outbound"}}
	for _, e := range r.Events {
		if e.Phase == phase {
			t.Length = max(t.Length, e.At)
		}
	}
	if t.Length == 0 {
		return t
	}
	if last := t.Length; phase == Start && r.runsOn(last) {
		t.Length += max(time.Second, (last / 10).Truncate(time.Second)) // room to see that it does
	}
	for _, c := range r.order(phase) {
		t.Rows = append(t.Rows, r.row(c, phase, t.Length))
	}
	for _, v := range r.Verdicts {
		t.lose(r, v)
	}
	return t
}

// order gives the containers in the order of a phase's rows: in Stop the regular ones, then the native sidecars in
// reverse order.
func (r Result) order(phase Phase) []Container {
	if phase == Start {
		return r.Containers
	}
	var regular, sides []Container
	for _, c := range r.Containers {
		switch {
		case c.Native:
			sides = append(sides, c)
		case c.Role != "init":
			regular = append(regular, c)
		}
	}
	slices.Reverse(sides)
	return append(regular, sides...)
}

// painter turns the events of one container into bars.
type painter struct {
	c      Container
	row    Row
	state  State // empty while the container does not run
	since  time.Duration
	ready  bool
	hooked bool
	drains bool
}

func (r Result) row(c Container, phase Phase, end time.Duration) Row {
	p := painter{c: c, row: Row{Name: c.Name}}
	if phase == Stop {
		p.state, p.ready = Running, true
	}
	for _, e := range r.Events {
		if e.Phase == phase && e.Container == c.Name {
			p.event(e, r.stays(e))
		}
	}
	p.row.After = p.state
	p.turn(end, "")
	if n := len(p.row.Bars); p.row.After != "" && n > 0 && p.row.Bars[n-1].State == p.row.After {
		p.row.Bars[n-1].Open = true
	}
	return p.row
}

// runsOn tells whether a Job's pod goes on behind its last event.
func (r Result) runsOn(last time.Duration) bool {
	return slices.ContainsFunc(r.Verdicts, func(v Verdict) bool {
		return v.ID == JobNeverCompletes && v.To >= Never && v.From >= last
	})
}

// Extend gives the timeline with what goes on behind its end drawn up to length.
func (t Timeline) Extend(length time.Duration) Timeline {
	if length <= t.Length {
		return t
	}
	end := t.Length
	t.Length = length
	t.Rows = slices.Clone(t.Rows)
	for i := range t.Rows {
		r := &t.Rows[i]
		r.Bars, r.Losses = extend(r.Bars, length), extend(r.Losses, length)
		if n := len(r.Bars); r.After != "" && (n == 0 || !r.Bars[n-1].Open) {
			// it began at the very end, as readiness often does
			r.Bars = append(r.Bars, Bar{From: end, To: length, State: r.After, Open: true})
		}
	}
	t.Inbound.Bars, t.Outbound.Bars = extend(t.Inbound.Bars, length), extend(t.Outbound.Bars, length)
	return t
}

func extend(bars []Bar, length time.Duration) []Bar {
	out := slices.Clone(bars)
	for i := range out {
		if out[i].Open {
			out[i].To = length
		}
	}
	return out
}

// stays tells whether the proxy still has an Envoy after an epoch's end: only a crash, an abort, or the last one that
// ends by itself takes it away.
func (r Result) stays(e Event) bool {
	if e.Kind != EpochExit || e.Cause != "" || e.ExitCode != 0 {
		return e.Kind != EpochExit
	}
	return !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.ID == AgentWithoutEnvoy && v.From == e.At })
}

func (p *painter) event(e Event, stays bool) {
	switch e.Kind {
	case ContainerStart:
		p.ready, p.hooked, p.drains = p.c.Role == "sidecar", false, false
		p.turn(e.At, p.now())
		return
	case ContainerExit:
		p.turn(e.At, "")
		p.mark(e)
		return
	case ProxyReady, AppReady:
		p.ready = true
		p.mark(e)
	case SignalTerm:
		p.drains = p.drains || p.c.Role == "proxy"
		p.hooked = false
		p.mark(e)
	case SignalKill:
		p.mark(e)
	case DrainBegin:
		p.drains = true
	case PostStartBegin, PreStopBegin:
		p.hooked = true
	case PostStartEnd, PostStartFail, PreStopEnd, PreStopFail, PreStopTimeout:
		p.hooked = false
	case EpochExit:
		p.ready = p.ready && stays
	}
	if p.state != "" {
		p.turn(e.At, p.now())
	}
}

// now gives the state of a running container.
func (p *painter) now() State {
	switch {
	case p.c.Role == "init":
		return Initialising
	case p.hooked:
		return Hooking
	case p.drains:
		return Draining
	case p.ready:
		return Running
	default:
		return Waiting
	}
}

// turn closes the bar of the present state at a time and opens one for the next.
func (p *painter) turn(at time.Duration, next State) {
	if p.state == next && next != "" {
		return
	}
	if p.state != "" && at > p.since {
		p.row.Bars = append(p.row.Bars, Bar{From: p.since, To: at, State: p.state})
	}
	p.state, p.since = next, at
}

func (p *painter) mark(e Event) { p.row.Marks = append(p.row.Marks, Mark{At: e.At, Kind: e.Kind}) }

// lose draws a verdict that has a span of lost traffic.
func (t *Timeline) lose(r Result, v Verdict) {
	if v.Phase != t.Phase && (v.Phase != Whole || t.Phase != Start) || !v.Timed || v.To <= v.From {
		return
	}
	row := &t.Outbound
	hit := "proxy" // whose end or absence loses it
	switch v.ID {
	case InFlightCutByProxy, NewRefusedByProxy:
		row = &t.Inbound
	case InFlightCutByApp, NewRefusedByApp:
		row, hit = &t.Inbound, "app"
	case JobNeverCompletes:
		row = nil // no traffic is lost, but the proxy's row shows it
	case OutboundLost, AppBeforeProxy, InitBeforeProxy, ProxyRestarts, ProxyNotRestarted, AgentWithoutEnvoy:
	default:
		return
	}
	bar := Bar{From: v.From, To: v.To, State: Loss, Verdict: v.ID}
	if v.To >= Never {
		bar.To, bar.Open = t.Length, true
	}
	t.Length = max(t.Length, bar.To)
	if row != nil {
		row.Bars = append(row.Bars, bar)
	}
	for i := range t.Rows {
		name := t.Rows[i].Name
		if v.Container == name && r.role(name) != "proxy" || v.Container == "" && r.role(name) == hit {
			t.Rows[i].Losses = append(t.Rows[i].Losses, bar)
			return
		}
	}
}

func (r Result) role(name string) string {
	for _, c := range r.Containers {
		if c.Name == name {
			return c.Role
		}
	}
	return ""
}
