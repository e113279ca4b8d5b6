package lifecycle

import (
	"slices"
	"sync"
	"time"

	"github.com/kube-inject/inject/policy"
)

// ID names a verdict; the words are stable.
type ID string

// Verdicts.
const (
	AppBeforeProxy       ID = "app-before-proxy"
	InitBeforeProxy      ID = "init-before-proxy"
	HoldTimeout          ID = "hold-timeout"
	HoldCancelled        ID = "hold-cancelled"
	AppNeverStarts       ID = "app-never-starts"
	AppPostStartFails    ID = "app-poststart-fails"
	NativeUnsupported    ID = "native-unsupported"
	NativeNoStartupGate  ID = "native-no-startup-gate"
	NativeUnordered      ID = "native-unordered"
	NativeDrainCancelled ID = "native-drain-cancelled"
	InFlightCutByProxy   ID = "inflight-cut-by-proxy"
	InFlightCutByApp     ID = "inflight-cut-by-app"
	NewRefusedByProxy    ID = "new-requests-refused-by-proxy"
	NewRefusedByApp      ID = "new-requests-refused-by-app"
	OutboundLost         ID = "outbound-lost"
	AppKilled            ID = "app-sigkilled"
	ProxyKilled          ID = "proxy-sigkilled"
	DrainHang            ID = "drain-hang"
	DrainEarlyExit       ID = "drain-early-exit"
	PreStopHTTPRace      ID = "prestop-http-race"
	JobNeverCompletes    ID = "job-never-completes"
	JobDeadline          ID = "job-deadline"
	JobRetrying          ID = "job-retrying"
	JobFailed            ID = "job-failed"
	JobCompletes         ID = "job-completes"
	ProxyNotRestarted    ID = "proxy-not-restarted"
	ProxyRestarts        ID = "proxy-restarts"
	AgentWithoutEnvoy    ID = "agent-without-envoy"
	StartOK              ID = "start-ok"
	StopOK               ID = "stop-ok"
)

// Rank is a row of the table of verdicts.
type Rank struct {
	ID       ID
	Severity policy.Severity
	// Spoils is the phase that is not "ok" with this verdict; empty where the verdict is about something else.
	Spoils Phase
	// Help is one line for the reference page.
	Help string
}

// Ranks lists every verdict in the order of the reference page.
func Ranks() []Rank {
	return []Rank{
		{AppBeforeProxy, policy.Error, Start, "an app starts while the proxy cannot carry its traffic"},
		{InitBeforeProxy, policy.Error, Start, "an init container needs the network before the proxy is ready"},
		{HoldTimeout, policy.Error, Start, "the hold hook gives up before the proxy is ready"},
		{HoldCancelled, policy.Warning, Start, "hold is asked for, but the proxy has no hold hook"},
		{AppNeverStarts, policy.Error, Start, "the kubelet never gets to the apps"},
		{AppPostStartFails, policy.Error, Start, "a rewritten postStart hook asks an agent that does not run yet"},
		{NativeUnsupported, policy.Error, Start, "native sidecar on a cluster that does not know them"},
		{NativeNoStartupGate, policy.Warning, Start, "native sidecar without startup probe: nothing waits for it"},
		{NativeUnordered, policy.Error, Stop, "Kubernetes 1.28 stops native sidecars together with the apps"},
		{NativeDrainCancelled, policy.Warning, Stop, "native sidecar whose preStop hook does not start the drain"},
		{InFlightCutByProxy, policy.Error, Stop, "the proxy ends before the longest inbound request"},
		{InFlightCutByApp, policy.Error, Stop, "the app ends before the longest inbound request"},
		{NewRefusedByProxy, policy.Warning, Stop, "the proxy refuses requests that still arrive"},
		{NewRefusedByApp, policy.Warning, Stop, "the app is gone while requests still arrive"},
		{OutboundLost, policy.Error, Stop, "the proxy ends before the app, which then has no network"},
		{AppKilled, policy.Error, Stop, "an app is killed at the end of the grace period"},
		{ProxyKilled, policy.Warning, Stop, "the proxy is killed at the end of the grace period"},
		{DrainHang, policy.Warning, Stop, "the proxy waits for connections that do not close"},
		{DrainEarlyExit, policy.Error, Stop, "the proxy sees no connection and leaves before the app"},
		{PreStopHTTPRace, policy.Warning, Stop, "a rewritten preStop hook races with the agent's shutdown"},
		{JobNeverCompletes, policy.Error, "", "the proxy outlives the Job's app, so the pod never ends"},
		{JobDeadline, policy.Error, "", "activeDeadlineSeconds ends the Job"},
		{JobRetrying, policy.Info, "", "the Job's app failed and is started again in the pod"},
		{JobFailed, policy.Info, "", "the Job's pod ends as failed"},
		{JobCompletes, policy.Info, "", "the Job's pod ends as succeeded"},
		{ProxyNotRestarted, policy.Error, Start, "the proxy ended and the kubelet does not start it again"},
		{ProxyRestarts, policy.Warning, "", "Envoy died and comes back; the pod has no network in between"},
		{AgentWithoutEnvoy, policy.Error, Start, "the agent up to Istio 1.3 stays without an Envoy"},
		{StartOK, policy.Info, "", "nothing is lost at the start"},
		{StopOK, policy.Info, "", "nothing is lost at the stop"},
	}
}

// ranksByID is the table by id, made once; nothing writes to it.
var ranksByID = sync.OnceValue(func() map[ID]Rank {
	ranks := map[ID]Rank{}
	for _, r := range Ranks() {
		ranks[r.ID] = r
	}
	return ranks
})

// rankOf gives the row of id.
func rankOf(id ID) Rank { return ranksByID()[id] }

// Verdict is one thing the simulation found.
type Verdict struct {
	ID       ID
	Severity policy.Severity
	Phase    Phase
	// From and To are when it happens; To is the end of the trouble, [Never] where it does not end. Both mean nothing
	// unless Timed.
	From, To time.Duration
	Timed    bool
	// Container is whom it hits, empty for the pod.
	Container string
	// Message gives the chain of causes in one or two sentences.
	Message string
	// Remedies each mend the verdict alone. Those with edits were applied to the model and the verdict went away
	// without a worse one in its place; those without edits are for a person.
	Remedies []Remedy
}

// Result is the outcome of one simulation.
type Result struct {
	Kind, Namespace, Name string
	// Variant is for the caller to fill with the name of the variant in a comparison; empty outside.
	Variant string
	Sidecar Sidecar
	Options Options
	// Grace is the termination grace period in seconds.
	Grace int64
	// Containers are init containers, then regular containers, in the order of the pod.
	Containers []Container
	// Events are sorted by phase, time, container.
	Events []Event
	// Verdicts are sorted by id.
	Verdicts []Verdict
	// Flips is for the caller to fill from [Sensitivity] where it is to be printed.
	Flips []Flip
}

// Container is a row of the picture.
type Container struct {
	Name string
	Role string // init, sidecar, proxy or app
	// Native says that it is an init container with restartPolicy Always.
	Native bool
}

// Simulate plays p with o. The same input gives the same result; p is not changed.
func Simulate(p Pod, o Options) Result {
	m := read(&p, &o)
	events, found := m.play(&o)
	r := Result{
		Kind: p.Kind, Namespace: p.Namespace, Name: p.Name, Sidecar: m.sidecar, Options: o, Grace: m.grace(),
		Events: events, Containers: m.rows(),
	}
	r.Verdicts = make([]Verdict, 0, len(found))
	for i := range found {
		r.Verdicts = append(r.Verdicts, m.verdict(&found[i], &o))
	}
	m.remedy(&r, found, &o)
	return r
}

// play runs the phases asked for and gives events and facts.
func (m *model) play(o *Options) ([]Event, facts) {
	var events []Event
	found := m.phases(o, func(t *trace) { events = append(events, t.sorted()...) })
	slices.SortStableFunc(found, func(a, b fact) int { return compareIDs(a.id, b.id) })
	return events, found
}

// phases runs the phases asked for, gives the trace of each to keep, and the facts in no special order.
func (m *model) phases(o *Options, keep func(*trace)) facts {
	var found facts
	dead := m.unsupported(o)
	if !o.SkipStart || dead {
		s := m.start(o, &found)
		keep(s.trace)
		if dead = s.dead; !found.spoils(Start) {
			found.plain(StartOK, Start)
		}
	}
	if !o.SkipStop && !dead {
		s := m.stopPod(o, &found)
		keep(s.trace)
		if !found.spoils(Stop) {
			found.plain(StopOK, Stop)
		}
	}
	return found
}

func compareIDs(a, b ID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// spoils tells whether a fact keeps phase from being ok.
func (f facts) spoils(phase Phase) bool {
	return slices.ContainsFunc(f, func(x fact) bool { return spoiledPhase(x.id) == phase })
}

// spoiledPhase is the Spoils column without the table, for the loops of [Sensitivity].
func spoiledPhase(id ID) Phase {
	switch id {
	case AppBeforeProxy, InitBeforeProxy, HoldTimeout, HoldCancelled, AppNeverStarts, AppPostStartFails,
		NativeUnsupported, NativeNoStartupGate, ProxyNotRestarted, AgentWithoutEnvoy:
		return Start
	case NativeUnordered, NativeDrainCancelled, InFlightCutByProxy, InFlightCutByApp, NewRefusedByProxy,
		NewRefusedByApp, OutboundLost, AppKilled, ProxyKilled, DrainHang, DrainEarlyExit, PreStopHTTPRace:
		return Stop
	}
	return ""
}

func (m *model) rows() []Container {
	names := [...]string{roleInit: "init", roleSide: "sidecar", roleProxy: "proxy", roleApp: "app"}
	out := make([]Container, 0, len(m.inits)+len(m.regular))
	for _, c := range slices.Concat(m.inits, m.regular) {
		out = append(out, Container{Name: c.name, Role: names[c.role], Native: c.native})
	}
	return out
}

// Worst gives the highest severity of the verdicts, Info where there is none.
func (r Result) Worst() policy.Severity {
	worst := policy.Info
	for _, v := range r.Verdicts {
		worst = max(worst, v.Severity)
	}
	return worst
}

// Exceeds tells whether a verdict is worse than limit: exit code 1 of --at-most.
func (r Result) Exceeds(limit policy.Severity) bool { return r.Worst() > limit }

// Has tells whether the result holds a verdict.
func (r Result) Has(id ID) bool {
	return slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.ID == id })
}
