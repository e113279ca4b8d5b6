package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kube-inject/inject/policy"
)

const conformanceDir = "../../../shared/conformance"

// conformance gives the directories of the shared data, one a version.
func conformance(t testing.TB) []string {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(conformanceDir, "istio-*"))
	if len(dirs) == 0 {
		t.Skip("the shared conformance data is not beside the checkout")
	}
	return dirs
}

// caseOptions are the fields of a case's options.json that matter here.
type caseOptions struct {
	Config, Values, Mesh, MeshSparse string
	ExpectError                      any
}

func readCase(t testing.TB, dir string) (caseOptions, bool) {
	t.Helper()
	var o caseOptions
	data, err := os.ReadFile(filepath.Join(dir, "options.json"))
	if err != nil {
		return o, false
	}
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o, true
}

func sourceOf(t testing.TB, path string) *Source {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Source{Name: filepath.Base(path), Data: data}
}

// TestConformanceFilesLoad loads every file of every case. A file may be refused only where each case that uses it expects
// an error, or is listed as one that we do otherwise.
func TestConformanceFilesLoad(t *testing.T) {
	t.Parallel()
	deviations, err := os.ReadFile(filepath.Join(conformanceDir, "deviations.txt"))
	if err != nil {
		t.Skip("the shared conformance data is not beside the checkout")
	}
	for _, dir := range conformance(t) {
		users := map[string][]string{}
		cases, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, c := range cases {
			o, ok := readCase(t, c)
			if !ok {
				continue
			}
			for _, file := range []string{o.Config, o.Values, o.Mesh, o.MeshSparse} {
				if file != "" {
					path := filepath.Join(c, file)
					users[path] = append(users[path], c)
				}
			}
		}
		engine := map[string]Engine{"istio-1.7": Legacy17, "istio-1.6": Legacy16}[filepath.Base(dir)]
		for path, cases := range users {
			t.Run(filepath.Base(dir)+"/"+filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				p := readAny(t, path, engine)
				if !p.failed() {
					return
				}
				for _, c := range cases {
					o, _ := readCase(t, c)
					name := filepath.Base(dir) + "/" + filepath.Base(c)
					if (o.ExpectError == nil || o.ExpectError == "" || o.ExpectError == false) && !strings.Contains(string(deviations), name+"\t") {
						t.Errorf("case %s uses it: %v", name, p)
					}
				}
			})
		}
	}
}

// readAny reads a file as the part that its name says it is.
func readAny(t *testing.T, path string, engine Engine) problems {
	t.Helper()
	var p problems
	sc := scan(*sourceOf(t, path))
	base := filepath.Base(path)
	switch {
	case strings.Contains(base, "config-") && !strings.HasPrefix(base, "mesh-"), strings.HasPrefix(base, "inject-config"):
		if f := sc.find(partInjection, "", &p); f != nil {
			readInjection(f, &p)
		}
	case strings.Contains(base, "values"):
		if f := sc.find(partValues, "", &p); f != nil {
			readValues(f, &p)
		}
	case strings.Contains(base, "mesh"):
		if f := sc.find(partMesh, "", &p); f != nil {
			tr, err := treeOf(f.text, f.node)
			if err != nil {
				t.Fatal(err)
			}
			readMesh(tr, engine, &p)
		}
	default:
		t.Errorf("which part is %s?", base)
	}
	return p
}

// TestConformanceMeshMerge: the text a mesh's ConfigMap holds, laid over the defaults, is the effective mesh config.
func TestConformanceMeshMerge(t *testing.T) {
	t.Parallel()
	type pair struct{ full, sparse string }
	done := map[pair]bool{}
	for _, dir := range conformance(t) {
		cases, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, c := range cases {
			o, ok := readCase(t, c)
			if !ok || o.MeshSparse == "" {
				continue
			}
			pr := pair{filepath.Join(c, o.Mesh), filepath.Join(c, o.MeshSparse)}
			if done[pair{filepath.Base(dir) + filepath.Base(pr.full), filepath.Base(pr.sparse)}] {
				continue
			}
			done[pair{filepath.Base(dir) + filepath.Base(pr.full), filepath.Base(pr.sparse)}] = true
			t.Run(filepath.Base(dir)+"/"+filepath.Base(c), func(t *testing.T) {
				t.Parallel()
				sparse, p := loadMesh(t, pr.sparse)
				if p.failed() {
					t.Fatal(p)
				}
				// The effective config is compared as the data it was dumped as: such a dump has no zeros, so that reading
				// it over the defaults again would not give the same.
				n, f := parse(newText(*sourceOf(t, pr.full)))
				if f != nil {
					t.Fatal(f)
				}
				want, f := treeOf(text{}, n)
				if f != nil {
					t.Fatal(f)
				}
				if diff := cmp.Diff(want.root, printed(t, sparse)); diff != "" {
					t.Errorf("mesh (-) and meshSparse over the defaults (+):\n%s", diff)
				}
			})
		}
	}
	if len(done) < 20 {
		t.Errorf("only %d distinct pairs", len(done))
	}
}

// printed is a mesh config as the data that its own JSON has.
func printed(t testing.TB, m *Mesh) map[string]any {
	t.Helper()
	text, err := m.Config.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func loadMesh(t testing.TB, path string) (*Mesh, problems) {
	t.Helper()
	var p problems
	f := scan(*sourceOf(t, path)).find(partMesh, "", &p)
	if f == nil {
		return nil, p
	}
	tr, err := treeOf(f.text, f.node)
	if err != nil {
		t.Fatal(err)
	}
	return readMesh(tr, Modern, &p), p
}

// TestConformanceProxyConfigAnnotation: what the mesh accepts in proxy.istio.io/config, we accept, and nothing else.
func TestConformanceProxyConfigAnnotation(t *testing.T) {
	t.Parallel()
	conformance(t)
	data, err := os.ReadFile(filepath.Join(conformanceDir, "istio-1.30/tables/annotation-validation.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Annotation, Value string
		Valid             bool
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	m, n := defaultMesh(Modern), 0
	for _, r := range rows {
		if r.Annotation != "proxy.istio.io/config" {
			continue
		}
		n++
		_, _, findings := m.ProxyConfig(r.Value, podPlace())
		if got := !problems(findings).failed(); got != r.Valid {
			t.Errorf("%q: valid = %v, want %v: %v", r.Value, got, r.Valid, findings)
		}
	}
	if n < 30 {
		t.Errorf("only %d rows", n)
	}
}

// podPlace is a place to hang findings on.
func podPlace() policy.Position { return policy.Position{File: "pod.yaml", Line: 7, Column: 9} }
