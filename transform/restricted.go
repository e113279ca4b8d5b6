package transform

import (
	"strings"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/workload"
)

// restricted warns where a kind that forbids pod features, as Knative's do, got some by the injection.
func (w *documentWork) restricted(v view, out *pod.Output) {
	if !v.object.Row.Restricted {
		return
	}
	used := workload.RestrictedFeatures(&out.Template.Spec)
	if len(used) == 0 {
		return
	}
	w.warnings(v, []policy.Finding{{
		Code: workload.CodeKind, Severity: policy.Warning, Field: "spec",
		Message: "the injected pod uses what " + v.object.Row.Name() + " takes only with a feature flag: " + strings.Join(used, ", "),
		Hint:    "switch these on in the ConfigMap config-features of knative-serving",
	}})
}
