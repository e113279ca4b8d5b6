package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestWith(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spec string
		rows []string // the rows asked for, as "name mode paths"
	}{
		"on":            {"+ray.io/RayCluster", []string{"ray.io/RayCluster on spec.headGroupSpec.template,spec.workerGroupSpecs[*].template"}},
		"off":           {"-apps/Deployment", []string{"apps/Deployment off spec.template"}},
		"on that is on": {"+apps/Deployment", []string{"apps/Deployment on spec.template"}},
		"off and on":    {"-core/Pod,+core/Pod", []string{"core/Pod on @pod"}},
		"define":        {"example.com/WebApp=spec.workers[*].pod", []string{"example.com/WebApp on spec.workers[*].pod"}},
		"two paths": {
			"example.com/WebApp=spec.a,spec.b@podspec,-apps/Deployment",
			[]string{"example.com/WebApp on spec.a,spec.b@podspec", "apps/Deployment off spec.template"},
		},
		"two kinds": {
			"a.io/A=x,b.io/B=y.*.z@pod", []string{"a.io/A on x", "b.io/B on y.*.z@pod"},
		},
		"quoted": {
			`a.io/A=spec["a.b/c,d"].x,["first"]`, []string{`a.io/A on spec["a.b/c,d"].x,first`},
		},
		"odd quoted keys": {`a.io/A=spec["*"]["a\"b"]@pod`, []string{`a.io/A on spec.*["a\"b"]@pod`}},
		"replace never":   {"tekton.dev/Task=spec.podTemplate@podspec", []string{"tekton.dev/Task on spec.podTemplate@podspec"}},
		"replace core":    {"core/Template=objects[*].spec.template", []string{"core/Template on objects[*].spec.template"}},
		"blanks":          {" +ray.io/RayJob , -apps/ReplicaSet", []string{"apps/ReplicaSet off spec.template"}},
	} {
		reg, err := Default().With(tt.spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range tt.rows {
			group, kind, _ := strings.Cut(strings.Fields(want)[0], "/")
			if group == "core" {
				group = ""
			}
			row, _ := reg.Lookup(group, kind)
			paths := make([]string, len(row.Paths))
			for i, p := range row.Paths {
				paths[i] = p.String()
			}
			if got := row.Name() + " " + row.Mode.String() + " " + strings.Join(paths, ","); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	if diff := cmp.Diff(51, len(Default().Rows())); diff != "" {
		t.Errorf("the default registry changed (-want +got):\n%s", diff)
	}
}

func TestWithRefuses(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"":                            "an entry is empty",
		"apps/Deployment,":            "write +apps/Deployment to switch the kind on",
		"Deployment":                  "is no group/Kind",
		"apps/deployment=spec":        "is no group/Kind",
		"Apps/Deployment=spec":        "is no group/Kind",
		"apps/Deployment":             "apps/Deployment=PATH to say where",
		"+apps/Deployment=spec":       "takes no path",
		"+apps/Deploy":                "known are apps/Deployment",
		"+example.com/Service":        "known are serving.knative.dev/Service",
		"-example.com/Thing":          "write example.com/Thing=PATH",
		"+tekton.dev/Task":            "it has no pod template",
		"a.io/A=":                     "the path is empty",
		"a.io/A=@pod":                 "the path is empty",
		"a.io/A=spec..x":              "a key is empty",
		"a.io/A=spec.":                "a key is empty",
		"a.io/A=spec[0].x":            "brackets hold *",
		"a.io/A=[*].x":                "must start with a key",
		"a.io/A=*.x":                  "must start with a key",
		"a.io/A=spec[*]x":             "a dot or bracket is missing",
		"a.io/A=spec@container":       "only @pod and @podspec are known",
		`a.io/A=spec["x`:              "a quoted key is written",
		`a.io/A=spec["x"`:             "a quoted key is written",
		"a.io/A=spec.a b":             "is no plain key",
		"a.io/A=spec.a*":              "is no plain key",
		"a.io/A=spec.x,":              "an entry is empty",
		"a.io/A=spec.x,spec..y":       "a key is empty",
		"+apps/Deployment,spec.other": "is no group/Kind",
	} {
		reg, err := Default().With(spec)
		if err == nil {
			t.Errorf("%q is accepted: %v", spec, reg.Rows()[len(reg.Rows())-1])
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--kind ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q in it", spec, err, want)
		}
	}
}

// TestWithLeavesTheRegistry holds that a registry is a value.
func TestWithLeavesTheRegistry(t *testing.T) {
	t.Parallel()
	reg := Default()
	if _, err := reg.With("-apps/Deployment,a.io/A=x"); err != nil {
		t.Fatal(err)
	}
	if row, _ := reg.Lookup("apps", "Deployment"); row.Mode != On {
		t.Error("With changed the registry it was called on")
	}
	if _, ok := Default().Lookup("a.io", "A"); ok {
		t.Error("With changed the default registry")
	}
}

func FuzzWith(f *testing.F) {
	for _, seed := range []string{
		"+ray.io/RayCluster", "-core/Pod", "a.io/A=spec.x,y[*].z@podspec", `a.io/A=["a.b"].*`, "a.io/A=x@", "=", "+", ",",
		`a.io/A="`, `a.io/A=["\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		reg, err := Default().With(spec)
		if err != nil {
			return
		}
		for _, row := range reg.Rows() {
			for _, p := range row.Paths {
				if again, err := parsePath(p.String()); err != nil || !cmp.Equal(again.String(), p.String()) {
					t.Errorf("%q: path %q does not read back: %v", spec, p, err)
				}
			}
		}
	})
}

func TestUserPathFindsNothing(t *testing.T) {
	t.Parallel()
	const widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
	for name, tt := range map[string]struct {
		kind, source string
		want         []string
	}{
		"slip in the path": {
			"example.com/Widget=spec.template", widget + "spec:\n  pod: {}\n  size: 3",
			[]string{"4: E_SHAPE spec.template: --kind example.com/Widget finds no pod: no pod template at spec.template, where spec has pod, size"},
		},
		"ends in a scalar": {
			"example.com/Widget=spec.size.template", widget + "spec: {size: 3}",
			[]string{"4: E_TYPE spec.size: expected mapping, found integer"},
		},
		"empty list": {
			"example.com/Widget=spec.pods[*].template", widget + "spec:\n  pods: []",
			[]string{"5: E_SHAPE spec.pods[*].template: --kind example.com/Widget finds no pod: no pod template at spec.pods[*].template, where spec.pods is a sequence of 0 elements"},
		},
		"no containers": {
			"example.com/Widget=spec.template", widget + "spec:\n  template:\n    spec: {replicas: 1}",
			[]string{"6: E_SHAPE spec.template.spec.containers: --kind example.com/Widget finds no pod: no containers at spec.template.spec.containers"},
		},
		"one of two elements": {
			"example.com/Widget=spec.pods[*].template", widget + "spec:\n  pods:\n  - template: {spec: {containers: [{name: a, image: b}]}}\n  - {name: remote}",
			[]string{
				`example.com/v1 Widget w: template at "spec.pods[0].template"`,
				"7: W_PARTIAL spec.pods[1].template: no pod template at spec.pods[1].template, where spec.pods[1] has name: passed unchanged",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg, err := Default().With(tt.kind)
			if err != nil {
				t.Fatal(err)
			}
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(tt.source), &root); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, brief(Find(reg, &root))); d != "" {
				t.Error(d)
			}
		})
	}
}
