package lifecycle

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kube-inject/inject/policy"
)

// stayFor keeps a classic proxy, or one whose drain hook does not work, alive until need after the deletion.
func (m *model) stayFor(need time.Duration, o *Options) []Remedy {
	if m.proxy == nil || need >= 1000*time.Hour || !o.Istio.AtLeast(7) || m.drainsBeforeStop(m.proxy, o) {
		return nil
	}
	before := m.hookTime(m.proxy)
	n := max(1, wholeUp(need-before))
	if m.settings.exitOnZero {
		value := strconv.FormatInt(n, 10) + "s"
		return []Remedy{m.withGrace(Remedy{
			Text:  envMinimumDrain + ": " + value,
			Edits: []Edit{annotation(policy.AnnotationProxyConfig, m.config().metadata(envMinimumDrain, value).text())},
		}, before+time.Duration(n+1)*time.Second)}
	}
	value := strconv.FormatInt(n, 10) + "s"
	return []Remedy{m.withGrace(Remedy{
		Text:  policy.AnnotationProxyConfig + " " + fieldDrain + ": " + value,
		Edits: []Edit{annotation(policy.AnnotationProxyConfig, m.config().with(fieldDrain, value).text())},
	}, before+time.Duration(n)*time.Second)}
}

// stayWith keeps the proxy until need or, where a longer grace period would let the apps live longer, as long as they.
// On Kubernetes 1.28 it has to become classic for that.
func (m *model) stayWith(need time.Duration, o *Options) []Remedy {
	list := m.stayFor(need, o)
	if end := m.appEnd(o); end > need && end < 1000*time.Hour {
		for _, r := range m.stayFor(end, o) {
			r.last = true
			list = append(list, r)
		}
	}
	if _, ordered := o.sidecarSupport(); m.sidecar == Native && !ordered {
		value := strconv.FormatInt(wholeUp(need), 10) + "s"
		for _, r := range m.goClassic(o) {
			r.Text += ", " + fieldDrain + ": " + value
			r.Edits[1].Value = m.config().with(fieldHold, true).with(fieldDrain, value).text()
			list = append(list, m.withGrace(r, need))
		}
	}
	return list
}

// keepNative is keepApp for a native proxy, which stays as long as the apps.
func (m *model) keepNative(need time.Duration, o *Options) []Remedy {
	if m.sidecar != Native {
		return nil
	}
	return m.keepApp(need, o)
}

// appEnd is the last exit of an app that nobody kills.
func (m *model) appEnd(o *Options) time.Duration {
	end := time.Duration(0)
	for _, c := range m.apps() {
		end = max(end, c.preStop.duration+o.AppShutdown.For(c.name))
	}
	return end
}

// withGrace adds a longer grace period where the stop would not fit into it.
func (m *model) withGrace(r Remedy, stop time.Duration) Remedy {
	n := wholeUp(stop)
	if n <= m.grace() {
		return r
	}
	n = (n + 9) / 5 * 5 // some air
	r.Text += fmt.Sprintf(" and terminationGracePeriodSeconds: %d", n)
	r.Edits = append(r.Edits, graceEdit(n))
	return r
}

func graceEdit(n int64) Edit {
	return Edit{Path: []string{"spec", "terminationGracePeriodSeconds"}, Value: n}
}

// hookTime is what the preStop hook of c takes, as far as the pod says.
func (m *model) hookTime(c *container) time.Duration {
	return min(c.preStop.duration, m.graceDuration())
}

// longestHook is the longest preStop hook that asks the agent, at least a second.
func (m *model) longestHook() time.Duration {
	longest := time.Second
	for _, c := range m.apps() {
		if c.preStop.statusPort {
			longest = max(longest, c.preStop.duration)
		}
	}
	return longest
}

// delayProxy keeps SIGTERM away from a classic proxy for a while.
func (m *model) delayProxy(need time.Duration, o *Options) []Remedy {
	if m.sidecar != Classic || need >= 1000*time.Hour {
		return nil
	}
	n := wholeUp(need)
	r := m.setHook("preStop", []string{"sleep", strconv.FormatInt(n, 10)}, "let the proxy wait")
	stop := m.stop(o, time.Duration(n)*time.Second, false, true)
	return []Remedy{m.withGrace(r, min(stop.exit, 1000*time.Hour))}
}

// keepApp delays the apps' SIGTERM with a sleep so that they serve until need, and keeps the proxy with them.
func (m *model) keepApp(need time.Duration, o *Options) []Remedy {
	if need >= 1000*time.Hour || len(m.apps()) == 0 {
		return nil
	}
	var edits []Edit
	var n int64
	end := time.Duration(0)
	for _, c := range m.apps() {
		if c.preStop.set && c.preStop.duration == 0 { // a hook of unknown length must not be replaced
			return nil
		}
		shutdown := o.AppShutdown.For(c.name)
		if shutdown >= Never {
			continue
		}
		n = max(1, wholeUp(need-shutdown))
		hook := map[string]any{"sleep": map[string]any{"seconds": n}}
		if !o.Kubernetes.AtLeast(30) {
			hook = execHook([]string{"sleep", strconv.FormatInt(n, 10)})
		}
		path := []string{"spec", "containers", c.name, "lifecycle", "preStop"}
		edits = append(edits, Edit{Path: path, Value: hook})
		end = max(end, time.Duration(n)*time.Second+shutdown)
	}
	r := Remedy{Text: fmt.Sprintf("a preStop sleep of %ds in the app", n), Edits: edits}
	if m.sidecar == Classic && !m.settings.exitOnZero && m.hookTime(m.proxy)+m.settings.terminationDrain < end {
		for _, stay := range m.stayFor(end, o) {
			r.Text += " and " + stay.Text
			r.Edits = append(r.Edits, stay.Edits...)
			return []Remedy{r}
		}
	}
	return []Remedy{m.withGrace(r, end)}
}

// longerGrace makes room for the longest stop of the pod.
func (m *model) longerGrace(o *Options) []Remedy {
	app := m.appEnd(o)
	end := app
	for _, c := range m.sides() {
		if c.role == roleSide {
			end += c.preStop.duration + o.AppShutdown.For(c.name)
		}
	}
	if m.proxy != nil {
		start := m.proxy.preStop.duration
		if m.sidecar == Native {
			start = max(start, end)
		}
		end = max(end, m.stop(o, start, m.drainsBeforeStop(m.proxy, o), true).exit)
	}
	if end >= 1000*time.Hour {
		return nil
	}
	n := (wholeUp(end) + 9) / 5 * 5
	r := Remedy{Text: fmt.Sprintf("terminationGracePeriodSeconds: %d", n), Edits: []Edit{graceEdit(n)}}
	list := []Remedy{r}
	if m.sidecar == Classic && !m.settings.exitOnZero && app > m.hookTime(m.proxy)+m.settings.terminationDrain {
		for _, stay := range m.stayFor(app, o) {
			list = append(list, Remedy{
				Text:  fmt.Sprintf("%s and %s %s: %ds", r.Text, policy.AnnotationProxyConfig, fieldDrain, max(1, wholeUp(app-m.hookTime(m.proxy)))),
				Edits: []Edit{stay.Edits[0], r.Edits[0]},
			})
		}
	}
	return list
}

// boundDrain goes back from waiting for connections to a fixed drain time.
func (m *model) boundDrain(o *Options) []Remedy {
	if m.proxy == nil || !m.settings.exitOnZero {
		return nil
	}
	need := o.RequestsInFlight
	for _, c := range m.apps() {
		if d := c.preStop.duration + o.AppShutdown.For(c.name); d < Never {
			need = max(need, d)
		}
	}
	value := strconv.FormatInt(max(5, wholeUp(need)), 10) + "s"
	text := m.config().metadata(envExitOnZero, "false").with(fieldDrain, value).text()
	r := Remedy{
		Text:  fmt.Sprintf("%s: \"false\" and %s: %s", envExitOnZero, fieldDrain, value),
		Edits: []Edit{annotation(policy.AnnotationProxyConfig, text)},
	}
	return []Remedy{m.withGrace(r, m.hookTime(m.proxy)+time.Duration(max(5, wholeUp(need)))*time.Second)}
}

// addDrainCall puts the drain call into the preStop hook of a native proxy, on the port the agent has by default.
func (m *model) addDrainCall() []Remedy {
	if m.sidecar != Native {
		return nil
	}
	r := m.setHook("preStop", drainCommand(policy.PortTelemetry), "start the drain")
	if _, set := m.pod.Annotations[policy.AnnotationStatusPort]; set && m.statusPort() != policy.PortTelemetry {
		r.Text = fmt.Sprintf("no annotation %s: the drain call knows port %d", policy.AnnotationStatusPort, policy.PortTelemetry)
		r.Edits = append(r.Edits, dropStatusPort())
	}
	return []Remedy{r}
}

func (m *model) statusPort() int { return m.settings.statusPort }
