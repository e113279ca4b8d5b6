package golden

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// readPods reads the pods of a stream as lifecycle plays them; ok is false where there are errors.
func readPods(t testing.TB, r *transform.LifecycleReader, text []byte) (pods []transform.LifecyclePod, ok bool) {
	t.Helper()
	ok = true
	err := r.Stream(t.Context(), "input.yaml", bytes.NewReader(text), 1, func(b transform.Batch) error {
		for _, res := range b.Results {
			for _, f := range res.Findings {
				if f.Code == "E_INTERNAL" || f.Code == "E_VERIFY" {
					t.Error(f)
				}
			}
			ok = ok && !res.Failed()
			for _, w := range res.Workloads {
				pods = append(pods, w.Pods...)
			}
		}
		return nil
	})
	return pods, ok && err == nil
}

// TestLifecycleConformance reads what the conformance data hold: a pod injected in memory must play as the same pod
// injected by Istio does, and a variant must be what its name says.
func TestLifecycleConformance(t *testing.T) {
	t.Parallel()
	for _, corpus := range []string{"istio-1.6", "istio-1.7", "istio-1.24", "istio-1.30"} {
		t.Run(corpus, func(t *testing.T) {
			t.Parallel()
			known := deviations(t)
			played, compared := 0, 0
			for _, c := range conformanceCases(t, corpus) {
				if c.fails() || known[c.Name] != "" {
					continue
				}
				a, b := c.lifecycle(t)
				played, compared = played+a, compared+b
			}
			t.Logf("%d pods played, %d variants", played, compared)
			if played < 50 || compared < 100 {
				t.Errorf("only %d pods and %d variants", played, compared)
			}
		})
	}
}

// lifecycle plays one case and gives the number of pods and of variants.
func (c conformanceCase) lifecycle(t *testing.T) (played, compared int) {
	t.Helper()
	version := "" // found from the files, but for those whose format is that of two versions
	if corpus, _, _ := strings.Cut(c.Name, "/"); corpus == "istio-1.6" || corpus == "istio-1.7" {
		version = strings.TrimPrefix(corpus, "istio-")
	}
	b, fs := config.Load(config.LoadOptions{
		IstioVersion: version,
		Injection:    c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh),
		Revision: c.Revision, Embedded: transform.Embedded(),
	})
	if b == nil {
		t.Logf("%s: %v", c.Name, fs)
		return 0, 0
	}
	legacy := b.Injection.Legacy != nil // whose commands asked neither policy nor annotations
	setup := transform.Setup{Registry: workload.Default(), Native: transform.NativeFalse, IgnorePolicy: legacy}
	if c.NativeSidecars {
		setup.Native = transform.NativeTrue
	}
	compiled, fs := transform.Compile(b, setup)
	if compiled == nil {
		t.Fatalf("%s: %v", c.Name, fs)
	}
	input, want := readFile(t, c.Dir, "input.yaml"), readFile(t, c.Dir, "want.yaml")
	if ownEngine(c) {
		want = readFile(t, c.Dir, "want-own-engine.yaml")
	}
	mine, ok := readPods(t, transform.NewLifecycleReader(b, compiled, transform.LifecycleOptions{}), input)
	if !ok {
		t.Errorf("%s cannot be read", c.Name)
		return 0, 0
	}
	theirs, _ := readPods(t, transform.NewLifecycleReader(b, compiled, transform.LifecycleOptions{AsIs: true}), want)
	if len(mine) != len(theirs) {
		t.Errorf("%s: %d pods, want %d", c.Name, len(mine), len(theirs))
		return 0, 0
	}
	for i := range mine {
		if mine[i].Sidecar == transform.OwnSidecar {
			continue // played as it stands, where Istio injects it anew
		}
		if d := cmp.Diff(outline(theirs[i]), outline(mine[i])); d != "" {
			t.Errorf("%s: injected by Istio (-) and in memory (+):\n%s", c.Name, d)
		}
	}
	return len(mine), c.variants(t, b, compiled, input)
}

// variants makes all variants of the pods of one case.
func (c conformanceCase) variants(t *testing.T, b *config.Bundle, compiled *transform.Compiled, input []byte) int {
	t.Helper()
	pods, _ := readPods(t, transform.NewLifecycleReader(b, compiled, transform.LifecycleOptions{Variants: lifecycle.Variants()}), input)
	n := 0
	for _, p := range pods {
		if p.Variant == "" {
			continue
		}
		n++
		facts := lifecycle.Inspect(p.Pod, lifecycle.Defaults())
		if native := facts.Sidecar == lifecycle.Native; facts.Sidecar == lifecycle.None || native != (p.Variant == "native") {
			t.Errorf("%s: variant %s has a %s sidecar", c.Name, p.Variant, facts.Sidecar)
		}
		first := len(p.Spec.Containers) > 0 && p.Spec.Containers[0].Name == policy.ContainerProxy
		if p.Variant == "hold" && !first {
			t.Errorf("%s: the proxy of variant hold is not first", c.Name)
		}
	}
	return n
}

// outline is what is left of a pod when it has been played.
func outline(p transform.LifecyclePod) []string {
	o := lifecycle.Defaults()
	o.Istio = p.Istio
	r := lifecycle.Simulate(p.Pod, o)
	out := []string{fmt.Sprint(r.Kind, " ", r.Name, " ", r.Sidecar, " grace ", r.Grace, " Istio ", p.Istio)}
	for _, e := range r.Events {
		out = append(out, fmt.Sprint(e.Phase, " ", e.At, " ", e.Container, " ", e.Kind))
	}
	var ids []string
	for _, v := range r.Verdicts {
		ids = append(ids, string(v.ID))
	}
	slices.Sort(ids)
	return append(out, ids...)
}

// TestLifecycleCorpus plays real manifests, and those made to be difficult, in every way: whatever they hold, nothing
// may fail but with a finding about the input.
func TestLifecycleCorpus(t *testing.T) {
	t.Parallel()
	root := needShared(t, "corpus")
	b, fs := config.Load(config.LoadOptions{Embedded: transform.Embedded()})
	if b == nil {
		t.Fatal(fs)
	}
	compiled, fs := transform.Compile(b, transform.Setup{Registry: workload.Default()})
	if compiled == nil {
		t.Fatal(fs)
	}
	plain := transform.NewLifecycleReader(b, compiled, transform.LifecycleOptions{})
	compared := transform.NewLifecycleReader(b, compiled, transform.LifecycleOptions{Variants: lifecycle.Variants()})
	played := 0
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if ext := filepath.Ext(name); err != nil || d.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		one, _ := readPods(t, plain, text)
		several, _ := readPods(t, compared, text)
		for _, p := range slices.Concat(one, several) {
			if r := lifecycle.Simulate(p.Pod, lifecycle.Defaults()); len(r.Verdicts) == 0 {
				t.Errorf("%s: %s %s has no verdict", name, p.Kind, p.Name)
			}
			played++
		}
		return nil
	})
	if err != nil || played < 500 {
		t.Errorf("%d pods played: %v", played, err)
	}
	t.Logf("%d pods played", played)
}
