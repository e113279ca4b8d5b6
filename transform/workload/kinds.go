package workload

import (
	"strings"
	"sync"
)

// Default is the table that ships: the kinds of Kubernetes and of projects whose objects hold pod templates.
// Versions do not matter to the path, so removed ones (extensions/v1beta1, apps/v1beta1) are accepted.
func Default() Registry { return defaultRegistry() }

var defaultRegistry = sync.OnceValue(func() Registry {
	var rows []Row
	for _, k := range kinds() {
		for _, name := range strings.Fields(k.kinds) {
			row := k.row
			row.Group, row.Kind = k.group, name
			for _, p := range k.paths {
				path, err := parsePath(p)
				if err != nil {
					panic("workload: path of " + name + ": " + err.Error())
				}
				row.Paths = append(row.Paths, path)
			}
			rows = append(rows, row)
		}
	}
	return newRegistry(rows)
})

// kindRow is a line of the table: kinds of one group that share everything.
type kindRow struct {
	group string
	kinds string
	paths []string
	row   Row
}

// kinds is the table. A path is read from the field's name in the project's API types; row holds what is not plain On.
func kinds() []kindRow {
	template := []string{"spec.template"}
	off := Row{Mode: Off}
	never := func(reason, hint string) Row { return Row{Mode: Never, Reason: reason, Hint: hint} }
	openshiftTemplate := never("its objects hold parameters that are not filled in yet",
		"process the template first: oc process -f FILE -o yaml | inject -f -")
	tekton := never("it has no pod template; podTemplate holds only a part of one", "")
	return []kindRow{
		{kinds: "Pod", paths: []string{"@pod"}},
		{kinds: "ReplicationController", paths: template},
		{kinds: "PodTemplate", paths: []string{"template"}},
		{group: "apps", kinds: "Deployment StatefulSet DaemonSet ReplicaSet", paths: template},
		{group: "extensions", kinds: "Deployment StatefulSet DaemonSet ReplicaSet", paths: template},
		{group: "batch", kinds: "Job", paths: template},
		{group: "batch", kinds: "CronJob", paths: []string{"spec.jobTemplate.spec.template"}},
		{group: "apps.openshift.io", kinds: "DeploymentConfig", paths: template},
		{kinds: "DeploymentConfig", paths: template}, // OpenShift before 3.7 served it as v1
		{
			group: "argoproj.io", kinds: "Rollout", paths: template,
			row: Row{reference: []string{"spec", "workloadRef"}},
		},
		{group: "apps.kruise.io", kinds: "CloneSet StatefulSet DaemonSet BroadcastJob", paths: template},
		{group: "apps.kruise.io", kinds: "AdvancedCronJob", paths: []string{
			"spec.template.jobTemplate.spec.template", "spec.template.broadcastJobTemplate.spec.template",
		}},
		{group: "apps.kruise.io", kinds: "UnitedDeployment", row: off, paths: []string{
			"spec.template.statefulSetTemplate.spec.template", "spec.template.advancedStatefulSetTemplate.spec.template",
			"spec.template.cloneSetTemplate.spec.template", "spec.template.deploymentTemplate.spec.template",
		}},
		{group: "batch.volcano.sh", kinds: "Job", paths: []string{"spec.tasks[*].template"}},
		{group: "batch.volcano.sh", kinds: "CronJob", paths: []string{"spec.jobTemplate.spec.tasks[*].template"}},
		{group: "flow.volcano.sh", kinds: "JobTemplate", row: off, paths: []string{"spec.tasks[*].template"}},
		{group: "jobset.x-k8s.io", kinds: "JobSet", paths: []string{"spec.replicatedJobs[*].template.spec.template"}},
		{group: "leaderworkerset.x-k8s.io", kinds: "LeaderWorkerSet", paths: []string{
			"spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate",
		}},
		{
			group: "serving.knative.dev", kinds: "Service Configuration", paths: template,
			row: Row{Mode: Off, Restricted: true},
		},
		{group: "ray.io", kinds: "RayCluster", row: off, paths: rayPaths("spec")},
		{group: "ray.io", kinds: "RayJob", row: off, paths: rayPaths("spec.rayClusterSpec")},
		{group: "ray.io", kinds: "RayService", row: off, paths: rayPaths("spec.rayClusterConfig")},
		{group: "kubeflow.org", kinds: "PyTorchJob", row: off, paths: []string{"spec.pytorchReplicaSpecs.*.template"}},
		{group: "kubeflow.org", kinds: "TFJob", row: off, paths: []string{"spec.tfReplicaSpecs.*.template"}},
		{group: "kubeflow.org", kinds: "MPIJob", row: off, paths: []string{"spec.mpiReplicaSpecs.*.template"}},
		{group: "kubeflow.org", kinds: "XGBoostJob", row: off, paths: []string{"spec.xgbReplicaSpecs.*.template"}},
		{group: "argoproj.io", kinds: "Experiment", row: off, paths: []string{"spec.templates[*].template"}},
		{
			group: "argoproj.io", kinds: "Workflow WorkflowTemplate ClusterWorkflowTemplate CronWorkflow",
			row: never("it has no pod template, and sidecars of a workflow need a form of their own", ""),
		},
		{group: "tekton.dev", kinds: "Task TaskRun Pipeline PipelineRun", row: tekton},
		{group: "apps.kruise.io", kinds: "SidecarSet", row: never("it is an injector itself", "")},
		{group: "template.openshift.io", kinds: "Template", row: openshiftTemplate},
		{kinds: "Template", row: openshiftTemplate},
		{group: "keda.sh", kinds: "ScaledJob", row: off, paths: []string{"spec.jobTargetRef.template"}},
		{group: "agones.dev", kinds: "GameServer", row: off, paths: template},
		{group: "agones.dev", kinds: "Fleet", row: off, paths: []string{"spec.template.spec.template"}},
	}
}

func rayPaths(cluster string) []string {
	return []string{cluster + ".headGroupSpec.template", cluster + ".workerGroupSpecs[*].template"}
}
