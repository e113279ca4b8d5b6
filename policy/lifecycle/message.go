package lifecycle

import (
	"fmt"
	"time"
)

// verdict puts a fact into words.
func (m *model) verdict(f *fact, o *Options) Verdict {
	return Verdict{
		ID: f.id, Severity: rankOf(f.id).Severity, Phase: f.phase,
		From: f.from, To: f.to, Timed: f.spans, Container: f.container,
		Message: m.message(f, o),
	}
}

// message gives cause and effect in one or two sentences.
func (m *model) message(f *fact, o *Options) string {
	switch f.id {
	case AppBeforeProxy, InitBeforeProxy, HoldTimeout, HoldCancelled, AppNeverStarts, AppPostStartFails,
		NativeUnsupported, NativeNoStartupGate, ProxyNotRestarted, ProxyRestarts, AgentWithoutEnvoy, StartOK:
		return m.startMessage(f, o)
	case JobNeverCompletes, JobDeadline, JobRetrying, JobFailed, JobCompletes:
		return m.jobMessage(f, o)
	default:
		return m.stopMessage(f, o)
	}
}

func (m *model) startMessage(f *fact, o *Options) string {
	from, to := FormatDuration(f.from), FormatDuration(f.to)
	switch f.id {
	case AppBeforeProxy:
		if f.to >= Never {
			return fmt.Sprintf("%s starts at %s and the proxy does not get ready: the app has no network", f.container, from)
		}
		return fmt.Sprintf("%s starts at %s, the proxy is ready at %s: the app has no network for %s",
			f.container, from, to, FormatDuration(f.to-f.from))
	case InitBeforeProxy:
		return fmt.Sprintf("init container %s needs the network at %s, traffic is redirected already and no proxy is ready",
			f.container, from)
	case HoldTimeout:
		return fmt.Sprintf("the hold hook waits %s, the proxy needs %s. The kubelet stops the proxy for it%s",
			FormatDuration(f.to-f.from), FormatDuration(o.ProxyReady), afterHold(m))
	case HoldCancelled:
		return "holdApplicationUntilProxyStarts is on, but another lifecycle took the place of its hook: nothing waits for the proxy"
	case AppNeverStarts:
		return m.neverStarts(f, o)
	case AppPostStartFails:
		return fmt.Sprintf("the postStart hook of %s asks the agent at %s, before the agent runs: it is refused and the app is killed",
			f.container, from)
	case NativeUnsupported:
		return fmt.Sprintf("Kubernetes %s does not know native sidecars: it refuses the pod, or waits forever for the proxy to end",
			o.Kubernetes)
	case NativeNoStartupGate:
		return "the native sidecar has no startup probe: the kubelet starts the apps without waiting for the proxy"
	case ProxyNotRestarted:
		return fmt.Sprintf("the proxy exits at %s with code 0 and restartPolicy %s keeps it from coming back: no network from then on",
			from, m.pod.Spec.RestartPolicy)
	case ProxyRestarts:
		if f.to >= Never {
			return fmt.Sprintf("Envoy dies at %s and does not get ready again", from)
		}
		return fmt.Sprintf("Envoy dies at %s, the next one is ready at %s: the pod has no network for %s",
			from, to, FormatDuration(f.to-f.from))
	case AgentWithoutEnvoy:
		return fmt.Sprintf("Envoy ends by itself at %s; the agent up to Istio 1.3 cleans up and stays, so nothing starts a new one%s",
			from, untilReady(f.to))
	default:
		return "every app starts with its network"
	}
}

func untilReady(to time.Duration) string {
	if to >= Never {
		return ""
	}
	return " before the next configuration (ready at " + FormatDuration(to) + ")"
}

func afterHold(m *model) string {
	if m.sidecar == Native {
		return " and starts nothing after it"
	}
	return " and starts the apps without it"
}

func (m *model) neverStarts(f *fact, o *Options) string {
	switch {
	case m.unsupported(o):
		return "no container of the pod gets to run"
	case f.a > 0:
		return fmt.Sprintf("the startup probe of the native proxy fails for the last time at %s: the kubelet restarts it and starts nothing else",
			FormatDuration(f.a))
	case m.sidecar == Native:
		return "the hook of the native proxy fails again and again, and the kubelet starts nothing after it"
	default:
		return fmt.Sprintf("the app killed for its failed hook stays away with restartPolicy %s", m.pod.Spec.RestartPolicy)
	}
}

func (m *model) jobMessage(f *fact, o *Options) string {
	from := FormatDuration(f.from)
	switch f.id {
	case JobNeverCompletes:
		return fmt.Sprintf("the app ends at %s, the proxy does not: the pod runs on and the Job never completes", from)
	case JobDeadline:
		return fmt.Sprintf("activeDeadlineSeconds ends the Job at %s as failed", from)
	case JobRetrying:
		return fmt.Sprintf("the app ends at %s with code %d and is started again in the same pod", from, o.AppExitCode)
	case JobFailed:
		return fmt.Sprintf("the pod ends as failed at %s: the app's exit code is %d", from, o.AppExitCode)
	default:
		return fmt.Sprintf("the pod ends as succeeded at %s", from)
	}
}

func (m *model) stopMessage(f *fact, o *Options) string {
	from, to, length := FormatDuration(f.from), FormatDuration(f.to), FormatDuration(f.to-f.from)
	switch f.id {
	case NativeUnordered:
		return fmt.Sprintf("Kubernetes %s stops native sidecars together with the apps, and the drained agent leaves at once", o.Kubernetes)
	case NativeDrainCancelled:
		return m.drainCancelled()
	case InFlightCutByProxy:
		return fmt.Sprintf("proxy ends at %s, the longest request at %s: it is cut%s", from, to, m.why())
	case InFlightCutByApp:
		return fmt.Sprintf("app ends at %s, the longest request at %s: it is cut", from, to)
	case NewRefusedByProxy:
		return fmt.Sprintf("the proxy takes no new request from %s on, they arrive until %s", from, to)
	case NewRefusedByApp:
		return fmt.Sprintf("the app is gone at %s, new requests arrive until %s", from, to)
	case OutboundLost:
		return fmt.Sprintf("proxy ends at %s, app at %s: the app has no network for %s%s", from, to, length, m.why())
	case AppKilled:
		return fmt.Sprintf("%s gets SIGTERM at %s and is killed at %s, the end of the grace period of %ds",
			f.container, FormatDuration(f.a), from, m.grace())
	case ProxyKilled:
		return fmt.Sprintf("the proxy gets SIGTERM at %s and is killed at %s in the middle of its drain, the end of the grace period of %ds",
			FormatDuration(f.a), from, m.grace())
	case DrainHang:
		if f.a > f.to {
			return fmt.Sprintf("the agent would look for open connections at %s for the first time and is killed at %s",
				FormatDuration(f.a), to)
		}
		return fmt.Sprintf("the agent waits from %s on for connections that stay open, until it is killed at %s", from, to)
	case DrainEarlyExit:
		return fmt.Sprintf("the agent sees no connection and leaves at %s, the app works until %s", from, to)
	case PreStopHTTPRace:
		return fmt.Sprintf("the preStop hook of %s asks the agent, which closes that port on its own SIGTERM at the same moment: the hook may fail",
			f.container)
	default:
		return "nothing is cut, refused or killed"
	}
}

// why says what made the proxy leave when it left by its own clock.
func (m *model) why() string {
	switch {
	case m.sidecar != Classic || m.settings.exitOnZero:
		return ""
	default:
		return fmt.Sprintf(". terminationDrainDuration is %s", FormatDuration(m.settings.terminationDrain))
	}
}

func (m *model) drainCancelled() string {
	d := m.proxy.preStop.drain
	switch {
	case d == nil:
		return "the preStop hook of the native proxy does not start the drain: clients hear late that the pod goes, and the proxy takes its own drain time after the apps"
	case d.method != "POST":
		return "the drain call of the native proxy's preStop hook is not a POST: it fails, and the drain starts late"
	default:
		return fmt.Sprintf("the drain call of the native proxy's preStop hook asks port %d: it fails, and the drain starts late", d.port)
	}
}
