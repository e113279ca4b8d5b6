package transform

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/transform/pod"
)

// CodeNoVariant is the code of warnings about pods and variants that cannot be compared.
const CodeNoVariant = "W_NO_VARIANT"

// injected gives the pod as the engine injects it, or its variants.
func (l *LifecycleReader) injected(w *documentWork, v view, p LifecyclePod, namespace string) ([]LifecyclePod, *pod.Trace) {
	if !w.fit(v) {
		return nil, nil
	}
	out, fs := w.opts.Engine.Inject(w.input(v, namespace))
	w.warnings(v, fs)
	if out == nil || policy.HasErrors(fs) {
		return nil, nil
	}
	w.warnings(v, out.Warnings)
	if out.Trace.Skipped != "" { // engines of old leave a pod alone that has a proxy, with a status or without
		if p.Sidecar = NoSidecar; hasProxyContainer(&v.template.Spec) {
			p.Sidecar = OwnSidecar
		}
		return l.asItStands(w, v, p), &out.Trace
	}
	plain := l.with(p, &out.Template)
	plain.HoldRequested = p.HoldRequested || out.Trace.Hold
	if len(l.opts.Variants) == 0 {
		return []LifecyclePod{plain}, &out.Trace
	}
	var pods []LifecyclePod
	for _, name := range l.opts.Variants {
		made, ok := l.reinjected(w, v, p, namespace, name)
		if !ok {
			made, ok = plain.rearranged(name)
		}
		if reason := l.impossible(made, name); ok && reason != "" {
			w.warnings(v, []policy.Finding{{
				Code: CodeNoVariant, Severity: policy.Warning, Message: "variant " + name + " is left out: " + reason,
				Hint: "leave it out of --compare, or name a newer --istio-version",
			}})
			continue
		}
		if ok {
			pods = append(pods, made)
		}
	}
	if len(pods) == 0 {
		return []LifecyclePod{plain}, &out.Trace
	}
	return pods, &out.Trace
}

// impossible says why an agent cannot run as a variant wants it; empty where it can.
func (l *LifecycleReader) impossible(p LifecyclePod, variant string) string {
	switch {
	case variant == "native" && l.legacy:
		return "Istio " + p.Istio.String() + " has no native sidecars"
	case variant == "hold" && !p.Istio.AtLeast(7):
		return "Istio " + p.Istio.String() + " cannot hold the application"
	}
	return ""
}

// reinjected makes a variant by injecting the pod with the annotations that ask for it, so that it is what a user
// would get. It fails where annotations have no say: values that set hold, templates of their own, old versions.
func (l *LifecycleReader) reinjected(w *documentWork, v view, p LifecyclePod, namespace, name string) (LifecyclePod, bool) {
	v.template = *v.template.DeepCopy()
	if v.template.Annotations == nil {
		v.template.Annotations = map[string]string{}
	}
	native, hold := name == "native", name == "hold"
	v.template.Annotations[policy.AnnotationNativeSidecar] = map[bool]string{true: "true", false: "false"}[native]
	if !native {
		text, ok := holdSet(v.template.Annotations[policy.AnnotationProxyConfig], hold)
		if !ok {
			return p, false
		}
		v.template.Annotations[policy.AnnotationProxyConfig] = text
	}
	out, fs := w.opts.Engine.Inject(w.input(v, namespace))
	if out == nil || policy.HasErrors(fs) {
		return p, false
	}
	p = l.with(p, &out.Template)
	p.Variant, p.HoldRequested = name, hold
	facts := lifecycle.Inspect(p.Pod, lifecycle.Defaults())
	switch name {
	case "native":
		return p, facts.Sidecar == lifecycle.Native
	case "hold":
		return p, facts.Sidecar == lifecycle.Classic && out.Trace.Hold
	default:
		return p, facts.Sidecar == lifecycle.Classic && !out.Trace.Hold
	}
}

// rearranged makes a variant of a pod that cannot be injected again: the settings that it was injected with are not
// known, so the proxy that is there is moved and its hooks are exchanged.
func (p LifecyclePod) rearranged(name string) (LifecyclePod, bool) {
	made, err := lifecycle.Variant(p.Pod, name)
	if err != nil {
		return p, false
	}
	p.Pod, p.Variant = made, name
	return p, true
}

// holdSet sets holdApplicationUntilProxyStarts in the text of proxy.istio.io/config. Off has to be said too, as the mesh
// may have it on.
func holdSet(text string, on bool) (string, bool) {
	const field = "holdApplicationUntilProxyStarts"
	tree := map[string]any{}
	if yaml.Unmarshal([]byte(text), &tree) != nil {
		return "", false
	}
	if tree == nil {
		tree = map[string]any{}
	}
	if tree[field] == on {
		return text, true
	}
	tree[field] = on
	out, err := yaml.Marshal(tree)
	if err != nil {
		return "", false
	}
	return string(out), true
}

// agentVersion reads the version of pilot-agent from the tag of the proxy's image.
func agentVersion(spec *corev1.PodSpec) (lifecycle.Version, bool) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if list[i].Name == policy.ContainerProxy {
				return imageVersion(list[i].Image)
			}
		}
	}
	return lifecycle.Version{}, false
}

// imageVersion reads a tag such as 1.30.3 or 1.20.8-asm.33; Istio has had no major version but 1.
func imageVersion(image string) (lifecycle.Version, bool) {
	image, _, _ = strings.Cut(image, "@")
	_, tag, ok := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if !ok {
		return lifecycle.Version{}, false
	}
	v, err := lifecycle.ParseVersion(tag)
	return v, err == nil && v.Major == 1
}
