package lint

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// envExitOnZero is a variable of the agent (Istio, pilot/cmd/pilot-agent/options/options.go, 1.30).
const envExitOnZero = "EXIT_ON_ZERO_ACTIVE_CONNECTIONS"

// proxyOf finds the proxy of a pod; native tells that it is a native sidecar.
func proxyOf(t *corev1.PodTemplateSpec) (c *corev1.Container, native bool) {
	for i := range t.Spec.InitContainers {
		c := &t.Spec.InitContainers[i]
		if c.Name == policy.ContainerProxy {
			return c, true
		}
	}
	for i := range t.Spec.Containers {
		if c := &t.Spec.Containers[i]; c.Name == policy.ContainerProxy {
			return c, false
		}
	}
	return nil, false
}

// pod is the pod as it will run: after injection where that happens, else as written.
func (f *Facts) pod() *corev1.PodTemplateSpec {
	if f.After != nil {
		return f.After
	}
	return &f.Template
}

// proxy is the sidecar of the pod as it will run; nil where there is none.
func (f *Facts) proxy() (c *corev1.Container, native bool) { return proxyOf(f.pod()) }

// classic tells that the pod runs with a sidecar among its ordinary containers.
func (f *Facts) classic() bool {
	c, native := f.proxy()
	return c != nil && !native
}

// native tells that the pod runs with a native sidecar.
func (f *Facts) native() bool {
	c, native := f.proxy()
	return c != nil && native
}

// env gives a variable of a container; the last one of a name counts, as in the kubelet.
func env(c *corev1.Container, name string) (string, bool) {
	for _, e := range slices.Backward(c.Env) {
		if e.Name == name {
			return e.Value, true
		}
	}
	return "", false
}

// agentEnv gives a variable of the agent: the container's, else that of proxyMetadata.
func (f *Facts) agentEnv(name string) (string, bool) {
	if c, _ := f.proxy(); c != nil {
		if v, ok := env(c, name); ok {
			return v, true
		}
	}
	v, ok := f.Proxy.GetProxyMetadata()[name]
	return v, ok
}

// exitOnZero tells whether the agent is to leave as soon as no connection is open, whether or not this Istio can
// (Istio, pkg/envoy/agent.go, 1.30).
func (f *Facts) exitOnZero() bool {
	text, _ := f.agentEnv(envExitOnZero)
	on, err := strconv.ParseBool(text)
	return err == nil && on
}

// stop gives what the model of start and stop reads from the pod as it will run, so that rules and simulation agree.
func (f *Facts) stop() *lifecycle.Facts {
	if f.model == nil {
		t := f.pod()
		facts := lifecycle.Inspect(lifecycle.Pod{
			Kind: f.Resource.Kind, Namespace: f.Resource.Namespace, Name: f.Resource.Name,
			Labels: t.Labels, Annotations: t.Annotations, Spec: t.Spec, HoldRequested: f.Hold,
		}, lifecycle.Options{Kubernetes: f.Kubernetes, Istio: f.Istio})
		f.model = &facts
	}
	return f.model
}

// app gives what the model reads from an app's container.
func (f *Facts) app(name string) lifecycle.AppFacts {
	for _, a := range f.stop().Apps {
		if a.Name == name {
			return a
		}
	}
	return lifecycle.AppFacts{}
}

// statusPort is the agent's port: the annotation's, else the effective ProxyConfig's.
func (f *Facts) statusPort() int {
	if port, err := policy.ParsePort(f.Template.Annotations[policy.AnnotationStatusPort]); err == nil {
		return port
	}
	if f.Proxy != nil {
		return int(f.Proxy.GetStatusPort())
	}
	return policy.PortTelemetry
}

// rewrites tells whether the app's probes and hooks go through the agent (Istio, pkg/kube/inject/app_probe.go, 1.30).
func (f *Facts) rewrites() bool {
	if on, err := strconv.ParseBool(f.Template.Annotations[policy.AnnotationRewriteProbers]); err == nil {
		return on
	}
	on, _ := f.value("sidecarInjectorWebhook", "rewriteAppHTTPProbe").(bool)
	return on
}

// mode is the interception mode of the pod.
func (f *Facts) mode() string {
	if m := f.Template.Annotations[policy.AnnotationInterceptionMode]; m != "" {
		return m
	}
	if f.Proxy == nil {
		return "REDIRECT"
	}
	return f.Proxy.GetInterceptionMode().String()
}

// cni tells whether redirection is set up by Istio's CNI plugin.
func (r *Run) cni() bool {
	for _, path := range [][]string{{"pilot", "cni", "enabled"}, {"istio_cni", "enabled"}} {
		if on, _ := r.value(path...).(bool); on {
			return true
		}
	}
	return false
}

// value gives a value of the values file; nil where there is none.
func (r *Run) value(path ...string) any {
	var v any = r.Values
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// container is an app's container and where it stands in the pod template as written.
type container struct {
	*corev1.Container
	list  string
	index int
}

// at names a field of the container.
func (c container) at(path ...string) Where {
	return template(append([]string{"spec", c.list, strconv.Itoa(c.index)}, path...)...)
}

// apps gives the ordinary containers that are not the proxy.
func (f *Facts) apps() []container {
	return userContainers("containers", f.Template.Spec.Containers, append(f.earlier().Containers, policy.ContainerProxy))
}

// inits gives the init containers of the user, native sidecars among them.
func (f *Facts) inits() []container {
	return userContainers("initContainers", f.Template.Spec.InitContainers, append(f.earlier().InitContainers,
		policy.ContainerProxy, policy.ContainerInit, policy.ContainerValidation, policy.ContainerCoreDump))
}

func userContainers(list string, cs []corev1.Container, not []string) []container {
	var out []container
	for i := range cs {
		if !slices.Contains(not, cs[i].Name) {
			out = append(out, container{&cs[i], list, i})
		}
	}
	return out
}

// earlier are the containers that an earlier injection put into the manifest.
func (f *Facts) earlier() Added {
	if !f.AlreadyInjected() {
		return Added{}
	}
	kept := func(list []corev1.Container, name string) bool {
		return slices.ContainsFunc(list, func(c corev1.Container) bool { return c.Name == name })
	}
	var out Added
	for _, c := range f.Template.Spec.Containers {
		if !kept(f.Original.Spec.Containers, c.Name) {
			out.Containers = append(out.Containers, c.Name)
		}
	}
	for _, c := range f.Template.Spec.InitContainers {
		if !kept(f.Original.Spec.InitContainers, c.Name) {
			out.InitContainers = append(out.InitContainers, c.Name)
		}
	}
	return out
}

// isNative tells whether an init container runs beside the apps.
func isNative(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// isJob tells whether the workload's pods are to end by themselves. Other groups have Jobs whose workers run on.
func (f *Facts) isJob() bool {
	return strings.HasPrefix(f.Resource.APIVersion, "batch/") && (f.Resource.Kind == "Job" || f.Resource.Kind == "CronJob")
}
