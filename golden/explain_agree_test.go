package golden

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/workload"
)

// TestExplainAgrees explains and injects the same documents: explaining changes no byte, no decision and no finding, each
// pod template has its explanation, and every field that it says was changed is one that was.
func TestExplainAgrees(t *testing.T) {
	t.Parallel()
	for _, corpus := range []string{"istio-1.30", "istio-1.7"} {
		cases := conformanceCases(t, corpus)
		t.Run(corpus, func(t *testing.T) {
			t.Parallel()
			explained := 0
			for _, c := range cases {
				o := config.LoadOptions{
					Embedded:  transform.Embedded(),
					Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh), Revision: c.Revision,
				}
				b, _ := config.Load(o)
				if b == nil {
					continue
				}
				compiled, fs := transform.Compile(b, transform.Setup{Registry: workload.Default()})
				if failed := slices.ContainsFunc(fs, func(f policy.Finding) bool { return f.Severity == policy.Error }); failed || compiled == nil {
					continue
				}
				in := transform.New(compiled.Options)
				e := transform.NewExplainer(transform.Sources{Bundle: b, Compiled: compiled, Setup: transform.Setup{Registry: workload.Default()}})
				explained += agrees(t, filepath.Base(c.Dir), in, e, readFile(t, c.Dir, "input.yaml"))
			}
			if explained < 50 {
				t.Errorf("only %d values: hardly anything was explained", explained)
			}
		})
	}
}

// agrees compares the two for every document of a stream and gives the number of values that were explained.
func agrees(t *testing.T, name string, in *transform.Injector, e *transform.Explainer, text []byte) int {
	t.Helper()
	values := 0
	r := manifest.NewReader("input.yaml", bytes.NewReader(text))
	for {
		d, err := r.Next()
		if err == io.EOF {
			return values
		}
		if err != nil {
			t.Fatal(err)
		}
		want, got := in.Document(d), e.Document(d)
		if !bytes.Equal(want.Raw, got.Raw) {
			t.Errorf("%s: explaining changes the result", name)
		}
		if d := cmp.Diff(want.Findings, got.Findings); d != "" {
			t.Errorf("%s: explaining changes the findings:\n%s", name, d)
		}
		for i := range got.Workloads {
			w := &got.Workloads[i]
			if w.Explanation == nil || len(w.Explanation.Trail) == 0 {
				t.Errorf("%s: %s is not explained", name, w.Resource)
				continue
			}
			values += len(w.Explanation.Values)
			if w.Action == transform.Injected && (len(w.Explanation.Changes) == 0 || len(w.Explanation.Values) == 0) {
				t.Errorf("%s: %s is injected, and nothing is said about it", name, w.Resource)
			}
		}
		left := cmpopts.IgnoreFields(transform.Workload{}, "Explanation", "Trace")
		if d := cmp.Diff(want.Workloads, templatesOf(got.Workloads), left, cmpopts.IgnoreUnexported(pod.Trace{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: explaining changes the decision:\n%s", name, d)
		}
	}
}

// templatesOf leaves out the objects without a pod template, which only an explanation names.
func templatesOf(ws []transform.Workload) []transform.Workload {
	var out []transform.Workload
	for _, w := range ws {
		if w.Decision.Rule != transform.StepKind {
			out = append(out, w)
		}
	}
	return out
}
