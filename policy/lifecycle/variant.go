package lifecycle

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy"
)

// Variants lists the names that [Variant] takes.
func Variants() []string { return []string{"classic", "native", "hold"} }

// Variant gives p with its proxy run another way, as a new injection with other settings would place it: "classic"
// (last among the containers, nothing waits for it), "hold" (first, with the hold hook) or "native" (init container
// with startup probe and drain hook). A hook of its own stays where injection would keep it. A pod without a proxy is
// an error: it has to be injected first.
func Variant(p Pod, name string) (Pod, error) {
	if read(&p, &Options{}).sidecar == None {
		return p, fmt.Errorf("%s has no %s container: inject it first", p.Name, policy.ContainerProxy)
	}
	p = p.clone()
	switch name {
	case "classic":
		p.HoldRequested = false
		p = p.classic()
		if c := p.container("containers", policy.ContainerProxy); isWait(c.Lifecycle) {
			c.Lifecycle.PostStart = nil
		}
		p.orderProxy(false)
		delete(p.Annotations, policy.AnnotationNativeSidecar)
		p.dropHold()
		return p, nil
	case "native":
		return p.native(), nil
	case "hold":
		return p.classic().held(), nil
	}
	return p, fmt.Errorf("%q is none of classic, native, hold", name)
}

// dropHold takes holdApplicationUntilProxyStarts out of the annotation, so that the variant without it is not blamed.
func (p *Pod) dropHold() {
	if text := p.Annotations[policy.AnnotationProxyConfig]; readConfig(text).hold() {
		p.Annotations[policy.AnnotationProxyConfig] = readConfig(text).with(fieldHold, false).text()
	}
}

// take removes the proxy from both lists and gives it.
func (p *Pod) take() (corev1.Container, bool) {
	for _, list := range []*[]corev1.Container{&p.Spec.InitContainers, &p.Spec.Containers} {
		for i, c := range *list {
			if c.Name == policy.ContainerProxy {
				*list = slices.Delete(*list, i, i+1)
				return c, true
			}
		}
	}
	return corev1.Container{}, false
}

// native puts the proxy among the init containers, after the one that redirects and before the user's.
func (p Pod) native() Pod {
	c, ok := p.take()
	if !ok {
		return p
	}
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	statusPort := p.statusPort(&c)
	if c.StartupProbe == nil && statusPort != 0 {
		c.StartupProbe = startupProbe()
	}
	if isWait(c.Lifecycle) {
		c.Lifecycle.PostStart = nil
	}
	if c.Lifecycle == nil {
		c.Lifecycle = &corev1.Lifecycle{}
	}
	if c.Lifecycle.PreStop == nil {
		c.Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: drainCommand(statusPort)}}
	}
	rest := p.Spec.InitContainers
	own := func(c corev1.Container) bool {
		return c.Name == policy.ContainerInit || c.Name == policy.ContainerValidation
	}
	var list []corev1.Container
	for _, x := range rest {
		if own(x) {
			list = append(list, x)
		}
	}
	list = append(list, c)
	for _, x := range rest {
		if !own(x) {
			list = append(list, x)
		}
	}
	p.Spec.InitContainers = list
	return p
}

func (p *Pod) statusPort(c *corev1.Container) int {
	return readProxySettings(p, c, Version{1, 30}).statusPort
}

// classic puts a native proxy back among the containers, last, and istio-init behind the user's init containers.
func (p Pod) classic() Pod {
	c, ok := p.take()
	if !ok {
		return p
	}
	if c.RestartPolicy == nil { // was classic already: its place may be that of hold
		p.Spec.Containers = append(p.Spec.Containers, c)
		if isWait(c.Lifecycle) {
			p.orderProxy(true)
		}
		return p
	}
	c.RestartPolicy = nil
	if l := c.Lifecycle; l != nil && isDrain(l.PreStop) {
		l.PreStop = nil
		if l.PostStart == nil {
			c.Lifecycle = nil
		}
	}
	p.Spec.Containers = append(p.Spec.Containers, c)
	slices.SortStableFunc(p.Spec.InitContainers, func(a, b corev1.Container) int { return initPlace(a) - initPlace(b) })
	return p
}

func initPlace(c corev1.Container) int {
	switch c.Name {
	case policy.ContainerValidation:
		return -1
	case policy.ContainerInit:
		return 1
	}
	return 0
}

// held puts a classic proxy first and gives it the hold hook, unless it is known that global.proxy.lifecycle takes its
// place: hold was on and the hook is not there.
func (p Pod) held() Pod {
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		if c.Name != policy.ContainerProxy {
			continue
		}
		if c.Lifecycle == nil {
			c.Lifecycle = &corev1.Lifecycle{}
		}
		if c.Lifecycle.PostStart == nil && !p.HoldRequested {
			c.Lifecycle.PostStart = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: waitCommand()}}
		}
		p.orderProxy(true)
		break
	}
	return p
}

func (p *Pod) orderProxy(first bool) {
	c, ok := p.take()
	switch {
	case !ok:
	case first:
		p.Spec.Containers = slices.Insert(p.Spec.Containers, 0, c)
	default:
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
}

func isWait(l *corev1.Lifecycle) bool {
	return l != nil && readHook(l.PostStart, "", &Options{}, 0).wait != nil
}

func isDrain(h *corev1.LifecycleHandler) bool { return readHook(h, "", &Options{}, 0).drain != nil }

func waitCommand() []string { return []string{"pilot-agent", "wait"} }

func drainCommand(statusPort int) []string {
	return []string{"pilot-agent", "request", "--debug-port=" + strconv.Itoa(statusPort), "POST", "drain"}
}

// startupProbe is the one injection gives (Istio, injection-template.yaml and values.yaml, 1.30).
func startupProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/healthz/ready", Port: intstr.FromInt32(policy.PortHealth),
		}},
		PeriodSeconds: 1, TimeoutSeconds: 3, FailureThreshold: 600,
	}
}
