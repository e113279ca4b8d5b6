package golden

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lifecycleRun runs inject lifecycle in a folder and gives what it printed and its status.
func lifecycleRun(t testing.TB, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(program(t), exe("inject")), append([]string{"lifecycle"}, args...)...)
	var out, err bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &err
	if e := cmd.Run(); e != nil {
		if _, ok := e.(*exec.ExitError); !ok {
			t.Fatal(e)
		}
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// lifecycleArgs reads the flags of a case, one word a line.
func lifecycleArgs(t testing.TB, dir string) []string {
	t.Helper()
	args := []string{"-f", "in.yaml"}
	text, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil {
		return args
	}
	return append(args, strings.Fields(string(text))...)
}

// TestLifecycleCases runs each folder of lifecycle in every format. The text is what a person reads, so it is kept
// within 80 columns; the three others hold the same result.
func TestLifecycleCases(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("lifecycle")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("lifecycle", e.Name())
			args := lifecycleArgs(t, dir)
			known := map[string]bool{"in.yaml": true, "args": true, "values.yaml": true, "want.err": true}
			for format, ending := range map[string]string{"text": "txt", "json": "json", "markdown": "md", "svg": "svg"} {
				out, stderr, status := lifecycleRun(t, dir, append(args, "-o", format)...)
				if status != 0 {
					t.Fatalf("status %d\n%s", status, stderr)
				}
				compareFile(t, out, filepath.Join(dir, "want."+ending))
				known["want."+ending] = true
				if format != "text" {
					continue
				}
				compareFile(t, stderr, filepath.Join(dir, "want.err"))
				for line := range strings.Lines(out) {
					if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
						t.Errorf("%d columns: %s", n, line)
					}
				}
			}
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if !known[f.Name()] {
					t.Errorf("%s: no test reads this file", filepath.Join(dir, f.Name()))
				}
			}
		})
	}
}
