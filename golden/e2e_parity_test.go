package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// TestParity sends every conformance case through each door: the command line (which is the post-renderer too), the KRM
// function, the kio.Filter, and patches. All must give the same objects.
func TestParity(t *testing.T) {
	t.Parallel()
	for _, c := range conformanceCases(t, "istio-1.30") {
		t.Run(filepath.Base(c.Dir), func(t *testing.T) {
			t.Parallel()
			o := c.parityOptions(t)
			want, fs := c.run(t, o, transform.Setup{})
			if len(fs) > 0 {
				c.mustFail(t, o)
				return
			}
			objects := documents(t, want)
			same(t, "the function", objects, c.function(t))
			in := c.injector(t, o)
			same(t, "the filter", objects, c.filter(t, in))
			same(t, "the patches", objects, c.patched(t, in))
		})
	}
}

func (c conformanceCase) parityOptions(t testing.TB) config.LoadOptions {
	return config.LoadOptions{
		Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh),
		IstioVersion: "1.30", Revision: c.Revision,
	}
}

func same(t *testing.T, door string, want, got []any) {
	t.Helper()
	if d := compare(want, got, false); d != "" {
		t.Errorf("%s gives other objects than the command line (-want +got)\n%s", door, d)
	}
}

// injector compiles the case, without restore records as patches and nodes have none.
func (c conformanceCase) injector(t testing.TB, o config.LoadOptions) *transform.Injector {
	t.Helper()
	b, fs := config.Load(o)
	if b == nil {
		t.Fatal(fs)
	}
	s := transform.Setup{Registry: workload.Default(), Native: transform.NativeFalse, NoRecord: true}
	if c.NativeSidecars {
		s.Native = transform.NativeTrue
	}
	compiled, fs := transform.Compile(b, s)
	if compiled == nil {
		t.Fatal(fs)
	}
	return transform.New(compiled.Options)
}

// nodes parses the input; documents without content are left out.
func (c conformanceCase) nodes(t testing.TB) []*yaml.Node {
	t.Helper()
	docs, fs := manifest.Split("input.yaml", readFile(t, c.Dir, "input.yaml"))
	if len(fs) > 0 {
		t.Fatal(fs)
	}
	var out []*yaml.Node
	for _, d := range docs {
		p, fs := d.Parse()
		if p == nil {
			t.Fatal(fs)
		}
		if p.Root != nil && !typed.IsNull(p.Root) {
			out = append(out, p.Root)
		}
	}
	return out
}

// parses tells whether the input can be handed on as objects at all.
func (c conformanceCase) parses(t testing.TB) bool {
	t.Helper()
	docs, _ := manifest.Split("input.yaml", readFile(t, c.Dir, "input.yaml"))
	for _, d := range docs {
		if p, _ := d.Parse(); p == nil {
			return false
		}
	}
	return true
}

// resourceList is the case as an orchestrator would hand it to the function.
func (c conformanceCase) resourceList(t testing.TB) []byte {
	t.Helper()
	spec := map[string]any{"istioVersion": "1.30", "nativeSidecar": c.NativeSidecars}
	for key, name := range map[string]string{"config": c.Config, "values": c.Values, "mesh": c.Mesh} {
		if name != "" {
			spec[key] = map[string]any{"inline": string(readFile(t, c.Dir, name))}
		}
	}
	if c.Revision != "" {
		spec["revision"] = c.Revision
	}
	list := struct {
		APIVersion     string `yaml:"apiVersion"`
		Kind           string
		FunctionConfig map[string]any `yaml:"functionConfig"`
		Items          []*yaml.Node
	}{
		"config.kubernetes.io/v1", "ResourceList", map[string]any{
			"apiVersion": transform.FunctionAPIVersion, "kind": transform.FunctionKind,
			"metadata": map[string]any{"name": "case"}, "spec": spec,
		}, c.nodes(t),
	}
	text, err := yaml.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// needsRecord is the case whose second injection needs the restore record, for which a ResourceList and a list of nodes
// have no place: a network label of the user's own looks like one that injection wrote.
const needsRecord = "istio-1.30/g045-topology-network-label"

// function runs the KRM function and gives the items.
func (c conformanceCase) function(t *testing.T) []any {
	t.Helper()
	out := transform.Function{}.Run("-", c.resourceList(t))
	if out.Status == transform.Done && c.Name != needsRecord {
		// The second run finds what the first has done, and may change nothing.
		out = transform.Function{}.Run("-", out.Raw)
	}
	if out.Status != transform.Done {
		t.Errorf("the function ends with %d: %v", out.Status, out.Findings)
		return nil
	}
	for _, w := range out.Workloads {
		if w.Action == transform.Injected && c.Name != needsRecord {
			t.Errorf("%s is injected again", w.Resource)
		}
	}
	list, _ := documents(t, out.Raw)[0].(map[string]any)
	items, _ := list["items"].([]any)
	return items
}

// filter runs the kio.Filter over the nodes of the input.
func (c conformanceCase) filter(t *testing.T, in *transform.Injector) []any {
	t.Helper()
	var nodes []*kyaml.RNode
	for _, n := range c.nodes(t) {
		nodes = append(nodes, kyaml.NewRNode(n))
	}
	for pass := range 2 {
		// The second pass finds what the first has done, and may change nothing.
		if pass > 0 && c.Name == needsRecord {
			break
		}
		got, err := in.Filter(nodes)
		if err != nil {
			t.Error(err)
			return nil
		}
		nodes = got
	}
	var out []any
	for _, n := range nodes {
		text, err := n.String()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, documents(t, []byte(text))...)
	}
	return out
}

// patched applies the patches of the case to its input.
func (c conformanceCase) patched(t *testing.T, in *transform.Injector) []any {
	t.Helper()
	patches, fs := patchesOf(t, in, readFile(t, c.Dir, "input.yaml"))
	if len(fs) > 0 {
		t.Error(fs)
	}
	used := 0
	docs, _ := manifest.Split("input.yaml", readFile(t, c.Dir, "input.yaml"))
	var out []any
	for _, d := range docs {
		p, _ := d.Parse()
		if p == nil || p.Root == nil || typed.IsNull(p.Root) {
			continue
		}
		root := typed.Generic(p.Root)
		for _, o := range workload.Find(workload.Default(), p.Root).Objects {
			for _, patch := range patches {
				if patch.Position == p.Position(o.Node) {
					used++
					root = replaced(root, o.Path, applied(t, patch, typed.Generic(o.Node)))
				}
			}
		}
		out = append(out, root)
	}
	if used != len(patches) {
		t.Errorf("%d of %d patches found their object", used, len(patches))
	}
	return out
}

func patchesOf(t testing.TB, in *transform.Injector, input []byte) (out []transform.Patch, fs []policy.Finding) {
	t.Helper()
	p := transform.Patcher{Documents: in, Registry: workload.Default()}
	err := p.Stream(t.Context(), "input.yaml", bytes.NewReader(input), 2, func(b transform.Batch) error {
		for _, r := range b.Results {
			out = append(out, r.Patches...)
			for _, f := range r.Findings {
				if f.Severity == policy.Error {
					fs = append(fs, f)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, fs
}

// applied applies a patch, its guard first, with a library that is not ours.
func applied(t testing.TB, p transform.Patch, object any) any {
	t.Helper()
	before, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(transform.PatchText(append([]transform.PatchOp{p.Guard}, p.Ops...), ""))
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(before)
	if err != nil {
		t.Fatalf("%v\n%s", err, transform.PatchText(p.Ops, ""))
	}
	var v any
	if err := json.Unmarshal(after, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// replaced gives the tree with another value at path.
func replaced(tree any, path []workload.Step, v any) any {
	if len(path) == 0 {
		return v
	}
	if path[0].IsIndex {
		list, _ := tree.([]any)
		list[path[0].Index] = replaced(list[path[0].Index], path[1:], v)
		return list
	}
	m, _ := tree.(map[string]any)
	m[path[0].Key] = replaced(m[path[0].Key], path[1:], v)
	return m
}

// mustFail holds that the other doors refuse what the command line refuses.
func (c conformanceCase) mustFail(t *testing.T, o config.LoadOptions) {
	t.Helper()
	if _, fs := manifest.Split("input.yaml", readFile(t, c.Dir, "input.yaml")); len(fs) > 0 || !c.parses(t) {
		return
	}
	out := transform.Function{}.Run("-", c.resourceList(t))
	if out.Status != transform.CannotRun {
		t.Errorf("the function ends with %d", out.Status)
	}
	var f policy.Finding
	b, _ := config.Load(o)
	if b == nil {
		return
	}
	if compiled, _ := transform.Compile(b, transform.Setup{Registry: workload.Default()}); compiled == nil {
		return
	}
	in := c.injector(t, o)
	var nodes []*kyaml.RNode
	for _, n := range c.nodes(t) {
		nodes = append(nodes, kyaml.NewRNode(n))
	}
	if _, err := in.Filter(nodes); !errors.As(err, &f) {
		t.Errorf("the filter gives %v, want a finding", err)
	}
	if _, fs := patchesOf(t, in, readFile(t, c.Dir, "input.yaml")); len(fs) == 0 {
		t.Error("patches are given without an error")
	}
}

// TestPatchesStable makes the patches of some cases again and again: bytes must not depend on anything but the input.
func TestPatchesStable(t *testing.T) {
	t.Parallel()
	cases := conformanceCases(t, "istio-1.30")
	n := 0
	for i := 0; i < len(cases); i += 20 {
		c := cases[i]
		if c.fails() {
			continue
		}
		in := c.injector(t, c.parityOptions(t))
		input := readFile(t, c.Dir, "input.yaml")
		first, _ := patchesOf(t, in, input)
		want := transform.PatchList(first)
		for range 50 {
			again, _ := patchesOf(t, in, input)
			if got := transform.PatchList(again); !bytes.Equal(want, got) {
				t.Fatalf("%s: two runs give two patches:\n%s\n%s", c.Name, want, got)
			}
			n += len(again)
		}
		if a, b := component(first), component(first); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: two components:\n%s\n%s", c.Name, a, b)
		}
	}
	if n == 0 {
		t.Error("no case has a patch")
	}
}

func component(ps []transform.Patch) string {
	text, fs := transform.Component(ps)
	if len(fs) > 0 {
		return fs[0].Error()
	}
	return string(text)
}
