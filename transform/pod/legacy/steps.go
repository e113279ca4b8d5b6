package legacy

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// run is one injection under way. Steps change pod, which is this run's own copy, and spec.
type run struct {
	engine   *Engine
	spec     *Spec
	pod      *corev1.PodTemplateSpec
	findings []policy.Finding
	trace    Trace
}

// step is one part of the work; apply tells whether it changed anything.
type step struct {
	name  string
	apply func(*run) bool
}

// steps is the order of work after rendering (istio/istio, pkg/kube/inject/inject.go, IntoObject, 1.7.8). The rewritten
// probes need the proxy in its place; podRedirectAnnot comes late because it overwrites what is there, and the
// annotations of the configuration last because they overwrite even that.
func steps() []step {
	return []step{
		{"concurrency", concurrency},
		{"prometheus", prometheus},
		{"init-containers", addInitContainers},
		{"containers", addContainers},
		{"volumes", addVolumes},
		{"dns-config", setDNSConfig},
		{"image-pull-secrets", addPullSecrets},
		{"probes", rewriteProbes},
		{"fs-group", setFSGroup},
		{"redirect-annotations", redirect},
		{"status", writeStatus},
		{"injected-annotations", injectedAnnotations},
		{"labels", setLabels},
	}
}
