package lint

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

func resourceName(field string) corev1.ResourceName { return corev1.ResourceName(field) }

// reserved gives the ports of the proxy and what each is for (Istio documentation, "Ports used by Istio", 1.30).
func (f *Facts) reserved() map[int]string {
	ports := map[int]string{
		policy.PortProxyAdmin: "its admin interface", policy.PortOutbound: "outbound traffic",
		policy.PortDebug: "its debug interface", policy.PortInbound: "inbound traffic",
		policy.PortTunnel: "the tunnel (HBONE)", policy.PortTelemetry: "the agent",
		policy.PortHealth: "health checks", policy.PortPrometheus: "its metrics",
	}
	if f.Proxy != nil {
		if p := int(f.Proxy.GetProxyAdminPort()); p > 0 {
			ports[p] = "its admin interface"
		}
	}
	if p := f.statusPort(); p > 0 {
		ports[p] = "the agent"
	}
	if f.Mesh != nil {
		if p := int(f.Mesh.GetProxyListenPort()); p > 0 {
			ports[p] = "outbound traffic"
		}
	}
	return ports
}

func reservedPort() Rule {
	return Rule{
		ID: "reserved-port", Category: Ports, Severity: policy.Error, Link: linkRequirements,
		Summary: "a container uses a port of the proxy",
		Why:     "All containers of a pod share one network, so one of the two cannot listen, or gets the other's connections.",
		Remedy:  "let the application listen on another port",
		Bad:     "containers:\n- name: web\n  ports:\n  - containerPort: 15021",
		Good:    "containers:\n- name: web\n  ports:\n  - containerPort: 8080",
		check: func(f *Facts, r *Report) {
			ports := f.reserved()
			dns, _ := f.agentEnv("ISTIO_META_DNS_CAPTURE")
			captures, _ := strconv.ParseBool(dns)
			for _, c := range append(f.apps(), f.inits()...) {
				for i, p := range c.Ports {
					for _, side := range []struct {
						field string
						port  int32
					}{{"containerPort", p.ContainerPort}, {"hostPort", p.HostPort}} {
						use, taken := ports[int(side.port)]
						level := r.rule.Severity
						if side.port == policy.PortDNS {
							use, taken = "DNS", true
							if !captures {
								level = policy.Warning
							}
						}
						if taken && side.port != 0 && (side.field == "containerPort" || side.port != p.ContainerPort) {
							r.at(c.at("ports", strconv.Itoa(i), side.field),
								"the proxy uses port %d for %s; container %s wants it too", side.port, use, c.Name).level(level)
						}
					}
				}
			}
		},
	}
}

func prometheusPortLoop() Rule {
	return Rule{
		ID: "prometheus-port-loop", Category: Ports, Severity: policy.Warning, Link: linkPrometheus,
		Summary: "prometheus.io/port names the agent's port",
		Why: "The agent merges the application's metrics with its own by scraping prometheus.io/port. With its own port " +
			"there merging is left out and the application's metrics are lost; where status.sidecar.istio.io/port set " +
			"that port the agent refuses to start.",
		Remedy: "write the port on which the application serves its metrics",
		Bad:    "annotations:\n  prometheus.io/scrape: \"true\"\n  prometheus.io/port: \"15020\"",
		Good:   "annotations:\n  prometheus.io/scrape: \"true\"\n  prometheus.io/port: \"8080\"",
		check: func(f *Facts, r *Report) {
			text, ok := f.Template.Annotations[policy.AnnotationPrometheusPort]
			port, err := policy.ParsePort(text)
			if _, done := f.Template.Annotations[policy.AnnotationStatus]; !ok || done || err != nil ||
				f.Template.Annotations[policy.AnnotationPrometheusScrape] == "false" || f.meansAgent() {
				return
			}
			at := annotation(policy.AnnotationPrometheusPort)
			own, err := policy.ParsePort(f.Template.Annotations[policy.AnnotationStatusPort])
			switch {
			case err == nil && own == port && f.Template.Annotations[policy.AnnotationStatusPort] != "":
				r.at(at, "port %d is the agent's, set by %s: the agent would scrape itself and refuses to start",
					port, policy.AnnotationStatusPort).level(policy.Error)
			case f.Proxy != nil && port == int(f.Proxy.GetStatusPort()):
				r.at(at, "port %d is the agent's: metrics are not merged and the application's are lost", port)
			}
		},
	}
}

// meansAgent tells whether the agent's own metrics are wanted: the pod is nothing but a proxy, as a gateway is, or the
// path is the agent's.
func (f *Facts) meansAgent() bool {
	return len(f.apps()) == 0 || f.Template.Annotations[policy.AnnotationPrometheusPath] == "/stats/prometheus"
}
