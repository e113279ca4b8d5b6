package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOwnerOf(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	pod := metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	ref := func(version, kind, name string, controller *bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, Controller: controller}
	}
	owned := func(labels map[string]string, refs ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: "own", Namespace: "shop", GenerateName: "web-", Labels: labels, OwnerReferences: refs,
		}
	}
	for name, tt := range map[string]struct {
		typ  metav1.TypeMeta
		meta metav1.ObjectMeta
		want Owner
	}{
		"workload": {
			metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
			metav1.ObjectMeta{Name: "web", Namespace: "shop"},
			Owner{"batch/v1", "CronJob", "web", "shop"},
		},
		"bare pod": {pod, metav1.ObjectMeta{Name: "web"}, Owner{"v1", "Pod", "web", ""}},
		"no generateName": {
			pod,
			metav1.ObjectMeta{Name: "web", OwnerReferences: []metav1.OwnerReference{ref("apps/v1", "ReplicaSet", "rs", &yes)}},
			Owner{"v1", "Pod", "web", ""},
		},
		"no controller": {
			pod, owned(nil, ref("apps/v1", "ReplicaSet", "rs", nil), ref("apps/v1", "ReplicaSet", "rs", &no)),
			Owner{"v1", "Pod", "own", "shop"},
		},
		"another kind named Pod": {
			metav1.TypeMeta{APIVersion: "a.io/v1", Kind: "Pod"},
			owned(nil, ref("b.io/v1", "Thing", "x", &yes)),
			Owner{"a.io/v1", "Pod", "own", "shop"},
		},
		"custom": {
			pod, owned(nil, ref("a/v1", "X", "first", &no), ref("foo/v1", "Bar", "bar", &yes), ref("b/v1", "Y", "late", &yes)),
			Owner{"foo/v1", "Bar", "bar", "shop"},
		},
		"deployment": {
			pod, owned(map[string]string{"pod-template-hash": "6d5f"}, ref("apps/v1", "ReplicaSet", "web-6d5f", &yes)),
			Owner{"apps/v1", "Deployment", "web", "shop"},
		},
		"hash of another": {
			pod, owned(map[string]string{"pod-template-hash": "6d5f"}, ref("apps/v1", "ReplicaSet", "web-6d5e", &yes)),
			Owner{"apps/v1", "ReplicaSet", "web-6d5e", "shop"},
		},
		"rollout": {
			pod, owned(map[string]string{"rollouts-pod-template-hash": "6d5f"}, ref("apps/v1", "ReplicaSet", "web-6d5f", &yes)),
			Owner{"v1alpha1", "Rollout", "web", "shop"},
		},
		"deploymentconfig": {
			pod, owned(map[string]string{"deploymentconfig": "web"}, ref("v1", "ReplicationController", "web-1", &yes)),
			Owner{"v1", "DeploymentConfig", "web", "shop"},
		},
		"replicationcontroller": {
			pod, owned(nil, ref("v1", "ReplicationController", "web", &yes)), Owner{"v1", "ReplicationController", "web", "shop"},
		},
		"cronjob 8": {pod, owned(nil, ref("batch/v1beta1", "Job", "web-12345678", &yes)), Owner{"batch/v1", "CronJob", "web", "shop"}},
		"cronjob 10": {
			pod, owned(nil, ref("batch/v1", "Job", "a-b-1234567890", &yes)), Owner{"batch/v1", "CronJob", "a-b", "shop"},
		},
		"job 7":       {pod, owned(nil, ref("batch/v1", "Job", "web-1234567", &yes)), Owner{"batch/v1", "Job", "web-1234567", "shop"}},
		"job 11":      {pod, owned(nil, ref("batch/v1", "Job", "web-12345678901", &yes)), Owner{"batch/v1", "Job", "web-12345678901", "shop"}},
		"job letters": {pod, owned(nil, ref("batch/v1", "Job", "web-1234567a", &yes)), Owner{"batch/v1", "Job", "web-1234567a", "shop"}},
		"job digits":  {pod, owned(nil, ref("batch/v1", "Job", "-12345678", &yes)), Owner{"batch/v1", "Job", "-12345678", "shop"}},
	} {
		if diff := cmp.Diff(tt.want, OwnerOf(tt.typ, tt.meta)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRestrictedFeatures(t *testing.T) {
	t.Parallel()
	port := []corev1.ContainerPort{{ContainerPort: 80}}
	spec := corev1.PodSpec{
		Containers: []corev1.Container{{Ports: port}, {}},
		Volumes:    []corev1.Volume{{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}}},
	}
	if got := RestrictedFeatures(&spec); got != nil {
		t.Errorf("a plain pod: %v", got)
	}
	spec.Containers[1].Ports = port
	spec.InitContainers = []corev1.Container{{}}
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		corev1.Volume{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}},
		corev1.Volume{VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}},
		corev1.Volume{VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{}}},
	)
	want := []string{
		"init containers (kubernetes.podspec-init-containers)",
		"ports in more than one container (never allowed)",
		"emptyDir volumes (kubernetes.podspec-volumes-emptydir)",
		"hostPath volumes (kubernetes.podspec-volumes-hostpath)",
		"csi volumes (kubernetes.podspec-volumes-csi)",
		"downwardAPI volumes (never allowed)",
	}
	if diff := cmp.Diff(want, RestrictedFeatures(&spec)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
