package workload

import corev1 "k8s.io/api/core/v1"

// RestrictedFeatures lists what an injected pod of a Restricted kind uses and Knative takes only with a feature flag of
// the cluster, or never (Knative Serving, pkg/apis/serving/fieldmask.go and k8s_validation.go, 1.15; the flags are keys
// of its ConfigMap config-features). Each is a phrase that names the flag; none means that the pod will do.
func RestrictedFeatures(spec *corev1.PodSpec) []string {
	var used []string
	if len(spec.InitContainers) > 0 {
		used = append(used, "init containers (kubernetes.podspec-init-containers)")
	}
	ports := 0
	for i := range spec.Containers {
		if len(spec.Containers[i].Ports) > 0 {
			ports++
		}
	}
	if ports > 1 {
		used = append(used, "ports in more than one container (never allowed)")
	}
	var emptyDir, hostPath, csi, downward bool
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		emptyDir = emptyDir || v.EmptyDir != nil
		hostPath = hostPath || v.HostPath != nil
		csi = csi || v.CSI != nil
		downward = downward || v.DownwardAPI != nil
	}
	for _, v := range []struct {
		used bool
		text string
	}{
		{emptyDir, "emptyDir volumes (kubernetes.podspec-volumes-emptydir)"},
		{hostPath, "hostPath volumes (kubernetes.podspec-volumes-hostpath)"},
		{csi, "csi volumes (kubernetes.podspec-volumes-csi)"},
		{downward, "downwardAPI volumes (never allowed)"},
	} {
		if v.used {
			used = append(used, v.text)
		}
	}
	return used
}
