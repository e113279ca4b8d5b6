// Package profile is the injection config that is built in: what Istio's default installation gives, in words of our own.
//
// It holds four templates (sidecar, gateway, grpc-agent, grpc-simple), the default Helm values and, from the values, the
// fields of the config that Istio's chart writes when it is installed: policy, selectors, default templates, further
// templates and injected annotations. Sources of the rules: istio/istio, charts istio-discovery and base, and
// pkg/kube/inject, 1.30; the recorded results are tested against.
//
// Findings have these codes:
//
//	E_CONFIG_VALUE  a value that the config is made from is of the wrong type or not among the words accepted
package profile

// IstioVersion is the minor version of Istio whose installation the profile describes.
const IstioVersion = "1.30"

// KubeVersion is the version of Kubernetes that is assumed unless one is given: the oldest with native sidecars by default
// (istio/istio, pkg/kube/inject/webhook.go, DetectNativeSidecar, 1.30).
const KubeVersion = "1.33"
