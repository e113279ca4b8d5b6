package pod

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy"
)

// prober is one original probe or handler, as the agent reads it from ISTIO_KUBE_APP_PROBERS
// (istio/istio, pilot/cmd/pilot-agent/status/server.go, Prober, 1.30).
type prober struct {
	HTTPGet   *corev1.HTTPGetAction   `json:"httpGet,omitempty"`
	TCPSocket *corev1.TCPSocketAction `json:"tcpSocket,omitempty"`
	GRPC      *corev1.GRPCAction      `json:"grpc,omitempty"`
	Timeout   int32                   `json:"timeoutSeconds,omitempty"`
}

// rewriteProbes points the kubelet's probes and hooks at the agent, which calls the application from inside the pod
// (istio/istio, pkg/kube/inject/app_probe.go, 1.30).
func (w *work) rewriteProbes() []policy.Finding {
	proxy := sidecar(&w.pod.Spec)
	if proxy == nil || !w.wantsRewrite() {
		return nil
	}
	meshPort := int32(w.mesh.GetDefaultConfig().GetStatusPort())
	r := rewriter{
		agentPort: w.statusPort(meshPort), meshPort: meshPort, lifecycle: w.opts.Behaviour.RewriteLifecycle,
		probers: map[string]prober{},
	}
	w.pod.Spec.Containers = r.containers(w.pod.Spec.Containers)
	w.pod.Spec.InitContainers = r.containers(w.pod.Spec.InitContainers)
	w.out.Trace.Probes = r.paths
	if len(r.probers) == 0 {
		return nil
	}
	text, err := marshalProbers(r.probers)
	if err != nil {
		return failure("E_PROBE", "spec", err.Error(), "")
	}
	proxy = sidecar(&w.pod.Spec)
	proxy.Env = append(slices.Clip(proxy.Env), corev1.EnvVar{Name: policy.EnvAppProbers, Value: text})
	return nil
}

// marshalProbers prints the map with sorted keys and HTML escapes, as the text in the annotation is compared.
func marshalProbers(m map[string]prober) (string, error) {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(m)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// wantsRewrite asks the annotation, else the values; an annotation that is not a boolean counts as absent.
func (w *work) wantsRewrite() bool {
	if v, ok := w.pod.Annotations[policy.AnnotationRewriteProbers]; ok {
		if on, err := strconv.ParseBool(v); err == nil {
			return on
		}
	}
	return w.values.flag("sidecarInjectorWebhook", "rewriteAppHTTPProbe")
}

// statusPort is the agent's port for this pod. A value that is not a plain number has passed validation only with
// spaces around it, and counts as 0, as in Istio.
func (w *work) statusPort(meshPort int32) int32 {
	v, ok := w.pod.Annotations[policy.AnnotationStatusPort]
	if !ok {
		return meshPort
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return int32(n)
}

// rewriter rewrites the probes of one pod and collects the originals.
type rewriter struct {
	agentPort, meshPort int32
	lifecycle           bool
	probers             map[string]prober
	paths               []string
}

// containers gives a copy of the list with rewritten probes.
func (r *rewriter) containers(cs []corev1.Container) []corev1.Container {
	out := slices.Clone(cs)
	for i := range out {
		c := &out[i]
		if c.Name == policy.ContainerProxy {
			continue
		}
		c.ReadinessProbe = r.probe(c, c.ReadinessProbe, "readyz")
		c.LivenessProbe = r.probe(c, c.LivenessProbe, "livez")
		c.StartupProbe = r.probe(c, c.StartupProbe, "startupz")
		if c.Lifecycle != nil && r.lifecycle {
			hooks := *c.Lifecycle
			hooks.PreStop = r.handler(c, hooks.PreStop, "prestopz")
			hooks.PostStart = r.handler(c, hooks.PostStart, "poststartz")
			c.Lifecycle = &hooks
		}
	}
	return out
}

// probe gives the rewritten probe; exec probes stay.
func (r *rewriter) probe(c *corev1.Container, p *corev1.Probe, suffix string) *corev1.Probe {
	if p == nil || (p.HTTPGet == nil && p.TCPSocket == nil && p.GRPC == nil) {
		return p
	}
	path := "/app-health/" + c.Name + "/" + suffix
	r.record(path, c, prober{HTTPGet: p.HTTPGet, TCPSocket: p.TCPSocket, GRPC: p.GRPC, Timeout: p.TimeoutSeconds})
	out := *p
	out.HTTPGet = r.agentGet(path, p.HTTPGet)
	out.TCPSocket, out.GRPC = nil, nil
	return &out
}

// handler gives the rewritten hook; exec and sleep hooks stay.
func (r *rewriter) handler(c *corev1.Container, h *corev1.LifecycleHandler, suffix string) *corev1.LifecycleHandler {
	if h == nil || (h.HTTPGet == nil && h.TCPSocket == nil) {
		return h
	}
	path := "/app-lifecycle/" + c.Name + "/" + suffix
	r.record(path, c, prober{HTTPGet: h.HTTPGet, TCPSocket: h.TCPSocket})
	out := *h
	out.HTTPGet = r.agentGet(path, h.HTTPGet)
	out.TCPSocket = nil
	return &out
}

// agentGet asks the agent instead; headers and host of an HTTP probe stay, HTTPS becomes HTTP.
func (r *rewriter) agentGet(path string, own *corev1.HTTPGetAction) *corev1.HTTPGetAction {
	out := corev1.HTTPGetAction{}
	if own != nil {
		out = *own
	}
	out.Path = path
	out.Port = intstr.FromInt32(r.agentPort)
	if out.Scheme == corev1.URISchemeHTTPS {
		out.Scheme = corev1.URISchemeHTTP
	}
	return &out
}

// record files the original with its named port resolved. A name that the container does not declare is not recorded,
// nor is a probe of the agent's own port, which an earlier injection left.
func (r *rewriter) record(path string, c *corev1.Container, p prober) {
	r.paths = append(r.paths, path)
	port := intstr.IntOrString{}
	switch {
	case p.HTTPGet != nil:
		get := *p.HTTPGet
		p.HTTPGet, p.TCPSocket, p.GRPC = &get, nil, nil
		if !resolve(&get.Port, c) {
			return
		}
		port = get.Port
	case p.TCPSocket != nil:
		tcp := *p.TCPSocket
		p.TCPSocket, p.GRPC = &tcp, nil
		if !resolve(&tcp.Port, c) {
			return
		}
		port = tcp.Port
	case p.GRPC != nil:
		port = intstr.FromInt32(p.GRPC.Port)
	}
	if port.IntVal == r.meshPort {
		return
	}
	r.probers[path] = p
}

// resolve turns a port name into its number; false where the container has no such port.
func resolve(port *intstr.IntOrString, c *corev1.Container) bool {
	if port.Type == intstr.Int {
		return true
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			*port = intstr.FromInt32(p.ContainerPort)
			return true
		}
	}
	return false
}
