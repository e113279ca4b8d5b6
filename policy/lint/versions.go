package lint

import (
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// nativeKubernetes is the first minor version of Kubernetes that has native sidecars switched on (KEP-753).
const nativeKubernetes = 29

func nativeUnsupported() Rule {
	return Rule{
		ID: "native-unsupported", Category: Compatibility, Severity: policy.Error, Link: linkSidecars, Fixes: true,
		Summary: "a native sidecar for a Kubernetes without native sidecars",
		Why: "Before 1.28 the field is unknown, in 1.28 it is off by default: the proxy becomes a plain init container, " +
			"whose probes the API server refuses.",
		Remedy: "set sidecar.istio.io/nativeSidecar: \"false\" or --native-sidecar=false",
		Bad:    "# --kube-version 1.28\nannotations:\n  sidecar.istio.io/nativeSidecar: \"true\"",
		Good:   "# --kube-version 1.28\nannotations:\n  sidecar.istio.io/nativeSidecar: \"false\"",
		check: func(f *Facts, r *Report) {
			if !f.native() || f.Kubernetes.AtLeast(nativeKubernetes) {
				return
			}
			at := annotation(policy.AnnotationNativeSidecar)
			d := r.at(at, "the proxy is a native sidecar, which Kubernetes %s does not run", f.Kubernetes)
			if !f.AlreadyInjected() {
				d.fix("write \"false\"", r.set(at, "false"))
			}
		},
	}
}

// feature is something that an Istio before a certain version does not know.
type feature struct {
	name  string
	minor int
	// in finds it; zero where it is not used.
	in func(f *Facts, r *Report) *draft
}

// features are in the order of the versions that brought them (Istio release notes 1.7, 1.12, 1.19 and 1.20).
func features() []feature {
	return []feature{
		{"holdApplicationUntilProxyStarts", 7, func(f *Facts, r *Report) *draft {
			if f.stop().HoldHook && (f.Hold || f.AlreadyInjected()) {
				return f.atConfig(r, fieldHold)
			}
			return nil
		}},
		{envExitOnZero, 12, func(f *Facts, r *Report) *draft {
			if f.exitOnZero() {
				return f.atMetadata(r, envExitOnZero, "")
			}
			return nil
		}},
		{"a native sidecar", 19, func(f *Facts, r *Report) *draft {
			if f.native() {
				return r.at(annotation(policy.AnnotationNativeSidecar), "")
			}
			return nil
		}},
		{"the drain hook of a native sidecar", 20, func(f *Facts, r *Report) *draft {
			// One finding is enough where native sidecars as such are too new.
			if f.stop().DrainHook && (f.Istio.AtLeast(19) || !f.native()) {
				return r.at(template("spec"), "")
			}
			return nil
		}},
	}
}

func featureNeedsIstio() Rule {
	return Rule{
		ID: "feature-needs-istio", Category: Compatibility, Severity: policy.Error, Link: linkAgent,
		Summary: "a feature that this Istio does not have yet",
		Why: "An older agent does not know the command, variable or way to run: the hook fails, or the setting is passed " +
			"over in silence.",
		Remedy: "upgrade Istio, or do without",
		Bad: "# --istio-version 1.11\nannotations:\n  proxy.istio.io/config: |\n    proxyMetadata:\n" +
			"      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"",
		Good: "# --istio-version 1.12\nannotations:\n  proxy.istio.io/config: |\n    proxyMetadata:\n" +
			"      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"",
		check: func(f *Facts, r *Report) {
			for _, x := range features() {
				if f.Istio.AtLeast(x.minor) {
					continue
				}
				if d := x.in(f, r); d != nil {
					d.Message = x.name + " needs Istio " + lifecycle.Version{Major: 1, Minor: x.minor}.String() +
						" or later, this is " + f.Istio.String()
				}
			}
		},
	}
}

// atConfig files a finding at a field of the pod's ProxyConfig, else of the mesh's, else at the pod.
func (f *Facts) atConfig(r *Report, field string) *draft {
	if f.Config != nil {
		if v := f.Config.Root.field(field); v != nil {
			return r.inText(v.Key, []string{field}, "")
		}
	}
	if p := f.MeshAt("defaultConfig", field); p.Line > 0 {
		return r.inConfig(p, "defaultConfig."+field, "")
	}
	return r.at(template("spec"), "")
}

func deadSidecarType() Rule {
	return Rule{
		ID: "dead-sidecar-type", Category: Compatibility, Severity: policy.Warning, Link: linkSidecars,
		Summary: "lifecycle.type: Sidecar, a field that no Kubernetes release has",
		Why: "It belonged to a proposal that was withdrawn before any release; the API server drops or refuses the field, " +
			"and the container starts and stops like any other.",
		Remedy: "make it a native sidecar: an init container with restartPolicy: Always",
		Bad:    "containers:\n- name: shipper\n  image: logs/shipper:1\n  lifecycle:\n    type: Sidecar",
		Good:   "initContainers:\n- name: shipper\n  image: logs/shipper:1\n  restartPolicy: Always",
		Scope:  Always,
		check: func(f *Facts, r *Report) {
			for _, s := range f.SidecarTypes {
				r.at(template("spec", s.List, itoa(s.Index), "lifecycle", "type"),
					"lifecycle.type %s never existed in a release of Kubernetes", quote(s.Value))
			}
		},
	}
}
