package legacy

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

func containerNames(cs []corev1.Container) []string {
	var names []string
	for i := range cs {
		names = append(names, cs[i].Name)
	}
	return names
}

func indexOf(cs []corev1.Container, name string) int {
	return slices.IndexFunc(cs, func(c corev1.Container) bool { return c.Name == name })
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// clashes reports the names that would stand twice in the pod: of containers in both lists, and of volumes. Pull
// secrets may repeat, Kubernetes does not mind.
func clashes(pod *corev1.PodTemplateSpec, spec *Spec) []policy.Finding {
	var fs []policy.Finding
	clash := func(field, name, message string) {
		fs = append(fs, policy.Finding{
			Code: CodeClash, Severity: policy.Error, Field: field, Message: fmt.Sprintf(message, name),
			Hint: "rename it in the pod or in the template",
		})
	}
	taken := map[string]string{}
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"spec.initContainers", pod.Spec.InitContainers}, {"spec.containers", pod.Spec.Containers}} {
		for i := range list.containers {
			taken[list.containers[i].Name] = item(list.field, i)
		}
	}
	for _, name := range append(containerNames(spec.InitContainers), containerNames(spec.Containers)...) {
		switch field, ok := taken[name]; {
		case ok && field == "":
			clash("", name, "the template renders two containers with the name %q")
		case ok:
			clash(field, name, "the pod has a container %q, and the template brings one of that name")
		}
		taken[name] = ""
	}
	volumes := map[string]string{}
	for i := range pod.Spec.Volumes {
		volumes[pod.Spec.Volumes[i].Name] = item("spec.volumes", i)
	}
	for i := range spec.Volumes {
		name := spec.Volumes[i].Name
		switch field, ok := volumes[name]; {
		case ok && field == "":
			clash("", name, "the template renders two volumes with the name %q")
		case ok:
			clash(field, name, "the pod has a volume %q, and the template brings one of that name")
		}
		volumes[name] = ""
	}
	return fs
}

func addInitContainers(r *run) bool {
	r.pod.Spec.InitContainers = append(r.pod.Spec.InitContainers, r.spec.InitContainers...)
	return len(r.spec.InitContainers) > 0
}

// addContainers appends; with hold, istio-proxy goes before the user's containers.
func addContainers(r *run) bool {
	injected := r.spec.Containers
	if i := indexOf(injected, policy.ContainerProxy); i >= 0 && r.engine.hold() {
		r.pod.Spec.Containers = slices.Concat(injected[i:i+1], r.pod.Spec.Containers, injected[:i], injected[i+1:])
	} else {
		r.pod.Spec.Containers = append(r.pod.Spec.Containers, injected...)
	}
	return len(injected) > 0
}

func addVolumes(r *run) bool {
	r.pod.Spec.Volumes = append(r.pod.Spec.Volumes, r.spec.Volumes...)
	return len(r.spec.Volumes) > 0
}

func addPullSecrets(r *run) bool {
	r.pod.Spec.ImagePullSecrets = append(r.pod.Spec.ImagePullSecrets, r.spec.ImagePullSecrets...)
	return len(r.spec.ImagePullSecrets) > 0
}

// setDNSConfig replaces the user's, with a warning. Istio of the time removed it even where the template has none;
// there it stays here.
func setDNSConfig(r *run) bool {
	if r.spec.DNSConfig == nil {
		return false
	}
	if own := r.pod.Spec.DNSConfig; own != nil && !reflect.DeepEqual(own, r.spec.DNSConfig) {
		r.findings = append(r.findings, policy.Finding{
			Code: CodeLost, Severity: policy.Warning, Field: "spec.dnsConfig",
			Message: "the template's dnsConfig replaces the pod's own",
		})
	}
	r.pod.Spec.DNSConfig = r.spec.DNSConfig
	return true
}

// setFSGroup lets the proxy read its token; the user's group is overwritten.
func setFSGroup(r *run) bool {
	if r.engine.mesh.SdsUdsPath == "" {
		return false
	}
	if r.pod.Spec.SecurityContext == nil {
		r.pod.Spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	group := proxyGroup
	r.pod.Spec.SecurityContext.FSGroup = &group
	return true
}

// proxyGroup is the group of istio-proxy (istio/istio, pkg/kube/inject/inject.go, 1.7.8, SDSFSGroup).
const proxyGroup = int64(policy.ProxyUserID)
