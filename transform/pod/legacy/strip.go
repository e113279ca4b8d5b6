package legacy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// Stripping says what [Strip] cannot see in the pod.
type Stripping struct {
	// Annotations are those of the injection config's injectedAnnotations.
	Annotations map[string]string
	// KeepFSGroup: the injection did not set the pod's fsGroup (the mesh's sdsUdsPath was empty).
	KeepFSGroup bool
}

// HasStatus tells whether a pod carries the status annotation of this format: it has a version, and none of the
// revision that later releases write in its place.
func HasStatus(pod *corev1.PodTemplateSpec) bool {
	version, revision := statusKeys(pod)
	return version && !revision
}

func statusKeys(pod *corev1.PodTemplateSpec) (version, revision bool) {
	var status map[string]json.RawMessage
	if json.Unmarshal([]byte(pod.Annotations[policy.AnnotationStatus]), &status) != nil {
		return false, false
	}
	_, version = status["version"]
	_, revision = status["revision"]
	return version, revision
}

// Strip takes an injection of Istio 1.6 or 1.7 out of a pod: what the status annotation names, the rewritten probes,
// the labels, the group and the annotations that injection wrote. A pod without a status annotation is only copied;
// one whose status cannot be read likewise, with a warning. The pod given is not changed.
//
// This format keeps little of what it overwrites. Findings tell what may differ from the pod before injection:
// warnings where something is known to be lost, notices where it cannot be known.
func Strip(pod corev1.PodTemplateSpec, opts Stripping) (corev1.PodTemplateSpec, []policy.Finding) {
	out := *pod.DeepCopy()
	text, ok := out.Annotations[policy.AnnotationStatus]
	if !ok {
		return out, nil
	}
	var status Status
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		return out, []policy.Finding{{
			Code: CodeStatus, Severity: policy.Warning, Field: annotationField(policy.AnnotationStatus),
			Message: "the status annotation cannot be read; the pod counts as not injected",
		}}
	}
	s := stripping{pod: &out, status: status, opts: opts}
	_, later := statusKeys(&out)
	delete(out.Annotations, policy.AnnotationStatus)
	if s.present() {
		if later {
			s.note(policy.Warning, annotationField(policy.AnnotationStatus),
				"a newer Istio injected this pod; only what its status names is taken out")
		}
		s.probes()
		s.annotations()
		s.labels()
		s.fsGroup()
		s.lists()
		if out.Spec.DNSConfig != nil {
			s.note(policy.Info, "spec.dnsConfig", "it stays: whether injection brought it is not known")
		}
	}
	if len(out.Annotations) == 0 {
		out.Annotations = nil
	}
	return out, s.notes
}

// stripping is one pod under work.
type stripping struct {
	pod    *corev1.PodTemplateSpec
	status Status
	opts   Stripping
	notes  []policy.Finding
}

// present tells whether anything that the status names is there: the annotation alone may have been copied.
func (s *stripping) present() bool {
	named := func(names []string) func(corev1.Container) bool {
		return func(c corev1.Container) bool { return slices.Contains(names, c.Name) }
	}
	return slices.ContainsFunc(s.pod.Spec.Containers, named(s.status.Containers)) ||
		slices.ContainsFunc(s.pod.Spec.InitContainers, named(s.status.InitContainers)) ||
		slices.ContainsFunc(s.pod.Spec.Volumes, func(v corev1.Volume) bool { return slices.Contains(s.status.Volumes, v.Name) })
}

// lists removes what the status names. A volume goes even where a container of the user's mounts it: names cannot
// clash at injection, so it was injected, and the mount was there before it. Of equal pull secrets the last goes.
func (s *stripping) lists() {
	spec := &s.pod.Spec
	without := func(names []string) func(corev1.Container) bool {
		return func(c corev1.Container) bool { return slices.Contains(names, c.Name) }
	}
	spec.Containers = orNil(slices.DeleteFunc(spec.Containers, without(s.status.Containers)))
	spec.InitContainers = orNil(slices.DeleteFunc(spec.InitContainers, without(s.status.InitContainers)))
	spec.Volumes = orNil(slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return slices.Contains(s.status.Volumes, v.Name) }))
	for _, name := range s.status.ImagePullSecrets {
		for i := len(spec.ImagePullSecrets) - 1; i >= 0; i-- {
			if spec.ImagePullSecrets[i].Name == name {
				spec.ImagePullSecrets = slices.Delete(spec.ImagePullSecrets, i, i+1)
				break
			}
		}
	}
	spec.ImagePullSecrets = orNil(spec.ImagePullSecrets)
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func (s *stripping) labels() {
	delete(s.pod.Labels, policy.LabelRevision)
	if s.pod.Labels[policy.LabelTLSMode] == tlsModeIstio {
		delete(s.pod.Labels, policy.LabelTLSMode)
	}
	if len(s.pod.Labels) == 0 {
		s.pod.Labels = nil
	}
}

func (s *stripping) fsGroup() {
	sc := s.pod.Spec.SecurityContext
	if s.opts.KeepFSGroup || sc == nil || sc.FSGroup == nil || *sc.FSGroup != proxyGroup {
		return
	}
	sc.FSGroup = nil
	if reflect.ValueOf(*sc).IsZero() {
		s.pod.Spec.SecurityContext = nil
	}
	s.note(policy.Info, "spec.securityContext.fsGroup", "a group that the pod had before injection is not known")
}

func (s *stripping) note(severity policy.Severity, field, message string) {
	s.notes = append(s.notes, policy.Finding{Code: CodeLost, Severity: severity, Field: field, Message: message})
}

// probes puts the application's probes back. The environment keeps a named port as its number.
func (s *stripping) probes() {
	var originals map[string]prober
	if text, ok := s.env(policy.EnvAppProbers); ok && json.Unmarshal([]byte(text), &originals) != nil {
		originals = nil
	}
	for i := range s.pod.Spec.Containers {
		c := &s.pod.Spec.Containers[i]
		if slices.Contains(s.status.Containers, c.Name) {
			continue
		}
		for _, kind := range probeKinds(true) {
			probe := kind.of(c)
			path := probePath(c.Name, kind.path)
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path {
				continue
			}
			if original, ok := originals[path]; ok && original.HTTPGet != nil {
				probe.HTTPGet = original.HTTPGet
				continue
			}
			s.note(policy.Warning, item("spec.containers", i)+"."+kind.field,
				fmt.Sprintf("the probe from before injection is not in %s of istio-proxy; it stays as it is", policy.EnvAppProbers))
		}
	}
}

// env reads an environment variable of the injected istio-proxy.
func (s *stripping) env(name string) (string, bool) {
	i := indexOf(s.pod.Spec.Containers, policy.ContainerProxy)
	if i < 0 {
		return "", false
	}
	for _, e := range s.pod.Spec.Containers[i].Env {
		if e.Name == name {
			return e.Value, true
		}
	}
	return "", false
}
