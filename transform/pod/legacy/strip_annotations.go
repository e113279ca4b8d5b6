package legacy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Variables by which Istio's own chart of 1.6 and 1.7 tells the proxy about the pod.
const (
	// envAnnotations is the JSON of the annotations before injection; left out where there were none.
	envAnnotations = "ISTIO_METAJSON_ANNOTATIONS"
	// envPodPorts is always there.
	envPodPorts = "ISTIO_META_POD_PORTS"
)

// chartKeys are the annotations that the charts of 1.6 and 1.7 write by podRedirectAnnot.
func chartKeys() []string {
	return []string{
		policy.AnnotationInterceptionMode,
		policy.AnnotationIncludeOutboundIPs,
		policy.AnnotationExcludeOutboundIPs,
		policy.AnnotationIncludeInbound,
		policy.AnnotationExcludeInbound,
		policy.AnnotationExcludeOutbound,
		policy.AnnotationKubevirtInterfaces,
		policy.AnnotationMultusNetworks,
	}
}

func prometheusKeys() []string {
	return []string{policy.AnnotationPrometheusPath, policy.AnnotationPrometheusPort, policy.AnnotationPrometheusScrape}
}

// annotations takes back what injection wrote over the pod's annotations. Istio's own templates hand the original
// ones to the proxy, so that they are known; with another template only the prometheus ones can be told apart, by
// their path, and the others stay.
func (s *stripping) annotations() {
	original, known := s.originalAnnotations()
	scraped := s.pod.Annotations[policy.AnnotationPrometheusPath] == scrapePath
	for _, key := range prometheusKeys() {
		value, ok := s.pod.Annotations[key]
		if !scraped || !ok {
			continue
		}
		if old, had := original[key]; had {
			s.pod.Annotations[key] = old
			continue
		}
		delete(s.pod.Annotations, key)
		if !known {
			s.note(policy.Info, annotationField(key),
				fmt.Sprintf("%q was written by injection; this format does not keep the pod's own value, if it had one", value))
		}
	}
	for key, value := range s.opts.Annotations {
		if s.pod.Annotations[key] == value {
			s.takeBack(key, original)
		}
	}
	if !known {
		return
	}
	for _, key := range chartKeys() {
		// A chart writes the pod's own value, sometimes with more behind it; anything else was edited since.
		if value, ok := s.pod.Annotations[key]; ok && strings.HasPrefix(value, original[key]) {
			s.takeBack(key, original)
		}
	}
}

// takeBack gives the annotation its value from before injection, or removes it.
func (s *stripping) takeBack(key string, original map[string]string) {
	if old, ok := original[key]; ok {
		s.pod.Annotations[key] = old
		return
	}
	delete(s.pod.Annotations, key)
}

// originalAnnotations gives the annotations from before injection; known is false where the template did not keep
// them.
func (s *stripping) originalAnnotations() (original map[string]string, known bool) {
	if text, ok := s.env(envAnnotations); ok {
		known = json.Unmarshal([]byte(text), &original) == nil
		return original, known
	}
	_, chart := s.env(envPodPorts)
	return nil, chart && slices.Contains(s.status.Containers, policy.ContainerProxy)
}
