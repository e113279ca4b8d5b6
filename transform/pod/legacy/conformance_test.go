package legacy

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestConformance runs every recorded case of Istio 1.6 and 1.7 and compares as data. A case that stands in the list
// of deviations must differ, and what is done instead is logged.
func TestConformance(t *testing.T) {
	t.Parallel()
	listed := deviations(t)
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			diff := c.run(t)
			reason, deviates := listed[c.name]
			switch {
			case !deviates && diff != "":
				t.Error(diff)
			case deviates && diff != "":
				t.Logf("deviation (%s):\n%s", reason, diff)
			case deviates && !elsewhere(reason):
				t.Errorf("listed as a deviation (%s), but it no longer differs", reason)
			}
		})
	}
}

// elsewhere tells whether a deviation is made outside of this package, by the edits on the user's bytes: the pods
// that this test reads and writes are typed.
func elsewhere(reason string) bool {
	return strings.HasPrefix(reason, "the user's own scalars keep their bytes") || strings.HasPrefix(reason, "fields that the types do not know")
}

// run gives the difference to what was recorded, "" if there is none.
func (c recorded) run(t *testing.T) string {
	t.Helper()
	got, err := c.inject(t)
	if c.ExpectError {
		if err == nil {
			return "no error, where Istio had one"
		}
		t.Logf("error: %v", err)
		return ""
	}
	if err != nil {
		return "error, where Istio had none: " + err.Error()
	}
	var want []any
	for _, doc := range documents(c.read(t, "want.yaml")) {
		var v map[string]any
		if err := yaml.Unmarshal(doc, &v); err != nil {
			t.Fatal(err)
		}
		want = append(want, normal(v))
	}
	return cmp.Diff(want, got)
}

// inject gives the case's documents after injection, ready to compare. Each injected workload is also injected a
// second time, which must change nothing.
func (c recorded) inject(t *testing.T) ([]any, error) {
	t.Helper()
	e, err := c.engine(t)
	if err != nil {
		return nil, err
	}
	var out []any
	for _, text := range documents(c.read(t, "input.yaml")) {
		var doc map[string]any
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return nil, err
		}
		doc, err := inject(e, doc, func(i injected) {
			again := i.workload
			again.Pod = i.after
			pod, fs, _ := e.Inject(again)
			if err := firstError(fs); err != nil {
				t.Errorf("second injection: %v", err)
			}
			if diff := cmp.Diff(i.after, pod); diff != "" {
				t.Errorf("a second injection changes the pod:\n%s", diff)
			}
		})
		if err != nil {
			return nil, err
		}
		out = append(out, normal(doc))
	}
	return out, nil
}

func deviations(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, "deviations.txt"))
	if err != nil {
		t.Skip("the list of deviations is not beside this checkout")
	}
	out := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if name, reason, ok := strings.Cut(s.Text(), "\t"); ok && !strings.HasPrefix(name, "#") {
			out[name] = reason
		}
	}
	if len(out) == 0 {
		t.Fatal(fmt.Errorf("no deviations are listed"))
	}
	return out
}
