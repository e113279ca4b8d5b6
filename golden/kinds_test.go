package golden

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// kindCases are the folders of golden/kinds: one kind each, in.yaml with fields that no Kubernetes type has, args with
// further flags, owner with the owner of each injected template in order, want.yaml and want.err.
func kindCases(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("kinds", "*", "in.yaml"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases in golden/kinds", err)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

// ran is what a run of the program gave.
type ran struct {
	out, err string
	code     int
}

// runProgram runs inject in a folder; input is its standard input.
func runProgram(t *testing.T, dir, input string, args ...string) ran {
	t.Helper()
	cmd := exec.Command(filepath.Join(program(t), exe("inject")), args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// caseArgs are the words of a case's args file.
func caseArgs(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "args"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// compareWanted compares with what a case expects, or rewrites that. Nothing expected and nothing there is no file.
func compareWanted(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if got == "" {
			if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, dir := range kindCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			args := append([]string{"-f", "in.yaml"}, caseArgs(t, dir)...)
			got := runProgram(t, dir, "", args...)
			if got.code != 0 {
				t.Fatalf("exit %d: %s", got.code, got.err)
			}
			compareWanted(t, filepath.Join(dir, "want.yaml"), got.out)
			compareWanted(t, filepath.Join(dir, "want.err"), got.err)
			again := runProgram(t, dir, got.out, append([]string{"-q"}, caseArgs(t, dir)...)...)
			if d := cmp.Diff(got.out, again.out); d != "" {
				t.Errorf("a second injection changes something:\n%s", d)
			}
			before := string(readFile(t, dir, "in.yaml"))
			back := runProgram(t, dir, got.out, append([]string{"uninject", "-q"}, kindFlags(caseArgs(t, dir))...)...)
			if d := cmp.Diff(before, back.out); d != "" {
				t.Errorf("uninject gives something else:\n%s", d)
			}
		})
	}
}

// kindFlags are the flags about kinds alone.
func kindFlags(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--kind" {
			out = append(out, args[i:i+2]...)
		}
	}
	return out
}

// TestKindOwners compares the owner that each injected proxy reports with the one written down beside the case.
func TestKindOwners(t *testing.T) {
	t.Parallel()
	for _, dir := range kindCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := strings.Fields(string(readFile(t, dir, "owner")))
			var got, names []string
			eachEnv(t, readFile(t, dir, "want.yaml"), func(name, value string) {
				switch name {
				case "ISTIO_META_OWNER":
					got = append(got, value)
				case "ISTIO_META_WORKLOAD_NAME":
					names = append(names, value)
				}
			})
			if d := cmp.Diff(want, got, cmp.Comparer(func(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") })); d != "" {
				t.Error(d)
			}
			for i, owner := range want {
				if name := owner[strings.LastIndexByte(owner, '/')+1:]; i >= len(names) || names[i] != name {
					t.Errorf("workload names %v, want %s at %d", names, name, i)
				}
			}
		})
	}
}

// eachEnv visits the environment variables of every proxy in a stream.
func eachEnv(t *testing.T, text []byte, visit func(name, value string)) {
	t.Helper()
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			var e struct{ Name, Value string }
			if len(n.Content) == 4 && n.Content[0].Value == "name" && n.Content[2].Value == "value" && n.Decode(&e) == nil {
				visit(e.Name, e.Value)
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		if err := d.Decode(&n); err != nil {
			return
		}
		walk(&n)
	}
}

// TestKindUnknownFields takes the injected lines out of every result: the lines of the input have to be left, in order.
func TestKindUnknownFields(t *testing.T) {
	t.Parallel()
	for _, dir := range kindCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			out := strings.Split(string(readFile(t, dir, "want.yaml")), "\n")
			at := 0
			for _, line := range strings.Split(string(readFile(t, dir, "in.yaml")), "\n") {
				if !strings.Contains(line, "future") && !strings.Contains(line, "#") {
					continue
				}
				for at < len(out) && out[at] != line {
					at++
				}
				if at == len(out) {
					t.Fatalf("the line %q is gone, or moved", line)
				}
			}
		})
	}
}

// TestKindWrongGroup gives each object another API group: it has to pass byte for byte, whatever its kind.
func TestKindWrongGroup(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`(?m)^(- )?apiVersion: .*$`)
	for _, dir := range kindCases(t) {
		name := filepath.Base(dir)
		if name == "list" {
			continue // its envelope has to stay what it is
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := version.ReplaceAllString(string(readFile(t, dir, "in.yaml")), "${1}apiVersion: elsewhere.example.org/v1")
			got := runProgram(t, dir, input, append([]string{"-q"}, caseArgs(t, dir)...)...)
			if got.code != 0 {
				t.Fatalf("exit %d: %s", got.code, got.err)
			}
			if d := cmp.Diff(input, got.out); d != "" {
				t.Errorf("an object of another group is changed:\n%s", d)
			}
		})
	}
}

// TestKindOff runs the kinds that are off without their switch: they pass, and the notice names the switch.
func TestKindOff(t *testing.T) {
	t.Parallel()
	for _, dir := range kindCases(t) {
		args := caseArgs(t, dir)
		if len(args) != 2 || !strings.HasPrefix(args[1], "+") {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			input := string(readFile(t, dir, "in.yaml"))
			got := runProgram(t, dir, input)
			if got.out != input || got.code != 0 {
				t.Errorf("a kind that is off is changed: exit %d\n%s", got.code, got.err)
			}
			if !strings.Contains(got.err, "--kind "+args[1]) || !strings.Contains(got.err, "W_KIND") {
				t.Errorf("the notice does not name the switch:\n%s", got.err)
			}
		})
	}
}
