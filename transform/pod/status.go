package pod

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// Status is the value of sidecar.istio.io/status: the names of what an injection put in
// (istio/istio, pkg/kube/inject/inject.go, SidecarInjectionStatus, 1.30).
type Status struct {
	InitContainers   []string `json:"initContainers"`
	Containers       []string `json:"containers"`
	Volumes          []string `json:"volumes"`
	ImagePullSecrets []string `json:"imagePullSecrets"`
	Revision         string   `json:"revision"`
}

// ParseStatus reads the annotation; ok is false where it is no status.
func ParseStatus(text string) (s Status, ok bool) {
	if text == "" || json.Unmarshal([]byte(text), &s) != nil {
		return Status{}, false
	}
	return s, true
}

func names[T any](list []T, name func(*T) string) []string {
	var out []string
	for i := range list {
		out = append(out, name(&list[i]))
	}
	return out
}

// writeStatus records what the templates put in, the network label and the config's own annotations.
func (w *work) writeStatus() []policy.Finding {
	if network, ok := w.proxy[policy.EnvNetwork]; ok {
		w.label(policy.LabelNetwork, network)
	}
	containerName := func(c *corev1.Container) string { return c.Name }
	spec := &w.injected.Spec
	s := Status{
		InitContainers:   names(spec.InitContainers, containerName),
		Containers:       names(spec.Containers, containerName),
		Volumes:          names(spec.Volumes, func(v *corev1.Volume) string { return v.Name }),
		ImagePullSecrets: names(spec.ImagePullSecrets, func(r *corev1.LocalObjectReference) string { return r.Name }),
		Revision:         cmp.Or(w.revision(), policy.DefaultRevision),
	}
	w.out.Trace.Injected = s
	text, err := json.Marshal(s)
	if err != nil {
		return failure("E_STATUS", "metadata", err.Error(), "")
	}
	w.annotate(policy.AnnotationStatus, string(text))
	for _, k := range slices.Sorted(maps.Keys(w.opts.InjectedAnnotations)) {
		w.annotate(k, w.opts.InjectedAnnotations[k])
	}
	return nil
}
