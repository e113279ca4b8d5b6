package pod

import (
	"encoding/json"
	"strconv"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// overrides is the value of proxy.istio.io/overrides: the user's own settings of injected containers.
type overrides struct {
	Containers     []corev1.Container `json:"containers,omitempty"`
	InitContainers []corev1.Container `json:"initContainers,omitempty"`
}

// reapplyOverrides lays the user's own settings of injected containers over the result, and records them, so that a
// later injection can put them back (istio/istio, pkg/kube/inject/webhook.go, reapplyOverwrittenContainers, 1.30).
func (w *work) reapplyOverrides() []policy.Finding {
	var kept overrides
	for i := range w.injected.Spec.Containers {
		name := w.injected.Spec.Containers[i].Name
		if own := find(w.original.Spec.Containers, name); own != nil {
			w.override(&w.pod.Spec.Containers, own, &kept.Containers)
		}
	}
	for i := range w.injected.Spec.InitContainers {
		name := w.injected.Spec.InitContainers[i].Name
		own := find(w.original.Spec.Containers, name)
		if own == nil {
			own = find(w.original.Spec.InitContainers, name)
		}
		if own != nil {
			w.override(&w.pod.Spec.InitContainers, own, &kept.InitContainers)
		}
	}
	if len(kept.Containers)+len(kept.InitContainers) == 0 {
		return nil
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return failure("E_OVERRIDES", "spec", "the pod's own settings of injected containers cannot be recorded: "+err.Error(), "")
	}
	w.annotate(policy.AnnotationOverrides, string(text))
	return nil
}

// override merges own over the container of its name in list and files it in kept.
func (w *work) override(list *[]corev1.Container, own *corev1.Container, kept *[]corev1.Container) {
	overlay := *own
	if overlay.Image == policy.ImageAuto {
		overlay.Image = ""
	}
	*kept = append(*kept, overlay)
	w.out.Trace.Overridden = append(w.out.Trace.Overridden, own.Name)
	if target := find(*list, own.Name); target != nil {
		// What is encoded came out of the same types, so there is nothing that could be unknown.
		_ = w.schema.Merge(target, w.schema.Encode(&overlay, nil))
	}
}

// adjustProxyUser lets the init container follow the user that the pod gives istio-proxy: its traffic is the one that
// is not redirected (istio/istio, pkg/kube/inject/webhook.go, adjustInitContainerUser, 1.30).
func (w *work) adjustProxyUser() []policy.Finding {
	own := sidecar(&w.original.Spec)
	if own == nil || own.SecurityContext == nil {
		return nil
	}
	user, group := own.SecurityContext.RunAsUser, own.SecurityContext.RunAsGroup
	init := find(w.pod.Spec.InitContainers, policy.ContainerInit)
	if init == nil {
		init = find(w.pod.Spec.InitContainers, policy.ContainerValidation)
	}
	if init == nil || (user == nil && group == nil) {
		return nil
	}
	switch {
	case w.transparent():
		if proxy := sidecar(&w.pod.Spec); user != nil && proxy != nil && proxy.SecurityContext != nil {
			root := int64(0)
			proxy.SecurityContext.RunAsUser = &root
		}
	case init.Name == policy.ContainerValidation:
		if init.SecurityContext == nil {
			init.SecurityContext = &corev1.SecurityContext{}
		}
		if user != nil {
			init.SecurityContext.RunAsUser = user
		}
		if group != nil {
			init.SecurityContext.RunAsGroup = group
		}
	}
	if user != nil && *user != 0 {
		for i := 0; i+1 < len(init.Args); i++ {
			if init.Args[i] == "-u" {
				init.Args[i+1] = strconv.FormatInt(*user, 10)
				break
			}
		}
	}
	return nil
}

// transparent tells whether the pod's traffic is redirected by TPROXY.
func (w *work) transparent() bool {
	return w.mesh.GetDefaultConfig().GetInterceptionMode() == meshconfig.ProxyConfig_TPROXY ||
		w.pod.Annotations[policy.AnnotationInterceptionMode] == "TPROXY"
}

// sidecar gives istio-proxy from either list.
func sidecar(spec *corev1.PodSpec) *corev1.Container {
	if c := find(spec.Containers, policy.ContainerProxy); c != nil {
		return c
	}
	return find(spec.InitContainers, policy.ContainerProxy)
}

func (w *work) annotate(key, text string) {
	if w.pod.Annotations == nil {
		w.pod.Annotations = map[string]string{}
	}
	w.pod.Annotations[key] = text
}

func (w *work) label(key, text string) {
	if w.pod.Labels == nil {
		w.pod.Labels = map[string]string{}
	}
	w.pod.Labels[key] = text
}
