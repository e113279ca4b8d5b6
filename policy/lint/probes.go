package lint

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy"
)

func probePortNameMissing() Rule {
	return Rule{
		ID: "probe-port-name-missing", Category: Probes, Severity: policy.Error, Link: linkProbes,
		Summary: "a probe of a named port that its container does not declare",
		Why: "Rewriting sends the probe to the agent, which needs the port's number. Without it the probe has no entry " +
			"with the agent, which answers 400 for ever.",
		Remedy: "declare the port in the container, or write its number",
		Bad:    "containers:\n- name: web\n  readinessProbe:\n    httpGet: {path: /ready, port: http}",
		Good: "containers:\n- name: web\n  ports:\n  - {name: http, containerPort: 8080}\n  readinessProbe:\n" +
			"    httpGet: {path: /ready, port: http}",
		check: func(f *Facts, r *Report) {
			if !f.rewrites() {
				return
			}
			for _, c := range append(f.apps(), f.inits()...) {
				for _, p := range []struct {
					name  string
					probe *corev1.Probe
				}{{"readinessProbe", c.ReadinessProbe}, {"livenessProbe", c.LivenessProbe}, {"startupProbe", c.StartupProbe}} {
					if p.probe != nil {
						probePort(r, c, p.name, p.probe)
					}
				}
			}
		},
	}
}

func probePort(r *Report, c container, name string, p *corev1.Probe) {
	check := func(kind string, port intstr.IntOrString) {
		if port.Type != intstr.String || isIndex(port.StrVal) {
			return
		}
		for _, declared := range c.Ports {
			if declared.Name == port.StrVal {
				return
			}
		}
		r.at(c.at(name, kind, "port"), "container %s declares no port called %s", c.Name, quote(port.StrVal))
	}
	if p.HTTPGet != nil {
		check("httpGet", p.HTTPGet.Port)
	}
	if p.TCPSocket != nil {
		check("tcpSocket", p.TCPSocket.Port)
	}
}
