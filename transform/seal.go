package transform

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// codeSeal is the code of all that keeps a pod from being sealed.
const codeSeal = "E_SEAL"

// seals tells whether the injected pod is to be sealed: where it was asked for, and where the pod is sealed already. A
// re-injection that dropped the seal would hand a reviewed pod back to the webhook without a word; uninject breaks it.
func (w *documentWork) seals(v view) bool {
	_, sealed := v.template.Annotations[policy.AnnotationSealed]
	return w.opts.Seal || sealed || w.sealed[manifest.Path(v.place.Path).String()]
}

// sealing gives an injector that seals again the changed templates of this document that were sealed, when it is given
// the document without its sidecars.
func (w *documentWork) sealing() *Injector {
	in := *w.Injector
	in.sealed = map[string]bool{}
	for _, want := range w.want {
		if _, ok := want.before.Annotations[policy.AnnotationSealed]; ok {
			in.sealed[want.path.String()] = true
		}
	}
	return &in
}

// sealed seals an injected template at its place.
func sealed(t *corev1.PodTemplateSpec, shape workload.Shape) *policy.Finding {
	if shape == workload.PodSpec {
		return &policy.Finding{
			Code: codeSeal, Severity: policy.Error,
			Message: "a bare pod spec cannot be sealed: it has no labels of its own",
			Hint:    "opt the namespace out of the webhook, or add a neverInjectSelector to its config",
		}
	}
	return seal(t)
}

// seal marks an injected pod so that Istio's webhook leaves it, and keeps what stood there. With Istio's CNI plugin the
// mark would also keep the redirection away (istio/istio, cni/pkg/plugin/plugin.go, 1.30), so it is refused.
func seal(t *corev1.PodTemplateSpec) *policy.Finding {
	for _, c := range t.Spec.InitContainers {
		if c.Name == policy.ContainerValidation {
			return &policy.Finding{
				Code: codeSeal, Severity: policy.Error, Field: "spec.initContainers",
				Message: "a pod with istio-validation cannot be sealed: Istio's CNI plugin leaves out pods labelled " +
					policy.LabelInject + "=false",
				Hint: "opt the namespace out of the webhook, or add a neverInjectSelector to its config",
			}
		}
	}
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	if t.Annotations == nil {
		t.Annotations = map[string]string{}
	}
	// A seal without a status, from a manifest edited by hand, is not taken out before; its kept value stays.
	if _, kept := t.Annotations[policy.AnnotationSealed]; !kept {
		t.Annotations[policy.AnnotationSealed] = t.Labels[policy.LabelInject]
	}
	t.Labels[policy.LabelInject] = "false"
	return nil
}

// sealable refuses a seal that no webhook would see: that of Istio 1.6 and 1.7 reads the annotation alone.
func (s Setup) sealable(legacy bool) []policy.Finding {
	if !s.Seal || !legacy {
		return nil
	}
	return []policy.Finding{{
		Code: codeSeal, Severity: policy.Error,
		Message: "--seal has no meaning for Istio 1.6 and 1.7: their webhook does not read the label",
		Hint:    "opt the namespace out of the webhook, or set the annotation " + policy.AnnotationInject + " to \"false\"",
	}}
}
