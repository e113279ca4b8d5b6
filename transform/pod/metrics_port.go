package pod

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kube-inject/inject/policy"
)

// secureMetricsEnv is the proxy metadata that opens a TLS port for merged metrics (Istio 1.31).
const secureMetricsEnv = "ENVOY_SECURE_MERGED_METRICS_PORT"

// checkScrapePort refuses a scrape port that the agent could not scrape: no port, or one of Istio's own
// (istio/istio, pkg/kube/inject/webhook.go, 1.31). The agent's port itself means that the user has merged by hand.
func (w *work) checkScrapePort(own scrape) []policy.Finding {
	field := "metadata.annotations[" + policy.AnnotationPrometheusPort + "]"
	agent := int(w.mesh.GetDefaultConfig().GetStatusPort())
	if own.Port == "" || own.Port == strconv.Itoa(agent) {
		return nil
	}
	n, err := strconv.Atoi(own.Port)
	if err != nil || n < 1 || n > 65535 {
		return failure("E_ANNOTATION", field, fmt.Sprintf("%q is not a port", clip(own.Port)), "give a number from 1 to 65535")
	}
	reserved := []int{
		policy.PortProxyAdmin, policy.PortOutbound, policy.PortDebug, policy.PortInbound, policy.PortTunnel,
		policy.PortTelemetry, policy.PortHealth, policy.PortDNS, policy.PortPrometheus,
	}
	if slices.Contains(reserved, n) {
		return failure("E_ANNOTATION", field, fmt.Sprintf("port %d is reserved for Istio and cannot be scraped", n),
			"give the port of the application's own metrics")
	}
	return nil
}

// securePort tells Prometheus of the port that serves merged metrics over TLS.
func (w *work) securePort() {
	if !w.opts.Behaviour.ScrapeTargets {
		return
	}
	proxy := sidecar(&w.pod.Spec)
	if proxy == nil {
		return
	}
	for _, e := range proxy.Env {
		if e.Name == secureMetricsEnv && e.Value != "" {
			w.annotate(policy.AnnotationSecurePort, e.Value)
		}
	}
}
