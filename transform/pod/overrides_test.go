package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// TestOverridesWithoutStatus: the annotation counts on a pod that was never injected.
func TestOverridesWithoutStatus(t *testing.T) {
	t.Parallel()
	var tmpl corev1.PodTemplateSpec
	tmpl.Annotations = map[string]string{
		policy.AnnotationOverrides: `{"containers":[{"name":"istio-proxy","env":[{"name":"MINE","value":"1"}],"resources":{}}]}`,
	}
	tmpl.Spec.Containers = []corev1.Container{{Name: "app", Image: "app:1"}}
	out, fs := nativeEngine(false).Inject(Input{Template: tmpl})
	if len(fs) > 0 {
		t.Fatal(fs)
	}
	proxy := find(out.Template.Spec.Containers, policy.ContainerProxy)
	if proxy == nil || len(proxy.Env) == 0 || proxy.Env[0].Name != "MINE" || proxy.Image != "p" {
		t.Errorf("got %+v", proxy)
	}
	if out.Template.Annotations[policy.AnnotationOverrides] != tmpl.Annotations[policy.AnnotationOverrides] {
		t.Errorf("got %s", out.Template.Annotations[policy.AnnotationOverrides])
	}
}
