package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// check refuses results that no cluster would take, and warns of settings that silently take another's place.
func (w *work) check() []policy.Finding {
	spec := &w.pod.Spec
	seen := map[string]string{}
	for _, list := range []struct {
		field string
		cs    []corev1.Container
	}{{"spec.initContainers", spec.InitContainers}, {"spec.containers", spec.Containers}} {
		for i := range list.cs {
			c := &list.cs[i]
			field := fmt.Sprintf("%s[%d].name", list.field, i)
			if earlier, ok := seen[c.Name]; ok {
				return failure("E_DUPNAME", field, fmt.Sprintf("container %q would be there twice, also as %s", c.Name, earlier),
					"rename the pod's own container, or the template's")
			}
			seen[c.Name] = field
			if c.Image == "" && find(w.injectedList(list.field), c.Name) != nil {
				return failure("E_TEMPLATE_IMAGE", field, fmt.Sprintf("the template gives container %q no image", c.Name),
					"set global.hub, global.tag and global.proxy.image in the values file")
			}
		}
	}
	if len(w.injected.Spec.Containers)+len(w.injected.Spec.InitContainers) == 0 {
		w.warn("W_TEMPLATE_NO_CONTAINER", "", "the selected templates render no container for this pod", "")
	}
	w.warnReplacedHook()
	return nil
}

func (w *work) injectedList(field string) []corev1.Container {
	if field == "spec.containers" {
		return w.injected.Spec.Containers
	}
	return w.injected.Spec.InitContainers
}

// warnReplacedHook tells of a values lifecycle that takes the place of the hold hook or the native drain hook: Istio's
// template lets it, and so do we.
func (w *work) warnReplacedHook() {
	own := w.values.at("global", "proxy", "lifecycle")
	m, _ := own.(map[string]any)
	if len(m) == 0 {
		return
	}
	const file = "values: global.proxy.lifecycle"
	native := hasProxy(w.injected.Spec.InitContainers)
	switch {
	case native && m["preStop"] == nil:
		w.warn("W_HOOK_REPLACED", "", file+" takes the place of the native sidecar's drain hook",
			"add preStop: {exec: {command: [pilot-agent, request, --debug-port=15020, POST, drain]}} to it")
	case !native && w.out.Trace.Hold && m["postStart"] == nil:
		w.warn("W_HOOK_REPLACED", "", file+" takes the place of the hold hook, so the application does not wait",
			"add postStart: {exec: {command: [pilot-agent, wait]}} to it")
	}
}
