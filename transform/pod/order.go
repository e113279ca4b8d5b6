package pod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// order puts the injected containers where they belong (istio/istio, pkg/kube/inject/webhook.go, reorderPod, 1.30):
// a classic proxy last, so that kubectl exec keeps its default, or first where the application waits for it; a native
// proxy right behind the redirection, so that the user's init containers are part of the mesh; without one the
// redirection last, so that they still have the network.
func (w *work) order() []policy.Finding {
	hold, by := w.holds()
	w.out.Trace.Hold, w.out.Trace.HoldBy = hold, by
	spec := &w.pod.Spec
	place := last
	if hold {
		place = first
	}
	spec.Containers = place(spec.Containers, policy.ContainerProxy)
	inits := spec.InitContainers
	if hasProxy(inits) {
		inits = first(inits, policy.ContainerCoreDump)
		inits = first(inits, policy.ContainerProxy)
		inits = first(inits, policy.ContainerValidation)
		inits = first(inits, policy.ContainerInit)
	} else {
		inits = first(inits, policy.ContainerValidation)
		inits = last(inits, policy.ContainerInit)
		inits = last(inits, policy.ContainerCoreDump)
	}
	spec.InitContainers = inits
	return nil
}

// holds tells whether the application waits for the proxy, and which layer asks for it.
func (w *work) holds() (bool, string) {
	if w.mesh.GetDefaultConfig().GetHoldApplicationUntilProxyStarts().GetValue() {
		if !w.opts.Mesh.GetDefaultConfig().GetHoldApplicationUntilProxyStarts().GetValue() {
			return true, "annotation"
		}
		return true, "mesh"
	}
	if w.values.flag("global", "proxy", "holdApplicationUntilProxyStarts") {
		return true, "values"
	}
	return false, ""
}

func first(cs []corev1.Container, name string) []corev1.Container { return move(cs, name, true) }
func last(cs []corev1.Container, name string) []corev1.Container  { return move(cs, name, false) }

// move gives the list with the container of that name at one end.
func move(cs []corev1.Container, name string, front bool) []corev1.Container {
	i := slices.IndexFunc(cs, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return cs
	}
	out := make([]corev1.Container, 0, len(cs))
	if front {
		out = append(out, cs[i])
	}
	out = append(append(out, cs[:i]...), cs[i+1:]...)
	if !front {
		out = append(out, cs[i])
	}
	return out
}
