package transform

import "strings"

// transportPrefixes are the prefixes of annotations that other tools put on objects while they hand them on and take
// away behind us: kustomize and kyaml (kustomize, api/internal/utils/annotations.go and kyaml/kio/kioutil, 5.8), kpt,
// and Helm 4 (helm/helm, pkg/postrenderer, 4.3).
func transportPrefixes() [6]string {
	return [...]string{
		"internal.config.kubernetes.io/", "config.kubernetes.io/", "config.k8s.io/", "kustomize.config.k8s.io/",
		"alpha.config.kubernetes.io/", "postrenderer.helm.sh/",
	}
}

// isTransport tells whether an annotation belongs to the tools that hand the object on.
func isTransport(key string) bool {
	for _, p := range transportPrefixes() {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// hideTransport takes those annotations out of a map of a bare Pod, whose metadata is the pod template's too. What is
// in neither the pod before nor the pod after stays in the bytes and reaches no template.
func hideTransport(annotations map[string]string) {
	for key := range annotations {
		if isTransport(key) {
			delete(annotations, key)
		}
	}
}
