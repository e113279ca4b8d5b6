package lint

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

func containerNameClash() Rule {
	return Rule{
		ID: "container-name-clash", Category: Manifest, Severity: policy.Warning, Link: linkInjection,
		Summary: "a container named like one that injection adds",
		Why: "Injection takes such a container for the author's wishes about its own and merges the two: the image and " +
			"command written here replace the proxy's.",
		Remedy: "rename the container, or write image: auto if it is to tune the injected one",
		Bad:    "containers:\n- name: istio-proxy\n  image: logs/tail:1",
		Good:   "containers:\n- name: log-tail\n  image: logs/tail:1",
		check: func(f *Facts, r *Report) {
			if f.AlreadyInjected() {
				return
			}
			names := slices.Concat(f.Added.Containers, f.Added.InitContainers,
				[]string{policy.ContainerProxy, policy.ContainerInit, policy.ContainerValidation})
			spec := &f.Template.Spec
			for _, c := range append(userContainers("containers", spec.Containers, nil),
				userContainers("initContainers", spec.InitContainers, nil)...) {
				if !slices.Contains(names, c.Name) || c.Image == policy.ImageAuto || c.Image == "" {
					continue
				}
				d := r.at(c.at("name"), "container %s is merged into the injected one of that name, its image %s with it",
					c.Name, quote(c.Image))
				if len(c.Command)+len(c.Args) > 0 {
					d.level(policy.Error)
					d.Message += ", and so is its command"
				}
			}
		},
	}
}

func imageAutoNotInjected() Rule {
	return Rule{
		ID: "image-auto-not-injected", Category: Manifest, Severity: policy.Error, Link: linkInjection, Scope: Always,
		Summary: "image: auto in a pod that is not injected",
		Why:     "Only injection puts an image in the place of auto; without it the kubelet tries to pull one of that name.",
		Remedy:  "ask for injection, or write the image",
		Bad:     "labels:\n  sidecar.istio.io/inject: \"false\"\n# ...\ncontainers:\n- name: istio-proxy\n  image: auto",
		Good:    "labels:\n  sidecar.istio.io/inject: \"true\"\n# ...\ncontainers:\n- name: istio-proxy\n  image: auto",
		check: func(f *Facts, r *Report) {
			if f.Decision.Inject || f.AlreadyInjected() {
				return
			}
			spec := &f.Template.Spec
			for _, c := range append(userContainers("containers", spec.Containers, nil),
				userContainers("initContainers", spec.InitContainers, nil)...) {
				if c.Image == policy.ImageAuto {
					r.at(c.at("image"), "nothing replaces image auto of container %s: the pod is not injected", c.Name)
				}
			}
		},
	}
}

func volumeNameClash() Rule {
	return Rule{
		ID: "volume-name-clash", Category: Manifest, Severity: policy.Error, Link: linkVolumes,
		Summary: "a volume named like one that injection adds",
		Why:     "Volumes are merged by name. One with two sources is refused, and one of the same kind is shared with the proxy.",
		Remedy:  "rename the volume and its mounts",
		Bad:     "volumes:\n- name: istio-data\n  hostPath: {path: /srv/data}",
		Good:    "volumes:\n- name: app-data\n  hostPath: {path: /srv/data}",
		check: func(f *Facts, r *Report) {
			for i, v := range f.Template.Spec.Volumes {
				if !slices.ContainsFunc(f.Original.Spec.Volumes, func(o corev1.Volume) bool { return o.Name == v.Name }) {
					continue // of an earlier injection
				}
				at := template("spec", "volumes", itoa(i), "name")
				switch {
				case slices.Contains(f.Added.Volumes, v.Name):
					r.at(at, "injection has a volume %s too: the two are merged", v.Name)
				case slices.Contains(templateVolumes(), v.Name):
					r.at(at, "Istio's template has a volume %s in some configurations, though not in this one", v.Name).
						level(policy.Info)
				}
			}
		},
	}
}

// templateVolumes are the volumes of Istio's template (files/injection-template.yaml, 1.30).
func templateVolumes() []string {
	return []string{
		"workload-socket", "credential-socket", "workload-certs", "istio-envoy", "istio-data", "istio-podinfo",
		"istio-token", "istiod-ca-cert", "istio-ca-crl", "istio-certs", "custom-bootstrap-volume",
		"gke-workload-certificate", "lightstep-certs",
	}
}
