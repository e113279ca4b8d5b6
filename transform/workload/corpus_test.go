package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

// corpus is the folder of shared manifests beside the checkout.
func corpus(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("The shared data is not beside the checkout.")
	}
	return dir
}

// documents parses a plain YAML stream; ok is false for what this parser alone does not take.
func documents(data []byte) (docs []*yaml.Node, ok bool) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return docs, true
		}
		if err != nil {
			return nil, false
		}
		docs = append(docs, &n)
	}
}

// TestRealFiles compares the workloads of real files with those that an independent program counted.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	data, err := os.ReadFile(filepath.Join(dir, "real", "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []struct {
		File, Expect string
		Workloads    []string
	}
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range index {
		if file.Expect == "error" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "real", file.File))
		if err != nil {
			t.Fatal(err)
		}
		docs, ok := documents(data)
		if !ok {
			continue // broken documents that are no workloads are the splitter's to pass
		}
		checked++
		var got []string
		for _, doc := range docs {
			found := Find(Default(), doc)
			for _, o := range found.Objects {
				for range o.Templates {
					got = append(got, strings.TrimPrefix(o.Row.Name(), "core"))
				}
			}
			for _, n := range found.Notices {
				if strings.HasPrefix(n.Code, "E_") {
					t.Errorf("%s: %v", file.File, n)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(file.Workloads)
		if diff := cmp.Diff(file.Workloads, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file.File, diff)
		}
	}
	if checked < 150 {
		t.Errorf("only %d files checked", checked)
	}
}

// TestNastyCases runs the hand-made cases that are about finding.
func TestNastyCases(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob(filepath.Join(corpus(t), "nasty", "*", "input.*"))
	if err != nil || len(inputs) == 0 {
		t.Fatal("no cases", err)
	}
	checked := 0
	for _, input := range inputs {
		name := filepath.Base(filepath.Dir(input))
		prefix, _, _ := strings.Cut(name, "-")
		if !slices.Contains([]string{"kind", "list", "other", "sops", "shape", "scalar"}, prefix) {
			continue
		}
		if checkNasty(t, name, input) {
			checked++
		}
	}
	if checked < 60 {
		t.Errorf("only %d cases checked", checked)
	}
}

type expectation struct {
	Result, ErrorCode, WarningContains string
	ErrorLine, Workloads               int
	Args                               []string
}

// checkNasty compares a case and tells whether it is one that finding alone decides.
func checkNasty(t *testing.T, name, input string) bool {
	t.Helper()
	data, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	var want expectation
	text, err := os.ReadFile(filepath.Join(filepath.Dir(input), "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	docs, ok := documents(data)
	if !ok || len(docs) != 1 {
		return false
	}
	reg := Default()
	for i := 0; i+1 < len(want.Args); i += 2 {
		if want.Args[i] != "--kind" {
			return false
		}
		if reg, err = reg.With(want.Args[i+1]); err != nil {
			t.Errorf("%s: %v", name, err)
			return true
		}
	}
	found := Find(reg, docs[0])
	templates := 0
	for _, o := range found.Objects {
		templates += len(o.Templates)
		for _, tmpl := range o.Templates {
			found.Notices = append(found.Notices, tmpl.CheckNames(o)...)
		}
	}
	switch want.Result {
	case "inject":
		if templates == 0 || want.Workloads > 0 && templates != want.Workloads {
			t.Errorf("%s: %d templates, want %d: %v", name, templates, want.Workloads, brief(found))
		}
	case "pass":
		if templates != 0 && name != "kind-already-injected" { // there it is the edit that finds nothing to do
			t.Errorf("%s: %d templates, want it passed", name, templates)
		}
	case "error":
		ofShape := want.ErrorCode == CodeType && strings.HasPrefix(name, "shape-")
		if want.ErrorCode != CodeShape && want.ErrorCode != CodeDupName && !ofShape {
			return false // syntax is the parser's, types of scalars are the typed view's
		}
		if !slices.ContainsFunc(found.Notices, func(n Notice) bool {
			return n.Code == want.ErrorCode && n.Node.Line == want.ErrorLine
		}) {
			t.Errorf("%s: want %s at line %d, got %v", name, want.ErrorCode, want.ErrorLine, brief(found))
		}
	}
	if want.WarningContains != "" && !slices.ContainsFunc(found.Notices, func(n Notice) bool {
		return strings.Contains(n.Error()+n.Hint, want.WarningContains)
	}) {
		t.Errorf("%s: no notice with %q: %v", name, want.WarningContains, brief(found))
	}
	return true
}
