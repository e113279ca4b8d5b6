package transform

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// seal marks an injected pod so that Istio's webhook leaves it, and keeps what stood there. With Istio's CNI plugin the
// mark would also keep the redirection away (istio/istio, cni/pkg/plugin/plugin.go, 1.30), so it is refused.
func seal(t *corev1.PodTemplateSpec) *policy.Finding {
	for _, c := range t.Spec.InitContainers {
		if c.Name == policy.ContainerValidation {
			return &policy.Finding{
				Code: "E_SEAL", Severity: policy.Error, Field: "spec.initContainers",
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
	t.Annotations[policy.AnnotationSealed] = t.Labels[policy.LabelInject]
	t.Labels[policy.LabelInject] = "false"
	return nil
}
