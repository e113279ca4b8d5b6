package golden

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cases lists the folders below golden/<name>; a case is a folder, and nobody lists them in Go.
func cases(t *testing.T, name string) []string {
	t.Helper()
	entries, err := os.ReadDir(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(name, e.Name()))
		}
	}
	if len(out) == 0 {
		t.Fatalf("no cases below %s", name)
	}
	return out
}

// execute runs the program in a folder and gives its streams and status.
func execute(t *testing.T, dir string, stdin []byte, args ...string) (stdout, stderr []byte, status int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(program(t), exe("inject")), args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = []string{"TMPDIR=" + t.TempDir()}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.Bytes(), errs.Bytes(), cmd.ProcessState.ExitCode()
}

// matchFile compares bytes with a file of a case, or writes it with -update.
func matchFile(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s: %s", file, firstDifference(want, got))
	}
}

// TestInject runs golden/inject: in.* with args gives want.*, injecting the result changes nothing, and uninject gives
// the input again.
func TestInject(t *testing.T) {
	t.Parallel()
	for _, dir := range cases(t, "inject") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			used := map[string]bool{"why.md": true}
			args := []string{"-q"}
			if b, err := os.ReadFile(filepath.Join(dir, "args")); err == nil {
				args = append(args, strings.Fields(string(b))...)
				used["args"] = true
			}
			in := "in.yaml"
			if _, err := os.Stat(filepath.Join(dir, in)); err != nil {
				in = "in.json"
			}
			want := "want" + filepath.Ext(in)
			used[in], used[want] = true, true
			input := readFile(t, dir, in)
			out, errs, status := execute(t, dir, nil, append(args, "-f", in)...)
			if status != 0 {
				t.Fatalf("status %d\n%s", status, errs)
			}
			matchFile(t, filepath.Join(dir, want), out)
			if again, _, _ := execute(t, dir, out, append(args, "-f", "-")...); !bytes.Equal(again, out) {
				t.Errorf("injecting again changes it: %s", firstDifference(out, again))
			}
			if back, _, _ := execute(t, dir, out, "uninject", "-q", "-f", "-"); !bytes.Equal(back, input) {
				t.Errorf("uninject does not give the input: %s", firstDifference(input, back))
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !used[e.Name()] {
					t.Errorf("%s is used by no test", filepath.Join(dir, e.Name()))
				}
			}
		})
	}
}
