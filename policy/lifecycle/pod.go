package lifecycle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// Pod is the (injected) pod or pod template to play, with what its owner adds.
type Pod struct {
	// Kind, Namespace and Name are those of the workload; Kind Job or CronJob makes the pod a Job's.
	Kind, Namespace, Name string
	// Labels and Annotations are those of the pod template.
	Labels, Annotations map[string]string
	Spec                corev1.PodSpec
	// ActiveDeadlineSeconds is the Job's; the pod's own stands in Spec. The smaller one counts.
	ActiveDeadlineSeconds *int64
	// HoldRequested says that mesh config or values ask for holdApplicationUntilProxyStarts. The pod's own annotation
	// is read from Annotations.
	HoldRequested bool
}

// Sidecar says how the proxy runs.
type Sidecar string

// Ways to run the proxy.
const (
	Classic Sidecar = "classic"
	Native  Sidecar = "native"
	None    Sidecar = "none"
)

// role is what a container is to the model.
type role int

const (
	roleInit role = iota // runs to completion
	roleSide             // native sidecar that is not the proxy
	roleProxy
	roleApp
)

// container is what the model reads from a corev1.Container.
type container struct {
	name      string
	role      role
	native    bool
	postStart hook
	preStop   hook
	startup   *corev1.Probe
	bypass    bool // runs with the proxy's user or group, so redirection leaves it alone
}

// model is the pod as one simulation after another sees it; they leave it as it is.
type model struct {
	pod      *Pod
	inits    []*container
	regular  []*container
	proxy    *container
	sidecar  Sidecar
	settings proxySettings
	job      bool
	// cni says that redirection exists from the sandbox on, not only from the end of istio-init.
	cni  bool
	hold bool
	// memory is reused by the traces of one search, see [Sensitivity]; it holds nothing of value.
	memory []ranked
}

// read makes the model of p. Hooks are measured with o, which knows durations the command does not show.
func read(p *Pod, o *Options) *model {
	m := &model{pod: p, sidecar: None, job: p.Kind == "Job" || p.Kind == "CronJob"}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		native := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		m.inits = append(m.inits, &container{name: c.Name, role: initRole(c.Name, native), native: native})
		m.cni = m.cni || c.Name == policy.ContainerValidation
	}
	for i := range p.Spec.Containers {
		name := p.Spec.Containers[i].Name
		r := roleApp
		if name == policy.ContainerProxy {
			r = roleProxy
		}
		m.regular = append(m.regular, &container{name: name, role: r})
	}
	source := m.findProxy()
	m.settings = readProxySettings(p, source, o.Istio)
	m.hold = p.HoldRequested || m.settings.hold
	for i, c := range m.inits {
		c.fill(&p.Spec.InitContainers[i], p, o, m.settings.statusPort)
	}
	for i, c := range m.regular {
		c.fill(&p.Spec.Containers[i], p, o, m.settings.statusPort)
	}
	return m
}

func initRole(name string, native bool) role {
	switch {
	case !native:
		return roleInit
	case name == policy.ContainerProxy:
		return roleProxy
	default:
		return roleSide
	}
}

// findProxy settles which container is the proxy; a native one comes first where a pod holds two.
func (m *model) findProxy() *corev1.Container {
	for i, c := range m.inits {
		if c.role == roleProxy {
			m.proxy, m.sidecar = c, Native
			return &m.pod.Spec.InitContainers[i]
		}
	}
	for i, c := range m.regular {
		if c.role == roleProxy {
			m.proxy, m.sidecar = c, Classic
			return &m.pod.Spec.Containers[i]
		}
	}
	return nil
}

func (c *container) fill(source *corev1.Container, p *Pod, o *Options, statusPort int) {
	if source.Lifecycle != nil {
		c.postStart = readHook(source.Lifecycle.PostStart, c.name+".postStart", o, statusPort)
		c.preStop = readHook(source.Lifecycle.PreStop, c.name+".preStop", o, statusPort)
	}
	c.startup = source.StartupProbe
	user, group := p.Spec.SecurityContext, source.SecurityContext
	c.bypass = user != nil && isProxyID(user.RunAsUser) && (group == nil || group.RunAsUser == nil) ||
		group != nil && (isProxyID(group.RunAsUser) || isProxyID(group.RunAsGroup))
}

func isProxyID(id *int64) bool { return id != nil && *id == policy.ProxyUserID }

// grace is the termination grace period: 30 s by default, at least 1 s (Kubernetes, pkg/kubelet/pod_workers.go, 1.33).
func (m *model) grace() int64 {
	if g := m.pod.Spec.TerminationGracePeriodSeconds; g != nil {
		return max(1, *g)
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

// deadline is the smaller of the pod's and the Job's activeDeadlineSeconds.
func (m *model) deadline() (seconds int64, set bool) {
	for _, d := range []*int64{m.pod.Spec.ActiveDeadlineSeconds, m.pod.ActiveDeadlineSeconds} {
		if d != nil && (!set || *d < seconds) {
			seconds, set = *d, true
		}
	}
	return seconds, set
}

// always tells whether the kubelet starts regular containers again whatever their exit code.
func (m *model) always() bool {
	return m.pod.Spec.RestartPolicy == "" || m.pod.Spec.RestartPolicy == corev1.RestartPolicyAlways
}

func (m *model) never() bool { return m.pod.Spec.RestartPolicy == corev1.RestartPolicyNever }

// apps gives the regular containers that are not the proxy.
func (m *model) apps() []*container {
	return slices.DeleteFunc(slices.Clone(m.regular), func(c *container) bool { return c.role == roleProxy })
}

// sides gives the native sidecars in reverse order, which is the order they stop in.
func (m *model) sides() []*container {
	var out []*container
	for _, c := range slices.Backward(m.inits) {
		if c.native {
			out = append(out, c)
		}
	}
	return out
}

// redirects tells whether the app's traffic goes through the proxy at all.
func (m *model) redirects() bool { return m.sidecar != None && m.settings.mode != "NONE" }
