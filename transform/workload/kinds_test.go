package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// table is what the registry must hold: group/Kind, mode, and the places of its pod templates.
const table = `
core/Pod on @pod
core/ReplicationController on spec.template
core/PodTemplate on template
apps/Deployment on spec.template
apps/StatefulSet on spec.template
apps/DaemonSet on spec.template
apps/ReplicaSet on spec.template
extensions/Deployment on spec.template
extensions/StatefulSet on spec.template
extensions/DaemonSet on spec.template
extensions/ReplicaSet on spec.template
batch/Job on spec.template
batch/CronJob on spec.jobTemplate.spec.template
apps.openshift.io/DeploymentConfig on spec.template
core/DeploymentConfig on spec.template
argoproj.io/Rollout on spec.template
apps.kruise.io/CloneSet on spec.template
apps.kruise.io/StatefulSet on spec.template
apps.kruise.io/DaemonSet on spec.template
apps.kruise.io/BroadcastJob on spec.template
apps.kruise.io/AdvancedCronJob on spec.template.jobTemplate.spec.template spec.template.broadcastJobTemplate.spec.template
apps.kruise.io/UnitedDeployment off spec.template.statefulSetTemplate.spec.template spec.template.advancedStatefulSetTemplate.spec.template spec.template.cloneSetTemplate.spec.template spec.template.deploymentTemplate.spec.template
batch.volcano.sh/Job on spec.tasks[*].template
batch.volcano.sh/CronJob on spec.jobTemplate.spec.tasks[*].template
flow.volcano.sh/JobTemplate off spec.tasks[*].template
jobset.x-k8s.io/JobSet on spec.replicatedJobs[*].template.spec.template
leaderworkerset.x-k8s.io/LeaderWorkerSet on spec.leaderWorkerTemplate.leaderTemplate spec.leaderWorkerTemplate.workerTemplate
serving.knative.dev/Service off spec.template
serving.knative.dev/Configuration off spec.template
ray.io/RayCluster off spec.headGroupSpec.template spec.workerGroupSpecs[*].template
ray.io/RayJob off spec.rayClusterSpec.headGroupSpec.template spec.rayClusterSpec.workerGroupSpecs[*].template
ray.io/RayService off spec.rayClusterConfig.headGroupSpec.template spec.rayClusterConfig.workerGroupSpecs[*].template
kubeflow.org/PyTorchJob off spec.pytorchReplicaSpecs.*.template
kubeflow.org/TFJob off spec.tfReplicaSpecs.*.template
kubeflow.org/MPIJob off spec.mpiReplicaSpecs.*.template
kubeflow.org/XGBoostJob off spec.xgbReplicaSpecs.*.template
argoproj.io/Experiment off spec.templates[*].template
argoproj.io/Workflow never
argoproj.io/WorkflowTemplate never
argoproj.io/ClusterWorkflowTemplate never
argoproj.io/CronWorkflow never
tekton.dev/Task never
tekton.dev/TaskRun never
tekton.dev/Pipeline never
tekton.dev/PipelineRun never
apps.kruise.io/SidecarSet never
template.openshift.io/Template never
core/Template never
keda.sh/ScaledJob off spec.jobTargetRef.template
agones.dev/GameServer off spec.template
agones.dev/Fleet off spec.template.spec.template
`

func TestDefaultTable(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	got.WriteByte('\n')
	for _, r := range Default().Rows() {
		got.WriteString(r.Name() + " " + r.Mode.String())
		for _, p := range r.Paths {
			got.WriteString(" " + p.String())
		}
		got.WriteByte('\n')
		if r.Mode == Never && r.Reason == "" {
			t.Errorf("%s: no reason", r.Name())
		}
	}
	if diff := cmp.Diff(strings.Split(table, "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const podTemplate = `{metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web:1}]}}`

// document writes an object of a kind with a pod template at every one of its paths; fan-outs get two elements.
func document(apiVersion, kind string, paths []string) (source string, fields []string) {
	root := map[string]any{}
	for _, p := range paths {
		for _, field := range fan(p) {
			put(root, strings.Split(field, "."), podTemplate)
			fields = append(fields, strings.ReplaceAll(field, ".#", ""))
		}
	}
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: web}\n" + flow(root), fields
}

// fan writes a path with its wildcards filled in, indexes as .#[n].
func fan(path string) []string {
	switch {
	case strings.Contains(path, "[*]"):
		return []string{strings.Replace(path, "[*]", ".#[0]", 1), strings.Replace(path, "[*]", ".#[1]", 1)}
	case strings.Contains(path, ".*"):
		return []string{strings.Replace(path, ".*", ".Master", 1), strings.Replace(path, ".*", ".Worker", 1)}
	}
	return []string{path}
}

func put(m map[string]any, keys []string, value string) {
	for _, key := range keys[:len(keys)-1] {
		if m[key] == nil {
			m[key] = map[string]any{}
		}
		m = m[key].(map[string]any)
	}
	m[keys[len(keys)-1]] = value
}

// flow prints the top level as block lines and all below as flow; keys of the form #[n] make a sequence.
func flow(root map[string]any) string {
	var b strings.Builder
	for _, key := range []string{"spec", "template"} {
		if v, ok := root[key]; ok {
			b.WriteString(key + ": " + inline(v) + "\n")
		}
	}
	return b.String()
}

func inline(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return v.(string)
	}
	if m["#[0]"] != nil {
		return "[" + inline(m["#[0]"]) + ", " + inline(m["#[1]"]) + "]"
	}
	var parts []string
	for _, key := range []string{
		"jobTemplate", "broadcastJobTemplate", "statefulSetTemplate", "advancedStatefulSetTemplate", "cloneSetTemplate",
		"deploymentTemplate", "tasks", "replicatedJobs", "leaderWorkerTemplate", "leaderTemplate", "workerTemplate",
		"rayClusterSpec", "rayClusterConfig", "headGroupSpec", "workerGroupSpecs", "pytorchReplicaSpecs", "tfReplicaSpecs",
		"mpiReplicaSpecs", "xgbReplicaSpecs", "Master", "Worker", "templates", "jobTargetRef", "spec", "template",
	} {
		if m[key] != nil {
			parts = append(parts, key+": "+inline(m[key]))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// TestEachKind finds every template of every row: as it is, switched on, or named in a notice.
func TestEachKind(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(table)) {
		words := strings.Fields(line)
		name, mode, paths := words[0], words[1], words[2:]
		group, kind, _ := strings.Cut(name, "/")
		apiVersion := group + "/v9"
		if group == "core" {
			apiVersion = "v1"
		}
		if kind == "Pod" {
			continue // TestFind
		}
		source, fields := document(apiVersion, kind, paths)
		reg := Default()
		found := Find(reg, parse(t, source))
		switch mode {
		case "off":
			wantNotice(t, name, found, CodeKind, "--kind +"+name)
			var err error
			if reg, err = reg.With("+" + name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			found = Find(reg, parse(t, source))
		case "never":
			wantNotice(t, name, found, CodeKind, name+" is not injected: ")
			if _, err := reg.With("+" + name); err == nil {
				t.Errorf("%s can be switched on", name)
			}
			continue
		}
		if len(found.Notices) > 0 {
			t.Errorf("%s: %v\n%s", name, found.Notices, source)
		}
		var got []string
		for _, o := range found.Objects {
			for _, tmpl := range o.Templates {
				got = append(got, tmpl.Field(o))
			}
		}
		if diff := cmp.Diff(fields, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, source)
		}
		reg, err := reg.With("-" + name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if off := Find(reg, parse(t, source)); off.HasTemplates() || len(off.Notices) > 0 {
			t.Errorf("%s is off, but: %+v", name, off)
		}
	}
}

func wantNotice(t *testing.T, name string, found Found, code, text string) {
	t.Helper()
	if found.HasTemplates() || len(found.Notices) != 1 || found.Notices[0].Code != code ||
		!strings.Contains(found.Notices[0].Message+found.Notices[0].Hint, text) {
		t.Errorf("%s: want one %s with %q, got %v", name, code, text, found.Notices)
	}
}

// TestOtherGroups passes every registered kind silently when it belongs to a group that is not in the table.
func TestOtherGroups(t *testing.T) {
	t.Parallel()
	for _, r := range Default().Rows() {
		source := fmt.Sprintf("{apiVersion: example.com/v1, kind: %s, spec: {template: %s}}", r.Kind, podTemplate)
		if found := Find(Default(), parse(t, source)); found.HasTemplates() || len(found.Notices) > 0 {
			t.Errorf("%s: %+v", r.Kind, found)
		}
	}
}

func TestCandidate(t *testing.T) {
	t.Parallel()
	mentions := func(groups ...string) func(string) bool {
		return func(group string) bool {
			for _, g := range groups {
				if g == group {
					return true
				}
			}
			return false
		}
	}
	reg := Default()
	for _, tt := range []struct {
		kind     string
		mentions func(string) bool
		want     bool
	}{
		{"Deployment", mentions(), true},
		{"Pod", mentions(), true},
		{"ConfigMap", mentions("apps"), false},
		{"Service", mentions(), false},
		{"Service", mentions("serving.knative.dev"), true},
		{"Task", mentions("tekton.dev"), true},
		{"Task", mentions(), false},
		{"List", mentions(), true},
		{"AllowList", mentions(), true},
		{"ResourceList", mentions(), true},
		{"Template", mentions(), true},
		{"WebApp", mentions("example.com"), false},
	} {
		if got := reg.Candidate(tt.kind, tt.mentions); got != tt.want {
			t.Errorf("%s: %v", tt.kind, got)
		}
	}
	reg, err := reg.With("example.com/WebApp=spec.pod,+serving.knative.dev/Service")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"WebApp", "Service"} {
		if !reg.Candidate(kind, mentions()) {
			t.Errorf("%s is no candidate after it was switched on", kind)
		}
	}
}
