package lint

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

func uid1337() Rule {
	return Rule{
		ID: "uid-1337", Category: Security, Severity: policy.Error, Link: linkRequirements,
		Summary: "the application runs as the proxy's user or group",
		Why:     "Redirection leaves out what the proxy's user and group send, so the application's outbound traffic goes past the proxy.",
		Remedy:  "run the application as another user and group",
		Bad:     "securityContext:\n  runAsUser: 1337",
		Good:    "securityContext:\n  runAsUser: 1000",
		check: func(f *Facts, r *Report) {
			if s := f.Template.Spec.SecurityContext; s != nil {
				f.proxyID(r, template("spec", "securityContext", "runAsUser"), s.RunAsUser, f.ProxyUID, "the pod runs as user", policy.Error)
				f.proxyID(r, template("spec", "securityContext", "runAsGroup"), s.RunAsGroup, f.ProxyGID, "the pod runs as group", policy.Error)
			}
			for _, c := range append(f.apps(), f.inits()...) {
				s := c.SecurityContext
				if s == nil {
					continue
				}
				level := policy.Error
				// An init container may do so on purpose, to have a network before the proxy runs.
				if c.list == "initContainers" && !isNative(c.Container) {
					level = policy.Info
				}
				f.proxyID(r, c.at("securityContext", "runAsUser"), s.RunAsUser, f.ProxyUID, "container "+c.Name+" runs as user", level)
				f.proxyID(r, c.at("securityContext", "runAsGroup"), s.RunAsGroup, f.ProxyGID, "container "+c.Name+" runs as group", level)
			}
		},
	}
}

func (f *Facts) proxyID(r *Report, at Where, id *int64, proxy int64, who string, level policy.Severity) {
	if id != nil && *id == proxy {
		d := r.at(at, "%s %d, the proxy's: its traffic is not redirected", who, *id)
		if level != policy.Error {
			d.level(level)
		}
	}
}

// podSecurity are the labels of a namespace that ask for a Pod Security Standard, the binding one first.
func podSecurity() []string {
	return []string{
		"pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/warn",
	}
}

func podsecurityInit() Rule {
	return Rule{
		ID: "podsecurity-init", Category: Security, Severity: policy.Error, Link: linkPodSecurity,
		Summary: "istio-init in a namespace that enforces a Pod Security Standard",
		Why: "istio-init sets up redirection with NET_ADMIN and NET_RAW, as root; baseline and restricted forbid these " +
			"capabilities, so the pod is refused.",
		Remedy: "let Istio's CNI plugin set up redirection: values pilot.cni.enabled: true",
		Bad:    "kind: Namespace\nmetadata:\n  labels:\n    pod-security.kubernetes.io/enforce: baseline\n# values: pilot.cni.enabled: false",
		Good:   "kind: Namespace\nmetadata:\n  labels:\n    pod-security.kubernetes.io/enforce: baseline\n# values: pilot.cni.enabled: true",
		check: func(f *Facts, r *Report) {
			if f.Namespace == nil || !capable(f.pod()) {
				return
			}
			for i, name := range podSecurity() {
				level := f.Namespace.Labels[name]
				if level != "baseline" && level != "restricted" {
					continue
				}
				d := r.at(template("spec"), "istio-init needs NET_ADMIN and NET_RAW, which namespace %s forbids: label %s is %s",
					f.Namespace.Resource.Name, name, level)
				if i > 0 {
					d.level(policy.Warning)
				}
				return
			}
		},
	}
}

// capable tells whether istio-init adds capabilities.
func capable(t *corev1.PodTemplateSpec) bool {
	for _, c := range t.Spec.InitContainers {
		if c.Name == policy.ContainerInit && c.SecurityContext != nil && c.SecurityContext.Capabilities != nil {
			for _, a := range c.SecurityContext.Capabilities.Add {
				if a == "NET_ADMIN" || a == "NET_RAW" {
					return true
				}
			}
		}
	}
	return false
}

func hostNetwork() Rule {
	return Rule{
		ID: "host-network", Category: Injection, Severity: policy.Warning, Link: linkInjection, Scope: Always,
		Summary: "a pod in the host's network asks for injection",
		Why:     "Such pods are never injected: redirection would catch the traffic of the whole node.",
		Remedy:  "drop hostNetwork, or the wish for injection",
		Bad:     "metadata:\n  labels:\n    sidecar.istio.io/inject: \"true\"\nspec:\n  hostNetwork: true",
		Good:    "metadata:\n  labels:\n    sidecar.istio.io/inject: \"true\"\nspec:\n  hostNetwork: false",
		check: func(f *Facts, r *Report) {
			if !f.Template.Spec.HostNetwork {
				return
			}
			at := template("spec", "hostNetwork")
			switch {
			case f.Decision.Asked:
				r.at(at, "injection is asked for, but a pod in the host's network is never injected")
			case f.Namespace != nil && f.Namespace.enabled() && f.Template.Labels[policy.LabelInject] != "false":
				r.at(at, "namespace %s is injected, this pod in the host's network is not", f.Namespace.Resource.Name).
					level(policy.Info).hint("label it %s: \"false\" to say that this is meant", policy.LabelInject)
			}
		},
	}
}

// enabled tells whether the labels hand the namespace to some revision.
func (n *Namespace) enabled() bool {
	_, revision := n.Labels[policy.LabelRevision]
	value, named := n.Labels[policy.LabelNamespaceInject]
	return value == "enabled" || !named && revision
}
