package legacy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kube-inject/inject/policy"
)

// Status is the JSON of the annotation sidecar.istio.io/status as 1.6 and 1.7 wrote it: the hash of the template's
// text and the names that were injected, in the template's order, null for none.
type Status struct {
	Version          string   `json:"version"`
	InitContainers   []string `json:"initContainers"`
	Containers       []string `json:"containers"`
	Volumes          []string `json:"volumes"`
	ImagePullSecrets []string `json:"imagePullSecrets"`
}

const (
	scrapePath = "/stats/prometheus"
	// tlsModeIstio tells the control plane that the pod speaks mutual TLS.
	tlsModeIstio = "istio"
)

func (r *run) annotate(key, value string) {
	if r.pod.Annotations == nil {
		r.pod.Annotations = map[string]string{}
	}
	r.pod.Annotations[key] = value
}

// prometheus points the scrape annotations at the proxy, which merges the application's metrics. The pod's own are
// overwritten: nothing of this format keeps them.
func prometheus(r *run) bool {
	if !r.engine.behaviour.prometheusMerge || !r.mergesMetrics() {
		return false
	}
	want := map[string]string{
		policy.AnnotationPrometheusPort:   strconv.Itoa(int(r.engine.mesh.DefaultConfig.StatusPort)),
		policy.AnnotationPrometheusPath:   scrapePath,
		policy.AnnotationPrometheusScrape: "true",
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if old, ok := r.pod.Annotations[key]; ok && old != want[key] {
			r.findings = append(r.findings, policy.Finding{
				Code: CodeLost, Severity: policy.Warning, Field: annotationField(key),
				Message: fmt.Sprintf("Istio 1.7 replaces the pod's own %q by %q", old, want[key]),
				Hint:    "set the annotation " + policy.AnnotationMergeMetrics + `: "false" to keep it`,
			})
		}
		r.annotate(key, want[key])
	}
	return true
}

// mergesMetrics asks the pod's annotation, then the mesh; unset means yes.
func (r *run) mergesMetrics() bool {
	if text, ok := r.pod.Annotations[policy.AnnotationMergeMetrics]; ok {
		if merge, err := strconv.ParseBool(text); err == nil {
			return merge
		}
	}
	if merge := r.engine.mesh.EnablePrometheusMerge; merge != nil {
		return merge.GetValue()
	}
	return true
}

// redirectKeys are the annotations that podRedirectAnnot may set (istio/istio, pkg/kube/inject/inject.go,
// annotationRegistry, 1.7.8); other keys are dropped, includeOutboundPorts among them.
func redirectKeys() []string {
	return []string{
		policy.AnnotationMultusNetworks,
		policy.AnnotationMergeMetrics,
		policy.AnnotationProxyConfig,
		policy.AnnotationReadinessFailures,
		policy.AnnotationReadinessDelay,
		policy.AnnotationReadinessPeriod,
		policy.AnnotationBootstrapOverride,
		policy.AnnotationControlPlanePolicy,
		policy.AnnotationDiscoveryAddress,
		policy.AnnotationEnableCoreDump,
		policy.AnnotationInject,
		policy.AnnotationInterceptionMode,
		policy.AnnotationProxyCPU,
		policy.AnnotationProxyImage,
		policy.AnnotationProxyMemory,
		policy.AnnotationRewriteProbers,
		policy.AnnotationStatsPrefixes,
		policy.AnnotationStatsRegexps,
		policy.AnnotationStatsSuffixes,
		policy.AnnotationStatus,
		policy.AnnotationUserVolume,
		policy.AnnotationUserVolumeMount,
		policy.AnnotationStatusPort,
		policy.AnnotationExcludeInbound,
		policy.AnnotationExcludeOutboundIPs,
		policy.AnnotationExcludeOutbound,
		policy.AnnotationIncludeInbound,
		policy.AnnotationIncludeOutboundIPs,
		policy.AnnotationKubevirtInterfaces,
	}
}

// redirect writes podRedirectAnnot, which tells the CNI plugin what istio-init would have been told.
func redirect(r *run) bool {
	for _, key := range redirectKeys() {
		if value := r.spec.PodRedirectAnnot[key]; value != "" {
			r.annotate(key, value)
			r.trace.Annotations = append(r.trace.Annotations, key)
		}
	}
	slices.Sort(r.trace.Annotations)
	return len(r.trace.Annotations) > 0
}

func writeStatus(r *run) bool {
	text, _ := json.Marshal(Status{
		Version: r.engine.hash, InitContainers: r.trace.InitContainers, Containers: r.trace.Containers,
		Volumes: r.trace.Volumes, ImagePullSecrets: r.trace.ImagePullSecrets,
	})
	r.annotate(policy.AnnotationStatus, string(text))
	return true
}

func injectedAnnotations(r *run) bool {
	for key, value := range r.engine.injected {
		r.annotate(key, value)
	}
	return len(r.engine.injected) > 0
}

// setLabels marks the pod as part of the mesh. The canonical name and revision were the webhook's business then.
func setLabels(r *run) bool {
	if r.pod.Labels == nil {
		r.pod.Labels = map[string]string{}
	}
	r.pod.Labels[policy.LabelRevision] = r.engine.revision
	if r.pod.Labels[policy.LabelTLSMode] == "" {
		r.pod.Labels[policy.LabelTLSMode] = tlsModeIstio
	}
	return true
}
