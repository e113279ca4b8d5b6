package lifecycle

import (
	"fmt"
	"slices"
)

// Remedy is a way to mend one verdict.
type Remedy struct {
	// Text is short enough to stand beside others in one line. Verdicts that the model gives instead, all of them less
	// severe or the lesser evil, are named in it.
	Text string
	// Edits change the manifest the pod was injected from, or the injected one; empty for advice to a person.
	Edits []Edit
	// last marks a candidate that is only worth offering where those before it do not help.
	last bool
}

// remedy fills in the remedies of every verdict of r. Each candidate with edits is applied and played again with the
// same options: it is offered when its verdict is gone, first those that bring nothing as bad with them.
func (m *model) remedy(r *Result, found facts, o *Options) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		var clean, traded, advice []Remedy
		for _, c := range m.candidates(&found[i], o) {
			if c.last && len(clean) > 0 {
				continue
			}
			c.last = false
			switch side, ok := m.try(c, v, found, o); {
			case len(c.Edits) == 0:
				advice = append(advice, c)
			case ok && side == "":
				clean = append(clean, c)
			case ok:
				c.Text += " (then: " + side + ")"
				traded = append(traded, c)
			}
		}
		if len(clean) == 0 && (len(advice) == 0 || v.ID == NativeUnsupported || v.ID == NativeUnordered) {
			clean = traded
		}
		v.Remedies = append(clean, advice...)
	}
}

// try plays the pod after the candidate's edits. ok tells whether v is gone, side names the worst new verdict that is
// as bad as v or worse.
func (m *model) try(c Remedy, v *Verdict, found facts, o *Options) (side string, ok bool) {
	if len(c.Edits) == 0 {
		return "", false
	}
	p, err := Apply(*m.pod, c.Edits)
	if err != nil {
		return "", false
	}
	mended := read(&p, o)
	mended.memory = m.memory
	after := mended.phases(o, func(t *trace) { m.memory = t.events })
	if after.has(v.ID) {
		return "", false
	}
	slices.SortStableFunc(after, func(a, b fact) int { return compareIDs(a.id, b.id) })
	for _, f := range after {
		if !found.has(f.id) && f.id != StartOK && f.id != StopOK && rankOf(f.id).Severity >= v.Severity {
			return string(f.id), true
		}
	}
	return "", true
}

// advice is a remedy without edits.
func advice(format string, args ...any) Remedy { return Remedy{Text: fmt.Sprintf(format, args...)} }

// candidates lists what might mend f, the best first. try decides which of them do.
func (m *model) candidates(f *fact, o *Options) []Remedy {
	switch f.id {
	case AppBeforeProxy, InitBeforeProxy, HoldTimeout, HoldCancelled, AppNeverStarts, AppPostStartFails,
		NativeUnsupported, NativeNoStartupGate, ProxyNotRestarted, ProxyRestarts, AgentWithoutEnvoy:
		return m.startCandidates(f, o)
	case JobNeverCompletes, JobDeadline:
		return m.jobCandidates(f, o)
	default:
		return m.stopCandidates(f, o)
	}
}

func (m *model) startCandidates(f *fact, o *Options) []Remedy {
	switch f.id {
	case AppBeforeProxy:
		list := append(m.goNative(o), m.goHold(o)...)
		list = append(append(list, m.waitLonger(o)...), m.addStartupProbe(o)...)
		return append(list, m.oldIstioHold(o)...)
	case InitBeforeProxy:
		return append(m.goNative(o), m.bypass(f.container))
	case HoldTimeout:
		list := append(append(m.dropHook(), m.goNative(o)...), m.waitLonger(o)...)
		return append(list, advice("find out why Envoy is not ready in time"))
	case HoldCancelled:
		return []Remedy{m.setHook("postStart", waitCommand(), "repeat the hold hook inside the override")}
	case AppNeverStarts:
		list := append(append(m.goClassic(o), m.dropHook()...), m.probeLonger(o)...)
		list = append(append(list, m.goNative(o)...), m.goHold(o)...)
		if m.sidecar == Native && !m.unsupported(o) {
			list = append(list, advice("check that the proxy reaches the control plane"))
		}
		return list
	case AppPostStartFails:
		return append(append(m.goHold(o), m.goNative(o)...), advice("an exec hook in place of HTTP"))
	case NativeUnsupported:
		return append(m.goClassic(o), advice("a cluster with Kubernetes 1.29 or newer"))
	case NativeNoStartupGate:
		return append(m.addStartupProbe(o), advice("values global.proxy.startupProbe.enabled: true and a status port other than 0"))
	case ProxyNotRestarted:
		return append(m.goNative(o), advice("find out why the proxy ended"))
	case ProxyRestarts:
		return []Remedy{advice("find out why Envoy died: memory limit, crash log")}
	case AgentWithoutEnvoy:
		return []Remedy{advice("a newer Istio: from 1.4 on the agent ends with Envoy and the kubelet starts it again")}
	}
	return nil
}

func (m *model) jobCandidates(f *fact, o *Options) []Remedy {
	list := m.goNative(o)
	if f.id == JobDeadline {
		list = append(list, m.longerDeadline(o)...)
	}
	if m.sidecar == Classic {
		if _, ok := m.quits(o); ok {
			list = append(list, advice("POST /quitquitquit to the agent when the app is done (--app-quits-proxy)"))
		}
	}
	return list
}

func (m *model) stopCandidates(f *fact, o *Options) []Remedy {
	switch f.id {
	case NativeUnordered:
		return append(m.goClassic(o), advice("Kubernetes 1.29 or newer"))
	case NativeDrainCancelled:
		return m.addDrainCall()
	case InFlightCutByProxy:
		return append(append(m.stayWith(f.to, o), m.goNative(o)...), m.keepNative(f.to, o)...)
	case InFlightCutByApp:
		return append(m.keepApp(f.to, o), advice("let the app finish its requests before it exits"))
	case NewRefusedByProxy:
		return append(append(append(m.delayProxy(f.to, o), m.stayFor(f.to, o)...), m.goNative(o)...), m.keepNative(f.to, o)...)
	case NewRefusedByApp:
		return m.keepApp(f.to, o)
	case OutboundLost:
		return append(m.stayWith(f.to, o), m.goNative(o)...)
	case AppKilled:
		return append(m.longerGrace(o), advice("let %s end on SIGTERM", f.container))
	case ProxyKilled:
		return append(append(m.longerGrace(o), m.boundDrain(o)...), m.addDrainCall()...)
	case DrainHang:
		return append(append(m.boundDrain(o), m.goNative(o)...), advice("close idle connections"))
	case DrainEarlyExit:
		return append(m.stayFor(f.to, o), m.goNative(o)...)
	case PreStopHTTPRace:
		return append(append(m.goNative(o), m.delayProxy(m.longestHook(), o)...), advice("an exec or sleep hook in place of HTTP"))
	}
	return nil
}
