package workload

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
)

// Owner is what templates see as .TypeMeta and .DeploymentMeta: the workload that the pods belong to.
type Owner struct {
	APIVersion, Kind string
	Name, Namespace  string
}

// OwnerOf gives the owner facts of an object with pod templates: its own type, name and namespace. A bare Pod with a
// generateName and a controller belongs to that controller, or to what made the controller where name and labels
// tell (Istio, pkg/kube/util.go GetDeployMetaFromPod, 1.30). Any other bare Pod is v1 Pod under its own name.
func OwnerOf(typ metav1.TypeMeta, meta metav1.ObjectMeta) Owner {
	o := Owner{APIVersion: typ.APIVersion, Kind: typ.Kind, Name: meta.Name, Namespace: meta.Namespace}
	if typ.Kind != "Pod" || Group(typ.APIVersion) != "" {
		return o
	}
	o.APIVersion = "v1"
	if meta.GenerateName == "" {
		return o
	}
	for _, ref := range meta.OwnerReferences {
		if ref.Controller != nil && *ref.Controller {
			o.APIVersion, o.Kind, o.Name = ref.APIVersion, ref.Kind, ref.Name
			return o.maker(meta)
		}
	}
	return o
}

// maker goes from a controller to the workload that made it.
func (o Owner) maker(pod metav1.ObjectMeta) Owner {
	switch o.Kind {
	case "ReplicaSet":
		if name, ok := cutHash(o.Name, pod.Labels[policy.LabelPodTemplateHash]); ok {
			o.Kind, o.Name = "Deployment", name
		} else if name, ok := cutHash(o.Name, pod.Labels[policy.LabelRolloutPodTemplateHash]); ok {
			o.APIVersion, o.Kind, o.Name = "v1alpha1", "Rollout", name
		}
	case "ReplicationController":
		if name := pod.Labels[policy.LabelDeploymentConfig]; name != "" {
			o.Kind, o.Name = "DeploymentConfig", name
		}
	case "Job":
		if name, ok := cutTimestamp(o.Name); ok {
			o.APIVersion, o.Kind, o.Name = "batch/v1", "CronJob", name
		}
	}
	if o.Name == "" {
		o.Name = pod.Name
	}
	return o
}

// cutHash takes a pod template's hash and the dash before it from the end of a name.
func cutHash(name, hash string) (string, bool) {
	if hash == "" || !strings.HasSuffix(name, hash) {
		return name, false
	}
	return strings.TrimSuffix(name, "-"+hash), true
}

// cutTimestamp takes the eight to ten digits that a CronJob gives its Jobs from the end of a name.
func cutTimestamp(name string) (string, bool) {
	i := strings.LastIndexByte(name, '-')
	digits := name[i+1:]
	if i < 1 || len(digits) < 8 || len(digits) > 10 || strings.Trim(digits, "0123456789") != "" {
		return name, false
	}
	return name[:i], true
}
