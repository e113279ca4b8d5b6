package legacy

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy"
)

// prober is what the agent needs to run an application's probe (istio/istio, pilot/cmd/pilot-agent/status/server.go,
// Prober, 1.7.8).
type prober struct {
	HTTPGet        *corev1.HTTPGetAction `json:"httpGet"`
	TimeoutSeconds int32                 `json:"timeoutSeconds,omitempty"`
}

// probeKind is a probe of a container and the last part of the path that stands for it.
type probeKind struct {
	field string
	path  string
	of    func(*corev1.Container) *corev1.Probe
}

// probeKinds lists the probes that are rewritten; 1.6 leaves startup probes alone.
func probeKinds(startup bool) []probeKind {
	kinds := []probeKind{
		{"readinessProbe", "readyz", func(c *corev1.Container) *corev1.Probe { return c.ReadinessProbe }},
		{"livenessProbe", "livez", func(c *corev1.Container) *corev1.Probe { return c.LivenessProbe }},
	}
	if startup {
		kinds = append(kinds, probeKind{"startupProbe", "startupz", func(c *corev1.Container) *corev1.Probe { return c.StartupProbe }})
	}
	return kinds
}

func probePath(container, kind string) string { return "/app-health/" + container + "/" + kind }

// rewriteProbes sends the kubelet's HTTP probes through the agent, which can speak the mesh's TLS. The originals go
// into the proxy's environment, named ports as numbers. A probe whose port name the container does not have is sent
// to the agent too, which then does not know it: so it was, and a warning says so.
func rewriteProbes(r *run) bool {
	at := indexOf(r.pod.Spec.Containers, policy.ContainerProxy)
	if at < 0 || !r.rewritesProbes() {
		return false
	}
	port := intstr.FromInt32(r.statusPort())
	originals := map[string]prober{}
	for i := range r.pod.Spec.Containers {
		c := &r.pod.Spec.Containers[i]
		if i == at {
			continue
		}
		for _, kind := range probeKinds(r.engine.behaviour.startupProbes) {
			probe := kind.of(c)
			if probe == nil || probe.HTTPGet == nil {
				continue
			}
			path := probePath(c.Name, kind.path)
			if probe.HTTPGet.Path == path {
				continue // an earlier injection's, whose original is lost: the agent must not be sent to itself
			}
			if original, ok := resolved(probe, c.Ports); ok {
				originals[path] = original
			} else {
				r.findings = append(r.findings, policy.Finding{
					Code: CodeProbePort, Severity: policy.Warning, Field: item("spec.containers", r.userIndex(c.Name)) + "." + kind.field,
					Message: fmt.Sprintf("the container has no port %q: the probe will always fail", probe.HTTPGet.Port.StrVal),
					Hint:    "name a port of the container, or give the number",
				})
			}
			probe.HTTPGet.Path, probe.HTTPGet.Port = path, port
			if probe.HTTPGet.Scheme == corev1.URISchemeHTTPS {
				probe.HTTPGet.Scheme = corev1.URISchemeHTTP
			}
		}
	}
	text, _ := json.Marshal(originals)
	proxy := &r.pod.Spec.Containers[at]
	proxy.Env = append(proxy.Env, corev1.EnvVar{Name: policy.EnvAppProbers, Value: string(text)})
	return true
}

// userIndex is the place of a container before istio-proxy was put first.
func (r *run) userIndex(name string) int {
	i := indexOf(r.pod.Spec.Containers, name)
	if i > indexOf(r.pod.Spec.Containers, policy.ContainerProxy) {
		i--
	}
	return i
}

// resolved gives a probe for the agent; ok is false where its port has a name that is none of ports.
func resolved(probe *corev1.Probe, ports []corev1.ContainerPort) (p prober, ok bool) {
	p = prober{HTTPGet: probe.HTTPGet.DeepCopy(), TimeoutSeconds: probe.TimeoutSeconds}
	if p.HTTPGet.Port.Type != intstr.String {
		return p, true
	}
	for _, port := range ports {
		if port.Name == p.HTTPGet.Port.StrVal {
			p.HTTPGet.Port = intstr.FromInt32(port.ContainerPort)
			ok = true // the last of several ports of one name counts, as it did
		}
	}
	return p, ok
}

// rewritesProbes asks the pod's annotation, then the template.
func (r *run) rewritesProbes() bool {
	if text, ok := r.pod.Annotations[policy.AnnotationRewriteProbers]; ok {
		if rewrite, err := strconv.ParseBool(text); err == nil {
			return rewrite
		}
	}
	return r.spec.RewriteAppHTTPProbe
}

// statusPort is the annotation's, a zero included, else the mesh's. A proxy.istio.io/config does not count here.
func (r *run) statusPort() int32 {
	if text, ok := r.pod.Annotations[policy.AnnotationStatusPort]; ok {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			return int32(n)
		}
	}
	return r.engine.mesh.DefaultConfig.StatusPort
}
