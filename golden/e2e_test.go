package golden

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/transform"
)

// endToEnd turns the tests with other people's programs on: go test ./golden -run TestE2E -e2e -v.
var endToEnd = flag.Bool("e2e", false, "run the tests with the real kustomize, Helm and kubectl")

// e2eTool is a program that is built from its pinned sources, once, into .tools.
type e2eTool struct {
	// name is what the fixtures call it and its folder below tools/e2e; pkg is its main package there.
	name, version, pkg string
	// path gives the built program.
	path func() (string, error)
}

// e2eTools are the programs of the tests. Their versions are those of the folders' go.mod.
var e2eTools = sync.OnceValue(func() []*e2eTool {
	tools := []*e2eTool{
		{name: "kustomize", version: "v5.8.1", pkg: "sigs.k8s.io/kustomize/kustomize/v5"},
		{name: "helm3", version: "v3.22.0", pkg: "helm.sh/helm/v3/cmd/helm"},
		{name: "helm4", version: "v4.3.1", pkg: "helm.sh/helm/v4/cmd/helm"},
	}
	for _, tool := range tools {
		tool.path = sync.OnceValues(tool.build)
	}
	return tools
})

// build gives the program, building it where .tools does not have it yet. No program of the machine's is taken: what is
// tested is the pinned version.
func (e *e2eTool) build() (string, error) {
	out, err := filepath.Abs(filepath.Join("..", ".tools", exe(e.name+"-"+e.version)))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", out, e.pkg)
	cmd.Dir = filepath.Join("..", "tools", "e2e", e.name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s cannot be built: %w\n%s", e.name, e.version, err, bytes.TrimSpace(text))
	}
	return out, nil
}

// e2ePath gives a folder to put on PATH, with inject and the named tools. A tool that cannot be built skips the test, with
// the reason.
func e2ePath(t *testing.T, names ...string) string {
	t.Helper()
	if !*endToEnd {
		t.Skip("the real tools are asked with -e2e only")
	}
	dir := t.TempDir()
	link(t, filepath.Join(program(t), exe("inject")), filepath.Join(dir, exe("inject")))
	for _, tool := range e2eTools() {
		if !slices.Contains(names, tool.name) {
			continue
		}
		path, err := tool.path()
		if err != nil {
			t.Skip(err)
		}
		t.Logf("%s %s", tool.name, tool.version)
		link(t, path, filepath.Join(dir, exe(tool.name)))
	}
	return dir
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

// e2eStep is one document of an expectation file; the words are those of the fixtures' README.
type e2eStep struct {
	Cmd    []string
	Setup  string
	Env    map[string]string
	Exit   int
	Kinds  []string
	Paths  []string
	Stderr []string
	Files  map[string]struct {
		Present, Paths []string
		Unchanged      bool
	}
	Present, Absent []string
}

func e2eSteps(t *testing.T, file string) []e2eStep {
	t.Helper()
	var out []e2eStep
	dec := yaml.NewDecoder(bytes.NewReader(readFile(t, file)))
	for {
		var s e2eStep
		if err := dec.Decode(&s); err != nil {
			break
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		t.Fatalf("%s holds no step", file)
	}
	return out
}

// e2eRun is a step in its scratch folders.
type e2eRun struct {
	t              *testing.T
	bin            string
	dir, out, here string
	env            map[string]string
}

func (r *e2eRun) fill(text string) string {
	return strings.NewReplacer("{dir}", r.dir, "{out}", r.out, "{here}", r.here).Replace(text)
}

// run starts a command in the out folder and gives what it wrote and its exit status.
func (r *e2eRun) run(args ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	for i := range args {
		args[i] = r.fill(args[i])
	}
	name := filepath.Join(r.bin, exe(args[0]))
	if _, err := os.Stat(name); err != nil {
		name = args[0]
	}
	cmd := exec.Command(name, args[1:]...)
	cmd.Dir = r.out
	cmd.Env = append(os.Environ(), "PATH="+r.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HERE="+r.here, "HOME="+r.out)
	for _, k := range slices.Sorted(maps.Keys(r.env)) {
		cmd.Env = append(cmd.Env, k+"="+r.fill(r.env[k]))
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		r.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// step runs one step as often as told and judges what came out.
func (r *e2eRun) step(s e2eStep, runs int) string {
	r.t.Helper()
	r.env = s.Env
	if s.Setup != "" {
		if _, stderr, status := r.run("sh", "-c", s.Setup); status != 0 {
			r.t.Fatalf("setup: %s", stderr)
		}
	}
	stdout, stderr, status := r.run(slices.Clone(s.Cmd)...)
	what := strings.Join(s.Cmd, " ")
	if status != s.Exit {
		r.t.Fatalf("%s: exit status %d, want %d\n%s", what, status, s.Exit, stderr)
	}
	for range runs - 1 {
		if again, _, _ := r.run(slices.Clone(s.Cmd)...); again != stdout {
			r.t.Fatalf("%s: two runs, two outputs", what)
		}
	}
	judge(r.t, stdout, s.Kinds, s.Present, s.Absent, s.Paths)
	for _, want := range s.Stderr {
		if !strings.Contains(stderr, want) {
			r.t.Errorf("%s: stderr lacks %q:\n%s", what, want, stderr)
		}
	}
	return stdout
}

// judge holds an output against the words of an expectation.
func judge(t *testing.T, text string, kinds, present, absent, paths []string) {
	t.Helper()
	objects := documents(t, []byte(text))
	var got []string
	for _, o := range objects {
		got = append(got, kindName(o))
	}
	if kinds != nil && !slices.Equal(kinds, got) {
		t.Errorf("objects are %v, want %v", got, kinds)
	}
	for _, p := range present {
		if !strings.Contains(text, p) {
			t.Errorf("the output lacks %q", p)
		}
	}
	absent = append([]string{
		"internal.config.kubernetes.io/", "config.k8s.io/", "kustomize.config.k8s.io/", "config.kubernetes.io/index",
	}, absent...)
	for _, a := range absent {
		if strings.Contains(text, a) {
			t.Errorf("the output holds %q:\n%s", a, text)
		}
	}
	for _, p := range paths {
		name, rest, _ := strings.Cut(p, " ")
		path, want, _ := strings.Cut(rest, " = ")
		want, _, _ = strings.Cut(want, "   #")
		i := slices.IndexFunc(objects, func(o any) bool { return kindName(o) == name })
		if i < 0 {
			t.Errorf("there is no %s", name)
			continue
		}
		if v := fmt.Sprint(follow(objects[i], path)); v != want {
			t.Errorf("%s %s is %s, want %s", name, path, v, want)
		}
	}
}

func kindName(o any) string {
	m, _ := o.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return fmt.Sprint(m["kind"]) + "/" + name
}

// follow walks a path such as spec.containers[name=x].args.0 or spec.containers#.
func follow(v any, path string) any {
	path, length := strings.CutSuffix(path, "#")
	for step := range strings.SplitSeq(strings.ReplaceAll(path, "[", ".["), ".") {
		if entry, ok := strings.CutPrefix(step, "[name="); ok {
			list, _ := v.([]any)
			i := slices.IndexFunc(list, func(e any) bool {
				m, _ := e.(map[string]any)
				return m["name"] == strings.TrimSuffix(entry, "]")
			})
			if v = nil; i >= 0 {
				v = list[i]
			}
			continue
		}
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if v = nil; err == nil && i < len(at) {
				v = at[i]
			}
		default:
			return nil
		}
	}
	if length {
		list, _ := v.([]any)
		return len(list)
	}
	return v
}

// TestE2EKustomize runs the kustomize fixtures. The steps of a case share a scratch copy, so they run one after the other.
func TestE2EKustomize(t *testing.T) {
	bin := e2ePath(t, "kustomize")
	root, err := filepath.Abs(needShared(t, "integrations", "kustomize"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Glob(filepath.Join(root, "expect", "*.yaml"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("no expectations in %s", root)
	}
	for _, file := range cases {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			r := &e2eRun{t: t, bin: bin, dir: filepath.Join(t.TempDir(), name), out: t.TempDir(), here: root}
			copyFolder(t, filepath.Join(root, name), r.dir)
			for i, s := range e2eSteps(t, file) {
				if name == "validate" && i == 1 {
					edit(t, filepath.Join(r.dir, "app.yaml"), "labels: {app: shop}",
						`labels: {app: shop, sidecar.istio.io/inject: "maybe"}`)
				}
				stdout := r.step(s, repeats(name))
				if s.Files != nil {
					r.files(s, filepath.Join(root, name))
				} else if s.Exit == 0 && name != "overlay" {
					r.again(s, stdout)
				}
			}
		})
	}
}

// repeats is how often a case runs; one that writes in place would see its own output.
func repeats(name string) int {
	if name == "fnrun" {
		return 1
	}
	return 20
}

// again puts the output in the place of the resources: nothing may change any more.
func (r *e2eRun) again(s e2eStep, stdout string) {
	r.t.Helper()
	name := filepath.Join(r.dir, "app.yaml")
	original := readFile(r.t, name)
	for _, text := range [][]byte{[]byte(stdout), original} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			r.t.Fatal(err)
		}
		if second, _, _ := r.run(slices.Clone(s.Cmd)...); second != stdout {
			r.t.Errorf("a run on the output of another changes it:\n%s", second)
		}
	}
}

// files judges what a case wrote in place, and that a second run writes nothing else.
func (r *e2eRun) files(s e2eStep, original string) {
	r.t.Helper()
	before := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		want := s.Files[name]
		text := readFile(r.t, r.dir, name)
		before[name] = text
		judge(r.t, string(text), nil, want.Present, nil, want.Paths)
		if want.Unchanged && !bytes.Equal(text, readFile(r.t, original, name)) {
			r.t.Errorf("%s has been changed", name)
		}
	}
	r.run(slices.Clone(s.Cmd)...)
	for name, text := range before {
		if !bytes.Equal(text, readFile(r.t, r.dir, name)) {
			r.t.Errorf("a second run changes %s", name)
		}
	}
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	}); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, file, old, new string) {
	t.Helper()
	text := string(readFile(t, file))
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, old, new)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestE2EHelm runs the Helm fixtures, of each version on its own.
func TestE2EHelm(t *testing.T) {
	root := ""
	for _, tool := range []string{"helm3", "helm4"} {
		t.Run(tool, func(t *testing.T) {
			bin := e2ePath(t, tool)
			if root == "" {
				path, err := filepath.Abs(needShared(t, "integrations", "helm"))
				if err != nil {
					t.Fatal(err)
				}
				root = path
			}
			n := 0
			r := &e2eRun{t: t, bin: bin, out: t.TempDir(), here: root}
			for _, s := range e2eSteps(t, filepath.Join(root, "expect.yaml")) {
				if s.Cmd[0] != tool {
					continue
				}
				n++
				r.step(s, 3)
			}
			if n == 0 {
				t.Errorf("no step for %s", tool)
			}
		})
	}
}

// TestE2EScripts runs e2e/*.txtar: the commands of the pages in docs, on the real tools. The name of a script begins with
// the tools that it needs, joined by "+".
func TestE2EScripts(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("e2e", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatal("there are no scripts")
	}
	for _, script := range scripts {
		tools, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(script), ".txtar"), "_")
		t.Run(filepath.Base(script), func(t *testing.T) {
			bin := e2ePath(t, strings.Split(tools, "+")...)
			p := scriptParams(t, script)
			p.Setup = func(e *testscript.Env) error {
				e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
				e.Setenv("HOME", e.WorkDir)
				e.Setenv("CONTRIB", contribFolder(t))
				e.Setenv("CMP", filepath.Join(e.WorkDir, ".cmp"))
				return writePlugin(filepath.Join(e.WorkDir, ".cmp"))
			}
			testscript.Run(t, p)
		})
	}
}

// writePlugin writes the two commands of Argo CD's plugin to files.
func writePlugin(dir string) error {
	text, err := os.ReadFile(filepath.Join("..", "contrib", "argocd", "plugin.yaml"))
	if err != nil {
		return err
	}
	type command struct{ Args []string }
	var plugin struct {
		Spec struct {
			Discover struct{ Find command }
			Generate command
		}
	}
	if err := yaml.Unmarshal(text, &plugin); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, c := range map[string]command{"discover.sh": plugin.Spec.Discover.Find, "generate.sh": plugin.Spec.Generate} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(c.Args, "\n")), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func contribFolder(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "contrib"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestE2EVersions holds that the tools are what their names say, and that the pages name those versions.
func TestE2EVersions(t *testing.T) {
	t.Parallel()
	for _, tool := range e2eTools() {
		module := string(readFile(t, "..", "tools", "e2e", tool.name, "go.mod"))
		root, _, _ := strings.Cut(tool.pkg, "/cmd/")
		if !strings.Contains(module, root+" "+tool.version) {
			t.Errorf("tools/e2e/%s/go.mod does not require %s %s", tool.name, root, tool.version)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("scripts need a shell")
	}
}

// TestE2EConformance sends the conformance set through the real kustomize, as a transformer and as a component
// of patches, and wants the objects of the command line. Objects without a name are none for kustomize.
func TestE2EConformance(t *testing.T) {
	bin := e2ePath(t, "kustomize")
	n := 0
	for _, c := range conformanceCases(t, "istio-1.30") {
		if c.fails() || !c.named(t) {
			continue
		}
		n++
		t.Run(filepath.Base(c.Dir), func(t *testing.T) {
			o := c.parityOptions(t)
			want, fs := c.run(t, o, transform.Setup{})
			if len(fs) > 0 {
				t.Fatal(fs)
			}
			patches, _ := patchesOf(t, c.injector(t, o), readFile(t, c.Dir, "input.yaml"))
			r := &e2eRun{t: t, bin: bin, dir: t.TempDir(), out: t.TempDir()}
			write := func(name, text string) {
				t.Helper()
				path := filepath.Join(r.dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			spec := "  istioVersion: \"1.30\"\n  nativeSidecar: " + strconv.FormatBool(c.NativeSidecars) + "\n"
			for _, part := range [][2]string{{"config", c.Config}, {"values", c.Values}, {"mesh", c.Mesh}} {
				if part[1] != "" {
					write("fn/"+part[0], string(readFile(t, c.Dir, part[1])))
					spec += "  " + part[0] + ": {path: " + part[0] + "}\n"
				}
			}
			if c.Revision != "" {
				spec += "  revision: " + strconv.Quote(c.Revision) + "\n"
			}
			write("base/kustomization.yaml", "resources: [input.yaml]\nsortOptions: {order: fifo}\n")
			write("base/input.yaml", string(readFile(t, c.Dir, "input.yaml")))
			write("comp/kustomization.yaml", component(patches))
			write("patched/kustomization.yaml", "resources: [../base]\ncomponents: [../comp]\nsortOptions: {order: fifo}\n")
			write("fn/kustomization.yaml", "resources: [../base]\ntransformers: [fn.yaml]\nsortOptions: {order: fifo}\n")
			write("fn/fn.yaml", "apiVersion: inject.krm/v1alpha1\nkind: Injector\nmetadata:\n  name: f\n  annotations:\n"+
				"    config.kubernetes.io/function: |\n      exec: {path: inject, args: [fn]}\nspec:\n"+spec)
			for _, way := range []string{"fn", "patched"} {
				stdout, stderr, status := r.run("kustomize", "build", "--enable-alpha-plugins", "--enable-exec", "--load-restrictor",
					"LoadRestrictionsNone", "{dir}/"+way)
				if status != 0 {
					t.Errorf("%s: %s", way, stderr)
					continue
				}
				same(t, way, unlisted(documents(t, want)), documents(t, []byte(stdout)))
			}
		})
	}
	if t.Logf("%d cases", n); n < 100 {
		t.Errorf("%d cases only", n)
	}
}

// named tells whether all objects of the input have a name of their own.
func (c conformanceCase) named(t *testing.T) bool {
	t.Helper()
	seen := map[string]bool{}
	for _, o := range unlisted(documents(t, readFile(t, c.Dir, "input.yaml"))) {
		name := kindName(o)
		if strings.HasSuffix(name, "/") || seen[name] {
			return false
		}
		seen[name] = true
	}
	return len(seen) > 0
}

// unlisted opens Lists, as kustomize does.
func unlisted(objects []any) []any {
	var out []any
	for _, o := range objects {
		m, _ := o.(map[string]any)
		if items, ok := m["items"].([]any); ok && m["kind"] == "List" {
			out = append(out, unlisted(items)...)
			continue
		}
		out = append(out, o)
	}
	return out
}
