package lifecycle

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kube-inject/inject/policy"
)

// annotation is an edit of a pod annotation.
func annotation(name, value string) Edit {
	return Edit{Path: []string{"metadata", "annotations", name}, Value: value}
}

// proxyField is an edit of the proxy container, wherever it stands in the source.
func (m *model) proxyField(field string, value any) Edit {
	list := "containers"
	if m.sidecar == Native {
		list = "initContainers"
	}
	return Edit{Path: append([]string{"spec", list, policy.ContainerProxy}, strings.Split(field, ".")...), Value: value}
}

func execHook(command []string) map[string]any {
	words := make([]any, len(command))
	for i, w := range command {
		words[i] = w
	}
	return map[string]any{"exec": map[string]any{"command": words}}
}

// setHook puts a command into a hook of the proxy.
func (m *model) setHook(hook string, command []string, text string) Remedy {
	return Remedy{
		Text:  fmt.Sprintf("%s: %s %s", text, hook, strings.Join(command, " ")),
		Edits: []Edit{m.proxyField("lifecycle."+hook, execHook(command))},
	}
}

func (m *model) config() configText {
	return readConfig(m.pod.Annotations[policy.AnnotationProxyConfig])
}

// goNative makes the proxy a native sidecar where kubelet and injector know how (annotation since Istio 1.24). A
// preStop hook of its own would keep the drain call away, so it goes too.
func (m *model) goNative(o *Options) []Remedy {
	_, ordered := o.sidecarSupport()
	if m.sidecar != Classic || !ordered || !o.Istio.AtLeast(24) {
		return nil
	}
	text := policy.AnnotationNativeSidecar + `: "true"`
	edits := []Edit{annotation(policy.AnnotationNativeSidecar, "true")}
	if m.proxy.preStop.set && !m.drainsBeforeStop(m.proxy, o) {
		edits = append(edits, m.proxyField("lifecycle.preStop", execHook(drainCommand(policy.PortTelemetry))))
		text += " with the drain call as the proxy's preStop"
	}
	return []Remedy{{Text: text, Edits: edits}}
}

// goClassic takes native sidecars back, with hold so that the apps still start after the proxy.
func (m *model) goClassic(o *Options) []Remedy {
	if m.sidecar != Native {
		return nil
	}
	return []Remedy{{
		Text: policy.AnnotationNativeSidecar + `: "false" and ` + policy.AnnotationProxyConfig + " " + fieldHold + ": true",
		Edits: []Edit{
			annotation(policy.AnnotationNativeSidecar, "false"),
			annotation(policy.AnnotationProxyConfig, m.config().with(fieldHold, true).text()),
		},
	}}
}

// goHold switches the hold hook on (a field of ProxyConfig since Istio 1.8).
func (m *model) goHold(o *Options) []Remedy {
	if m.sidecar != Classic || !o.Istio.AtLeast(8) || m.proxy.postStart.wait != nil {
		return nil
	}
	text := policy.AnnotationProxyConfig + " " + fieldHold + ": true"
	edits := []Edit{annotation(policy.AnnotationProxyConfig, m.config().with(fieldHold, true).text())}
	if m.hold || m.proxy.preStop.set || m.proxy.postStart.set {
		// the proxy has a lifecycle of its own, which may stand in the place of the hook
		edits = append(edits, m.proxyField("lifecycle.postStart", execHook(waitCommand())))
		text += " with its hook repeated as the proxy's postStart"
	}
	return []Remedy{{Text: text, Edits: edits}}
}

// oldIstioHold is what is left for agents without the annotation.
func (m *model) oldIstioHold(o *Options) []Remedy {
	switch {
	case o.ProxyReady >= Never:
		return []Remedy{advice("find out why Envoy does not get ready")}
	case o.Istio.AtLeast(8):
		return nil
	case o.Istio.AtLeast(7):
		return []Remedy{advice("values global.proxy.%s: true", fieldHold)}
	default:
		return []Remedy{advice("a newer Istio (hold from 1.7 on), or an app that tries again until the network is there")}
	}
}

// waitLonger gives the hold hook the time the proxy needs.
func (m *model) waitLonger(o *Options) []Remedy {
	w := m.wait()
	if w == nil || m.sidecar != Classic || o.ProxyReady >= Never || !o.Istio.AtLeast(7) {
		return nil
	}
	n := wholeUp(o.ProxyReady) + 30
	command := append(waitCommand(), "--timeoutSeconds="+strconv.FormatInt(n, 10))
	return []Remedy{m.setHook("postStart", command, "let the hold hook wait longer")}
}

func (m *model) wait() *waitCall {
	if m.proxy == nil {
		return nil
	}
	return m.proxy.postStart.wait
}

// dropHook takes the hold hook off a native proxy, whose startup probe does the same.
func (m *model) dropHook() []Remedy {
	if m.sidecar != Native || m.wait() == nil {
		return nil
	}
	e := m.proxyField("lifecycle.postStart", nil)
	e.Remove = true
	return []Remedy{{Text: "no hold hook on a native sidecar: its startup probe does that", Edits: []Edit{e}}}
}

func probeValue(failures int64) map[string]any {
	return map[string]any{
		"httpGet":       map[string]any{"path": "/healthz/ready", "port": int64(policy.PortHealth)},
		"periodSeconds": int64(1), "timeoutSeconds": int64(3), "failureThreshold": failures,
	}
}

// addStartupProbe makes the kubelet wait for a native proxy.
func (m *model) addStartupProbe(o *Options) []Remedy {
	if m.sidecar != Native || m.proxy.startup != nil {
		return nil
	}
	n := max(600, wholeUp(min(o.ProxyReady, 1000*time.Hour))+1)
	r := Remedy{
		Text:  "a startupProbe on the native sidecar (/healthz/ready, port 15021)",
		Edits: []Edit{m.proxyField("startupProbe", probeValue(n))},
	}
	if m.pod.Annotations[policy.AnnotationStatusPort] == "0" { // which is why there are no probes
		r.Text += " and no annotation " + policy.AnnotationStatusPort
		r.Edits = append(r.Edits, dropStatusPort())
	}
	return []Remedy{r}
}

func dropStatusPort() Edit {
	return Edit{Path: []string{"metadata", "annotations", policy.AnnotationStatusPort}, Remove: true}
}

// probeLonger gives the startup probe the time the proxy needs.
func (m *model) probeLonger(o *Options) []Remedy {
	if m.sidecar != Native || m.proxy.startup == nil || o.ProxyReady >= 1000*time.Hour {
		return nil
	}
	n := wholeUp(o.ProxyReady) + 60
	return []Remedy{{
		Text:  fmt.Sprintf("a startupProbe with failureThreshold %d", n),
		Edits: []Edit{m.proxyField("startupProbe", probeValue(n))},
	}}
}

// bypass runs an init container as the proxy's user, whose traffic is not redirected.
func (m *model) bypass(name string) Remedy {
	return Remedy{
		Text: fmt.Sprintf("runAsUser %d on %s (its traffic then passes the proxy by)", policy.ProxyUserID, name),
		Edits: []Edit{{
			Path:  []string{"spec", "initContainers", name, "securityContext", "runAsUser"},
			Value: int64(policy.ProxyUserID),
		}},
	}
}

func (m *model) longerDeadline(o *Options) []Remedy {
	end := time.Minute + o.AppDuration
	for range m.inits {
		end += o.InitDuration.Default
	}
	n := wholeUp(end+min(o.ProxyReady, time.Hour)) + 30
	e := Edit{Path: []string{"spec", "activeDeadlineSeconds"}, Value: n, Job: m.pod.Spec.ActiveDeadlineSeconds == nil}
	return []Remedy{{Text: fmt.Sprintf("activeDeadlineSeconds: %d", n), Edits: []Edit{e}}}
}

// wholeUp rounds up to whole seconds.
func wholeUp(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }
