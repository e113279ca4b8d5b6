package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// brief prints what was found: a line per template, and a line per notice with the line it points to.
func brief(f Found) []string {
	var lines []string
	for _, o := range f.Objects {
		for _, t := range o.Templates {
			lines = append(lines, fmt.Sprintf("%s: %s at %q", o.Resource, t.Shape, t.Field(o)))
		}
	}
	for _, n := range f.Notices {
		lines = append(lines, fmt.Sprintf("%d: %s %s: %s", n.Node.Line, n.Code, n.Field, n.Message))
	}
	return lines
}

func TestFind(t *testing.T) {
	t.Parallel()
	const spec = "spec: {containers: [{name: a, image: b}]}"
	for name, tt := range map[string]struct {
		source string
		want   []string
	}{
		"nothing":  {"", nil},
		"scalar":   {"hello", nil},
		"sequence": {"[1, {a: b}]", nil},
		"pod":      {"{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, " + spec + "}", []string{`v1 Pod shop/web: pod at ""`}},
		"generate": {"{apiVersion: v1, kind: Pod, metadata: {generateName: web-}, " + spec + "}", []string{`v1 Pod web-*: pod at ""`}},
		"array": {
			"[{apiVersion: v1, kind: Pod, " + spec + "}]",
			[]string{"1: W_ARRAY : a top-level array is no Kubernetes object: passed unchanged"},
		},
		"no kind":       {"a: b\nkinds: c", nil},
		"only kind":     {"a: b\nkind: Pod", []string{"2: W_NOTK8S : no Kubernetes object: apiVersion is missing or no string; passed unchanged"}},
		"only version":  {"a: b\napiVersion: v1", []string{"2: W_NOTK8S : no Kubernetes object: kind is missing or no string; passed unchanged"}},
		"number kind":   {"apiVersion: v1\nkind: 1", []string{"2: W_NOTK8S : no Kubernetes object: kind is missing or no string; passed unchanged"}},
		"anchored kind": {"{apiVersion: v1, kind: &k Pod, x: *k, " + spec + "}", []string{`v1 Pod: pod at ""`}},
		"wrong group": {
			"kind: StatefulSet\napiVersion: v1\n" + spec,
			[]string{"2: W_GROUP apiVersion: the core group has no StatefulSet: passed unchanged; did you mean apps/v1"},
		},
		"wrong group of another project": {
			"{kind: CloneSet, apiVersion: v1}",
			[]string{"1: W_GROUP apiVersion: the core group has no CloneSet: passed unchanged; did you mean apps.kruise.io"},
		},
		"wrong group of a list": {
			"{kind: DeploymentList, apiVersion: v1, items: []}",
			[]string{"1: W_GROUP apiVersion: the core group has no DeploymentList: passed unchanged; did you mean apps/v1"},
		},
		"workloadRef": {
			"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nspec:\n  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}",
			[]string{
				"4: W_WORKLOADREF spec.workloadRef: spec.workloadRef names apps/v1 Deployment web: " +
					"the pod template is there, and is injected there",
			},
		},
		"no template": {
			"apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1",
			[]string{"3: W_PARTIAL spec.template: no pod template at spec.template: passed unchanged"},
		},
		"no spec": {
			"apiVersion: batch/v1\nkind: CronJob",
			[]string{"1: W_PARTIAL spec.jobTemplate.spec.template: no pod template at spec.jobTemplate.spec.template: passed unchanged"},
		},
		"null template": {
			"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:",
			[]string{"4: W_PARTIAL spec.template: no pod template at spec.template: passed unchanged"},
		},
		"template without spec": {
			"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template: {metadata: {}}",
			[]string{"4: W_PARTIAL spec.template.spec.containers: no containers at spec.template.spec.containers: passed unchanged"},
		},
		"null containers": {
			"apiVersion: v1\nkind: Pod\nspec:\n  containers:",
			[]string{"4: W_PARTIAL spec.containers: no containers at spec.containers: passed unchanged"},
		},
		"empty containers": {
			"apiVersion: v1\nkind: Pod\nspec:\n  containers: []",
			[]string{"4: W_PARTIAL spec.containers: no containers at spec.containers: passed unchanged"},
		},
		"absent containers": {
			"apiVersion: v1\nkind: Pod\nspec:\n  nodeName: a",
			[]string{"3: W_PARTIAL spec.containers: no containers at spec.containers: passed unchanged"},
		},
		"no image": {
			"apiVersion: v1\nkind: Pod\nspec:\n  containers: [{name: a, image: }]",
			[]string{"4: W_PARTIAL spec.containers: no container has an image, as in a patch (spec.containers): passed unchanged"},
		},
		"one image is enough": {
			"{apiVersion: v1, kind: Pod, spec: {containers: [{name: a}, {name: b, image: c}]}}", []string{`v1 Pod: pod at ""`},
		},
		"template is a scalar": {
			"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template: yes please",
			[]string{"4: E_TYPE spec.template: expected mapping, found string"},
		},
		"spec is a list": {
			"apiVersion: apps/v1\nkind: Deployment\nspec: []",
			[]string{"3: E_TYPE spec: expected mapping, found sequence"},
		},
		"pod spec is a number": {
			"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec: 1",
			[]string{"5: E_TYPE spec.template.spec: expected mapping, found integer"},
		},
		"template metadata is a list": {
			"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    metadata: []\n    " + spec,
			[]string{"5: E_TYPE spec.template.metadata: expected mapping, found sequence"},
		},
		"null template metadata": {
			"{apiVersion: apps/v1, kind: Deployment, spec: {template: {metadata: , " + spec + "}}}",
			[]string{`apps/v1 Deployment: template at "spec.template"`},
		},
		"containers is a mapping": {
			"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    a: {image: b}",
			[]string{"5: E_TYPE spec.containers: expected sequence, found mapping"},
		},
		"container is a scalar": {
			"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: a, image: b}\n  - true",
			[]string{"6: E_TYPE spec.containers[1]: expected mapping, found boolean"},
		},
		"tasks is a mapping": {
			"apiVersion: batch.volcano.sh/v1\nkind: Job\nspec:\n  tasks: {}",
			[]string{"4: E_TYPE spec.tasks: expected sequence, found mapping"},
		},
		"no tasks": {
			"apiVersion: batch.volcano.sh/v1\nkind: Job\nspec:\n  tasks: []",
			[]string{"4: W_PARTIAL spec.tasks[*].template: no pod template at spec.tasks[*].template: passed unchanged"},
		},
		"one task of two": {
			"apiVersion: batch.volcano.sh/v1\nkind: Job\nspec:\n  tasks:\n  - name: a\n  - template: {" + spec + "}",
			[]string{
				`batch.volcano.sh/v1 Job: template at "spec.tasks[1].template"`,
				"5: W_PARTIAL spec.tasks[0].template: no pod template at spec.tasks[0].template: passed unchanged",
			},
		},
		"a path that need not be there": {
			"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: {leaderWorkerTemplate: {workerTemplate: {" + spec + "}}}}",
			[]string{`leaderworkerset.x-k8s.io/v1 LeaderWorkerSet: template at "spec.leaderWorkerTemplate.workerTemplate"`},
		},
		"none of two paths": {
			"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {size: 1}",
			[]string{
				"3: W_PARTIAL spec.leaderWorkerTemplate.leaderTemplate: no pod template at " +
					"spec.leaderWorkerTemplate.leaderTemplate or spec.leaderWorkerTemplate.workerTemplate: passed unchanged",
			},
		},
		"several paths in document order": {
			"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec:\n  leaderWorkerTemplate:\n" +
				"    workerTemplate: {" + spec + "}\n    leaderTemplate: {" + spec + "}",
			[]string{
				`leaderworkerset.x-k8s.io/v1 LeaderWorkerSet: template at "spec.leaderWorkerTemplate.workerTemplate"`,
				`leaderworkerset.x-k8s.io/v1 LeaderWorkerSet: template at "spec.leaderWorkerTemplate.leaderTemplate"`,
			},
		},
		"through aliases": {
			"x: &t {" + spec + "}\napiVersion: apps/v1\nkind: Deployment\nspec: {template: *t}",
			[]string{`apps/v1 Deployment: template at "spec.template"`},
		},
		"through merge keys": {
			"x: &s {containers: [{name: a, image: b}]}\napiVersion: v1\nkind: Pod\nspec: {<<: *s, nodeName: n}",
			[]string{`v1 Pod: pod at ""`},
		},
		"sops": {
			"apiVersion: v1\nkind: Pod\n" + spec + "\nsops: {mac: x}",
			[]string{"4: W_SOPS sops: the document is encrypted by sops: an edit would break its MAC"},
		},
		"sops without a MAC": {"{apiVersion: v1, kind: Pod, sops: {}, " + spec + "}", []string{`v1 Pod: pod at ""`}},
		"sops secret":        {"{apiVersion: v1, kind: Secret, sops: {mac: x}}", nil},
		"nested workload":    {"{apiVersion: a.io/v1, kind: Thing, spec: {apiVersion: v1, kind: Pod, " + spec + "}}", nil},
	} {
		if diff := cmp.Diff(tt.want, brief(Find(Default(), parse(t, tt.source)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFindLists(t *testing.T) {
	t.Parallel()
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: b}]}}"
	const tmpl = "spec: {template: {spec: {containers: [{name: a, image: b}]}}}"
	for name, tt := range map[string]struct {
		source string
		want   []string
	}{
		"list":       {"{apiVersion: v1, kind: List, items: [" + pod + ", null, {apiVersion: v1, kind: Service}, " + pod + "]}", []string{`v1 Pod web items[0]: pod at ""`, `v1 Pod web items[3]: pod at ""`}},
		"nested":     {"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [" + pod + "]}]}", []string{`v1 Pod web items[0].items[0]: pod at ""`}},
		"empty":      {"{apiVersion: v1, kind: List, items: []}", nil},
		"null items": {"{apiVersion: v1, kind: List, items: }", nil},
		"no items":   {"{apiVersion: v1, kind: List}", nil},
		"typed": {
			"{apiVersion: apps/v1, kind: DeploymentList, items: [{metadata: {name: a}, " + tmpl + "}]}",
			[]string{`apps/v1 Deployment a items[0]: template at "spec.template"`},
		},
		"typed item with a kind of its own": {
			"{apiVersion: apps/v1, kind: DeploymentList, items: [{kind: StatefulSet, " + tmpl + "}, {apiVersion: a.io/v1, " + tmpl + "}]}",
			[]string{`apps/v1 StatefulSet items[0]: template at "spec.template"`},
		},
		"typed list of another group": {"{apiVersion: a.io/v1, kind: DeploymentList, items: [{" + tmpl + "}]}", nil},
		"no list at all":              {"{apiVersion: a.io/v1, kind: AllowList, items: 1}", nil},
		"List of another group":       {"{apiVersion: a.io/v1, kind: List, items: [" + pod + "]}", nil},
		"resource list": {
			"{apiVersion: config.kubernetes.io/v1, kind: ResourceList, functionConfig: " + pod + ", items: [" + pod + "]}",
			[]string{`v1 Pod web items[0]: pod at ""`},
		},
		"items is a mapping": {
			"apiVersion: v1\nkind: List\nitems: {a: 1}",
			[]string{"3: E_SHAPE items: items must be a sequence, found mapping"},
		},
		"item is a scalar": {
			"apiVersion: v1\nkind: List\nitems:\n- a",
			[]string{"4: E_SHAPE items[0]: an item must be an object, found string"},
		},
		"off kinds in a list": {
			"{apiVersion: keda.sh/v1, kind: ScaledJobList, items: [{metadata: {name: a}}]}",
			[]string{"1: W_KIND : keda.sh/ScaledJob is not injected unless switched on"},
		},
		"items share an anchor": {
			"{apiVersion: v1, kind: List, items: [&p " + pod + ", *p]}",
			[]string{`v1 Pod web items[0]: pod at ""`, `v1 Pod web items[1]: pod at ""`},
		},
		"a list in itself": {
			"apiVersion: v1\nkind: List\nitems: &l\n- {apiVersion: v1, kind: List, items: *l}",
			[]string{"4: E_ALIAS items: the list holds itself through an alias"},
		},
	} {
		if diff := cmp.Diff(tt.want, brief(Find(Default(), parse(t, tt.source)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestListDepth(t *testing.T) {
	t.Parallel()
	nest := func(n int) Found {
		s := "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: b}]}}"
		for range n {
			s = "{apiVersion: v1, kind: List, items: [" + s + "]}"
		}
		return Find(Default(), parse(t, s))
	}
	if f := nest(8); !f.HasTemplates() || len(f.Notices) > 0 {
		t.Errorf("8 levels: %v", brief(f))
	}
	if f := nest(9); f.HasTemplates() || len(f.Notices) != 1 || f.Notices[0].Code != CodeLimit {
		t.Errorf("9 levels: %v", brief(f))
	}
}

// TestListBomb opens lists whose aliases multiply: the walk ends with one error.
func TestListBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("x0: &x0 {apiVersion: v1, kind: List, items: [" + strings.Repeat("null,", 50) + "]}\n")
	for i := range 6 {
		alias := fmt.Sprintf("*x%d,", i)
		b.WriteString(fmt.Sprintf("x%d: &x%d {apiVersion: v1, kind: List, items: [%s]}\n", i+1, i+1, strings.Repeat(alias, 50)))
	}
	b.WriteString("apiVersion: v1\nkind: List\nitems: [*x6]\n")
	found := Find(Default(), parse(t, b.String()))
	if len(found.Notices) != 1 || found.Notices[0].Code != CodeLimit {
		t.Errorf("%v", brief(found))
	}
}

func TestPodSpecPath(t *testing.T) {
	t.Parallel()
	reg, err := Default().With("a.io/App=spec.pod@podspec,spec.all.*@pod")
	if err != nil {
		t.Fatal(err)
	}
	found := Find(reg, parse(t, `
apiVersion: a.io/v1
kind: App
spec:
  pod: {containers: [{name: a, image: b}], metadata: {name: no}}
  all:
    x: {metadata: {name: x}, spec: {containers: [{name: a, image: b}]}}
`))
	want := []string{`a.io/v1 App: podspec at "spec.pod"`, `a.io/v1 App: pod at "spec.all.x"`}
	if diff := cmp.Diff(want, brief(found)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	spec, pod := found.Objects[0].Templates[0], found.Objects[0].Templates[1]
	if spec.Metadata != nil || spec.Spec != spec.Node {
		t.Error("a bare pod spec has metadata or another spec")
	}
	if pod.Metadata == nil || pod.Spec == pod.Node {
		t.Error("a pod lacks its metadata or spec")
	}
}

func TestNoticesUnderStrict(t *testing.T) {
	t.Parallel()
	found := Find(Default(), parse(t, "{apiVersion: apps/v1, kind: Deployment}"))
	n := found.Notices[0]
	if !n.Strict || n.StrictCode != CodeShape || n.Severity != policy.Warning || n.Resource.Kind != "Deployment" {
		t.Errorf("%+v", n)
	}
	if n := Find(Default(), parse(t, "{apiVersion: tekton.dev/v1, kind: Task}")).Notices[0]; n.Strict {
		t.Errorf("%+v", n)
	}
}

func TestCheckNames(t *testing.T) {
	t.Parallel()
	found := Find(Default(), parse(t, `
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      initContainers:
      - {name: web, image: b}
      containers:
      - {name: web, image: b}
      - image: b
      - image: c
        name: web
      volumes:
      - {emptyDir: {}}
`))
	o := found.Objects[0]
	var got []string
	for _, n := range o.Templates[0].CheckNames(o) {
		got = append(got, fmt.Sprintf("%d: %s %s: %s", n.Node.Line, n.Code, n.Field, n.Message))
	}
	want := []string{
		"11: E_SHAPE spec.template.spec.containers[1]: the container has no name",
		"13: E_DUPNAME spec.template.spec.containers[2].name: the name web is taken by spec.template.spec.containers[0]",
		"15: E_SHAPE spec.template.spec.volumes[0]: the volume has no name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzFind feeds any YAML: Find ends, and what it gives is consistent.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		"{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: b}]}}",
		"&m\n<<: [*m, *m]\napiVersion: v1\nkind: List\nitems: [*m, *m]",
		"apiVersion: batch.volcano.sh/v1\nkind: Job\nspec: {tasks: [{template: 1}, null]}",
		"kind: 1\napiVersion: [",
		"? {a: b}\n: c\nkind: Pod\napiVersion: v1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		var n yaml.Node
		if yaml.Unmarshal([]byte(source), &n) != nil {
			return
		}
		found := Find(Default(), &n)
		for _, notice := range found.Notices {
			if notice.Node == nil || notice.Code == "" || notice.Message == "" || strings.Contains(notice.Message, "\n") {
				t.Errorf("%q: %+v", source, notice)
			}
		}
		for _, o := range found.Objects {
			for _, tmpl := range o.Templates {
				if tmpl.Node == nil || tmpl.Spec == nil {
					t.Errorf("%q: %+v", source, tmpl)
				}
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var n yaml.Node
	source := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 1\n  template:\n" +
		"    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - {name: web, image: b}\n"
	if err := yaml.Unmarshal([]byte(source), &n); err != nil {
		b.Fatal(err)
	}
	reg := Default()
	b.ReportAllocs()
	for b.Loop() {
		Find(reg, &n)
	}
}
