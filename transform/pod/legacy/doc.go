// Package legacy injects as Istio 1.6 and 1.7 did: a `template` that renders a flat SidecarInjectionSpec.
//
// It stands beside the modern engine and shares nothing with it but the template functions whose meaning never
// changed. Typed in, typed out: [Engine.Inject] takes a pod template and gives another one, never changing the one
// it was given; it sees no YAML node and no file. Whether a pod is injected at all is decided in package policy.
//
// What kube-inject of that time did is kept, its oddities included, but for a few that harm: a container never ends
// up twice, a missing value is an error and not "<no value>", the user's dnsConfig stays when the template has
// none, fields of a pod that Kubernetes learned later stay, and an injected pod is stripped before it is injected
// again, so that the result equals injecting the original.
package legacy
