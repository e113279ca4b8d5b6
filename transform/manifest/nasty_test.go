package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

const corpus = "../../../shared/corpus"

// expectation is expect.json of a case.
type expectation struct {
	Result          string
	ErrorLine       int
	ErrorColumn     int
	ErrorContains   string
	ErrorCode       string
	AltErrorLines   []int
	WarningContains string
	Workloads       int
	Preserve        *bool
	Reencode        bool
	DocIndex        int
	Want            bool
	WantAdvisory    bool
}

func nastyCases(t *testing.T, prefix string) []string {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(corpus, "nasty", prefix+"*"))
	if len(dirs) == 0 {
		t.Skip("the shared corpus is not beside this checkout")
	}
	return dirs
}

func readCase(t *testing.T, dir string) (file string, input []byte, e expectation) {
	t.Helper()
	for _, name := range []string{"input.yaml", "input.json"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			file, input = name, b
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	return file, input, e
}

// testKinds is a little registry for these tests: kind words and the paths to their pod templates.
func testKinds() map[string][]string {
	return map[string][]string{
		"Pod": {""}, "ReplicationController": {"spec.template"}, "PodTemplate": {"template"},
		"Deployment": {"spec.template"}, "StatefulSet": {"spec.template"}, "DaemonSet": {"spec.template"},
		"ReplicaSet": {"spec.template"}, "Job": {"spec.template", "spec.tasks.*.template"},
		"CronJob":          {"spec.jobTemplate.spec.template", "spec.jobTemplate.spec.tasks.*.template"},
		"DeploymentConfig": {"spec.template"}, "Rollout": {"spec.template"}, "CloneSet": {"spec.template"},
		"BroadcastJob": {"spec.template"},
		"AdvancedCronJob": {
			"spec.template.jobTemplate.spec.template", "spec.template.broadcastJobTemplate.spec.template",
		},
		"JobSet":          {"spec.replicatedJobs.*.template.spec.template"},
		"LeaderWorkerSet": {"spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"},
		"Service":         {}, "Template": {}, "WebApp": {"spec.workers.*.pod"},
	}
}

func sniffSet() KindSet {
	set := KindSet{}
	for k := range testKinds() {
		set[k] = nil
	}
	set["Service"] = []string{"serving.knative.dev"}
	return set
}

// templates finds the pod templates of a parsed document: paths to template and to its spec.
func templates(p *Parsed) []Path {
	var out []Path
	var object func(at Path, n *yaml.Node, kind, group string)
	object = func(at Path, n *yaml.Node, kind, group string) {
		n = Resolve(n)
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		if v := Resolve(Lookup(n, "kind")); v != nil {
			kind = v.Value
		}
		v := Resolve(Lookup(n, "apiVersion"))
		if v != nil {
			group = v.Value
		}
		if strings.HasSuffix(kind, "List") {
			items := Resolve(Lookup(n, "items"))
			if items == nil || items.Kind != yaml.SequenceNode {
				return
			}
			for i, it := range items.Content {
				object(at.With(Key("items"), At(i)), it, strings.TrimSuffix(kind, "List"), group)
			}
			return
		}
		if kind == "" || group == "" || strings.HasPrefix(group, "example.") && kind != "WebApp" ||
			group == "v1" && slices.Contains([]string{"Deployment"}, kind) {
			return
		}
		for _, path := range testKinds()[kind] {
			walkPath(p, at, path, &out)
		}
	}
	object(nil, p.Root, "", "")
	return out
}

func walkPath(p *Parsed, at Path, rest string, out *[]Path) {
	if rest == "" {
		n := p.Get(at)
		if n != nil && n.Kind == yaml.MappingNode {
			if cs := p.Get(at.With(Key("spec"), Key("containers"))); cs != nil && cs.Kind == yaml.SequenceNode && len(cs.Content) > 0 {
				for _, c := range cs.Content {
					if Lookup(c, "image") != nil {
						*out = append(*out, at)
						return
					}
				}
			}
		}
		return
	}
	key, rest, _ := strings.Cut(rest, ".")
	if key != "*" {
		walkPath(p, at.With(Key(key)), rest, out)
		return
	}
	if n := p.Get(at); n != nil {
		for i := range n.Content {
			if n.Kind == yaml.SequenceNode {
				walkPath(p, at.With(At(i)), rest, out)
			}
		}
	}
}

func matchesFinding(f policy.Finding, e expectation) bool {
	if e.ErrorCode != "" && f.Code != e.ErrorCode {
		return false
	}
	if f.Position.Line != e.ErrorLine && !slices.Contains(e.AltErrorLines, f.Position.Line) {
		return false
	}
	if e.ErrorColumn > 0 && f.Position.Column != e.ErrorColumn {
		return false
	}
	return strings.Contains(f.Error()+" "+f.Hint, e.ErrorContains)
}
