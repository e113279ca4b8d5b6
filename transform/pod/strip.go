package pod

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// CodeNotRestored is the code of warnings about what stripping could not put back.
const CodeNotRestored = "W_NOT_RESTORED"

// Stripped is a pod template without an earlier injection.
type Stripped struct {
	Template corev1.PodTemplateSpec
	// Stripped is false where the template carried no status, and Template is then the one given.
	Stripped bool
}

// Strip takes out what an earlier injection put in, by what the pod itself says: the status names containers, volumes
// and pull secrets, ISTIO_KUBE_APP_PROBERS holds the original probes, ISTIO_PROMETHEUS_ANNOTATIONS the scrape
// annotations, proxy.istio.io/overrides the user's own settings of injected containers. Metadata goes by one table, each
// key only where its value is what the templates give. Warnings say what could not be put back. The template is only
// read.
//
// Istio strips only what its templates see, and merges over the injected pod (pkg/kube/inject/webhook.go, 1.30); we
// strip for both, so that injecting an injected pod equals injecting the original.
func Strip(template corev1.PodTemplateSpec) (Stripped, []policy.Finding) {
	text, ok := template.Annotations[policy.AnnotationStatus]
	if !ok {
		return Stripped{Template: template}, nil
	}
	status, ok := ParseStatus(text)
	if !ok {
		return Stripped{Template: template}, []policy.Finding{{
			Code: "W_STATUS", Severity: policy.Warning, Field: "metadata.annotations[" + policy.AnnotationStatus + "]",
			Message: "this is no injection status, so nothing is taken out; it will be overwritten",
			Hint:    "remove the annotation",
		}}
	}
	s := stripper{pod: template.DeepCopy(), status: status}
	s.run()
	return Stripped{Template: *s.pod, Stripped: true}, s.notes
}

// WithOverrides gives the template with the containers that proxy.istio.io/overrides describes, where it does not have
// them: the annotation counts on a pod that was never injected too (istio/istio, pkg/kube/inject/webhook.go,
// reinsertOverrides, 1.30). The template is only read.
func WithOverrides(template corev1.PodTemplateSpec) (corev1.PodTemplateSpec, []policy.Finding) {
	if _, ok := template.Annotations[policy.AnnotationOverrides]; !ok {
		return template, nil
	}
	s := stripper{pod: template.DeepCopy()}
	s.restoreOverrides()
	return *s.pod, s.notes
}

type stripper struct {
	pod    *corev1.PodTemplateSpec
	status Status
	proxy  corev1.Container
	notes  []policy.Finding
}

func (s *stripper) run() {
	if p := sidecar(&s.pod.Spec); p != nil {
		s.proxy = *p
	}
	s.restoreMetrics()
	s.dropMetadata()
	spec := &s.pod.Spec
	spec.Containers = without(spec.Containers, s.status.Containers, containerName)
	spec.InitContainers = without(spec.InitContainers, s.status.InitContainers, containerName)
	s.restoreProbes()
	s.restoreOverrides()
	s.dropVolumes()
	spec.ImagePullSecrets = without(spec.ImagePullSecrets, s.status.ImagePullSecrets,
		func(r corev1.LocalObjectReference) string { return r.Name })
	delete(s.pod.Annotations, policy.AnnotationStatus)
	s.unseal()
}

func containerName(c corev1.Container) string { return c.Name }

// without gives the list without the elements of these names; nil rather than an empty list.
func without[T any](list []T, drop []string, name func(T) string) []T {
	var out []T
	for _, e := range list {
		if !slices.Contains(drop, name(e)) {
			out = append(out, e)
		}
	}
	return out
}

func (s *stripper) note(field, message string) {
	s.notes = append(s.notes, policy.Finding{
		Code: CodeNotRestored, Severity: policy.Warning, Field: field, Message: message,
		Hint: "compare with the manifest as it was before injection",
	})
}

func (s *stripper) env(name string) string {
	for _, e := range s.proxy.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// agentPort is the status port that the proxy was injected with.
func (s *stripper) agentPort() string {
	var pc struct{ StatusPort int }
	_ = json.Unmarshal([]byte(s.env("PROXY_CONFIG")), &pc)
	return strconv.Itoa(cmp.Or(pc.StatusPort, policy.PortTelemetry))
}

// restoreMetrics puts the scrape annotations back that point to the application.
func (s *stripper) restoreMetrics() {
	a := s.pod.Annotations
	if a[policy.AnnotationPrometheusPort] != s.agentPort() || a[policy.AnnotationPrometheusPath] != agentMetricsPath {
		return
	}
	delete(a, policy.AnnotationPrometheusScrape)
	delete(a, policy.AnnotationPrometheusPort)
	delete(a, policy.AnnotationPrometheusPath)
	delete(a, policy.AnnotationSecurePort)
	text := s.env(policy.EnvPrometheusAnnotations)
	var own scrape
	if text == "" {
		return
	}
	if json.Unmarshal([]byte(text), &own) != nil {
		s.note("metadata.annotations", policy.EnvPrometheusAnnotations+" cannot be read, so the scrape annotations are lost")
		return
	}
	if len(own.Targets) > 0 && own.Port == own.Targets[0].Port && own.Path == own.Targets[0].Path {
		own.Port, own.Path = "", ""
	}
	for key, v := range map[string]string{
		policy.AnnotationPrometheusScrape: own.Scrape, policy.AnnotationPrometheusPath: own.Path,
		policy.AnnotationPrometheusPort: own.Port, policy.AnnotationScrapeTargets: own.targetsText(),
	} {
		if v != "" {
			a[key] = v
		}
	}
}

// metadataRule is a key that templates add, and the value they give it.
type metadataRule struct {
	key  string
	want string
}

// dropMetadata takes out the labels and annotations whose value is the one that the templates give. A value of the
// user's own that equals it comes back with the next injection; uninject keeps such cases in its restore record.
func (s *stripper) dropMetadata() {
	labels, annotations := s.pod.Labels, s.pod.Annotations
	firstContainer := ""
	for _, c := range s.pod.Spec.Containers {
		if c.Name != policy.ContainerProxy {
			firstContainer = c.Name
			break
		}
	}
	drop(labels, []metadataRule{
		{policy.LabelTLSMode, "istio"},
		{policy.LabelTunnel, "http"},
		{policy.LabelCanonicalRevision, cmp.Or(labels["app.kubernetes.io/version"], labels["version"], "latest")},
		{policy.LabelNetwork, cmp.Or(s.env(policy.EnvNetwork), "\x00")},
	})
	name := cmp.Or(labels["app.kubernetes.io/name"], labels["app"], s.env("ISTIO_META_WORKLOAD_NAME"))
	drop(labels, []metadataRule{{policy.LabelCanonicalName, shortName(name)}, {policy.LabelCanonicalName, name}})
	drop(annotations, []metadataRule{
		{policy.AnnotationRevision, cmp.Or(s.status.Revision, policy.DefaultRevision)},
		{policy.AnnotationDefaultContainer, firstContainer},
		{policy.AnnotationDefaultLogsContainer, firstContainer},
	})
	if slices.Contains(s.status.InitContainers, policy.ContainerValidation) {
		drop(annotations, []metadataRule{
			{policy.AnnotationInterceptionMode, "REDIRECT"},
			{policy.AnnotationIncludeOutboundIPs, "*"},
			{policy.AnnotationIncludeInbound, "*"},
			{policy.AnnotationExcludeInbound, s.agentPort()},
			{policy.AnnotationExcludeOutboundIPs, ""},
			{policy.AnnotationExcludeOutbound, ""},
			{policy.AnnotationIncludeOutbound, ""},
		})
	}
}

// shortName is how templates fit a name into a label.
func shortName(name string) string {
	if len(name) > 63 {
		name = name[:63]
	}
	return strings.TrimRight(name, "-._")
}

func drop(m map[string]string, rules []metadataRule) {
	for _, r := range rules {
		if v, ok := m[r.key]; ok && v == r.want {
			delete(m, r.key)
		}
	}
}

// restoreProbes puts the original probes and handlers back.
func (s *stripper) restoreProbes() {
	probers := map[string]prober{}
	if text := s.env(policy.EnvAppProbers); text != "" {
		if json.Unmarshal([]byte(text), &probers) != nil {
			s.note("spec.containers", policy.EnvAppProbers+" cannot be read, so the probes still ask the agent")
		}
	}
	for _, list := range []*[]corev1.Container{&s.pod.Spec.Containers, &s.pod.Spec.InitContainers} {
		for i := range *list {
			s.restoreContainer(&(*list)[i], probers)
		}
	}
}

// noteNamed tells that a probe may have asked by the name of its port, of which only the number is recorded.
func (s *stripper) noteNamed(c *corev1.Container, own prober) {
	port := 0
	switch {
	case own.HTTPGet != nil:
		port = own.HTTPGet.Port.IntValue()
	case own.TCPSocket != nil:
		port = own.TCPSocket.Port.IntValue()
	}
	for _, p := range c.Ports {
		if p.Name != "" && int(p.ContainerPort) == port {
			s.notes = append(s.notes, policy.Finding{
				Code: "I_PORT_NAME", Severity: policy.Info, Field: "spec.containers",
				Message: fmt.Sprintf("container %s: a probe of port %d may have had its name, %s", c.Name, port, p.Name),
			})
		}
	}
}

func (s *stripper) restoreContainer(c *corev1.Container, probers map[string]prober) {
	for _, p := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
		if p == nil || p.HTTPGet == nil || !strings.HasPrefix(p.HTTPGet.Path, "/app-health/") {
			continue
		}
		if own, ok := probers[p.HTTPGet.Path]; ok {
			s.noteNamed(c, own)
			p.ProbeHandler = corev1.ProbeHandler{HTTPGet: own.HTTPGet, TCPSocket: own.TCPSocket, GRPC: own.GRPC}
		} else {
			s.note("spec.containers", fmt.Sprintf("the probe %s of container %s is not recorded", p.HTTPGet.Path, c.Name))
		}
	}
	if c.Lifecycle == nil {
		return
	}
	for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PreStop, c.Lifecycle.PostStart} {
		if h == nil || h.HTTPGet == nil || !strings.HasPrefix(h.HTTPGet.Path, "/app-lifecycle/") {
			continue
		}
		if own, ok := probers[h.HTTPGet.Path]; ok {
			h.HTTPGet, h.TCPSocket = own.HTTPGet, own.TCPSocket
		} else {
			s.note("spec.containers", fmt.Sprintf("the handler %s of container %s is not recorded", h.HTTPGet.Path, c.Name))
		}
	}
}

// restoreOverrides gives the user's own settings of injected containers a container again.
func (s *stripper) restoreOverrides() {
	text, ok := s.pod.Annotations[policy.AnnotationOverrides]
	if !ok {
		return
	}
	var own overrides
	if json.Unmarshal([]byte(text), &own) != nil {
		s.note("metadata.annotations["+policy.AnnotationOverrides+"]", "the overrides cannot be read and stay as they are")
		return
	}
	delete(s.pod.Annotations, policy.AnnotationOverrides)
	spec := &s.pod.Spec
	put := func(c corev1.Container, list *[]corev1.Container) {
		if find(*list, c.Name) == nil {
			c.Image = cmp.Or(c.Image, policy.ImageAuto)
			*list = append(*list, c)
		}
	}
	for _, c := range own.Containers {
		put(c, &spec.Containers)
	}
	for _, c := range own.InitContainers {
		if c.Name == policy.ContainerProxy && c.RestartPolicy == nil {
			put(c, &spec.Containers)
		} else {
			put(c, &spec.InitContainers)
		}
	}
}

// dropVolumes takes out the listed volumes that no container mounts any more.
func (s *stripper) dropVolumes() {
	mounted := map[string]bool{}
	for _, list := range [][]corev1.Container{s.pod.Spec.Containers, s.pod.Spec.InitContainers} {
		for _, c := range list {
			for _, m := range c.VolumeMounts {
				mounted[m.Name] = true
			}
		}
	}
	var gone []string
	for _, v := range s.status.Volumes {
		if !mounted[v] {
			gone = append(gone, v)
		}
	}
	s.pod.Spec.Volumes = without(s.pod.Spec.Volumes, gone, func(v corev1.Volume) string { return v.Name })
}

// unseal puts the inject label back as it was before the pod was sealed.
func (s *stripper) unseal() {
	former, ok := s.pod.Annotations[policy.AnnotationSealed]
	if !ok {
		return
	}
	delete(s.pod.Annotations, policy.AnnotationSealed)
	delete(s.pod.Labels, policy.LabelInject)
	if former != "" {
		s.pod.Labels = maps.Clone(s.pod.Labels)
		if s.pod.Labels == nil {
			s.pod.Labels = map[string]string{}
		}
		s.pod.Labels[policy.LabelInject] = former
	}
}
