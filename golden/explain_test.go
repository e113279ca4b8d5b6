package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestExplain runs the cases of golden/explain: in.yaml, args with further flags and files beside it; want.txt, want.json,
// want.err and want.code are what has to come.
func TestExplain(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob(filepath.Join("explain", "*", "in.yaml"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases in golden/explain", err)
	}
	for _, in := range dirs {
		dir := filepath.Dir(in)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			args := append([]string{"explain", "-f", "in.yaml"}, caseArgs(t, dir)...)
			got := runProgram(t, dir, "", args...)
			compareWanted(t, filepath.Join(dir, "want.txt"), got.out)
			compareWanted(t, filepath.Join(dir, "want.err"), got.err)
			code := ""
			if got.code != 0 {
				code = strconv.Itoa(got.code) + "\n"
			}
			compareWanted(t, filepath.Join(dir, "want.code"), code)
			machine := runProgram(t, dir, "", append(args, "-o", "json")...)
			compareWanted(t, filepath.Join(dir, "want.json"), machine.out)
			if machine.code != got.code {
				t.Errorf("exit %d as JSON, %d as text", machine.code, got.code)
			}
			var report struct {
				Kind      string
				Workloads []struct{ Trail []struct{ ID string } }
			}
			if err := json.Unmarshal([]byte(machine.out), &report); err != nil || report.Kind != "ExplainReport" || len(report.Workloads) == 0 {
				t.Errorf("no report: %v", err)
			}
		})
	}
}

// TestExplainUsage says what is wrong with a question that has no answer.
func TestExplainUsage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("explain", "default")
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no such workload": {[]string{"deploy/other"}, "the input holds deployment/web"},
		"no such value":    {[]string{"--why", "colour"}, "no value of that name"},
		"no such form":     {[]string{"-o", "table"}, "use -o text or -o json"},
		"a file":           {[]string{"in.yaml"}, "name files with -f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runProgram(t, dir, "", append([]string{"explain", "-f", "in.yaml"}, tt.args...)...)
			if got.code != 2 || !strings.Contains(got.err, tt.want) {
				t.Errorf("exit %d: %s", got.code, got.err)
			}
		})
	}
}

// TestExplainWritesNothing runs explain beside the file it reads.
func TestExplainWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := readFile(t, "explain", "default", "in.yaml")
	if err := os.WriteFile(filepath.Join(dir, "in.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runProgram(t, dir, "", "explain", "-f", "in.yaml", "--bootstrap"); got.code != 0 {
		t.Fatal(got.err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || string(readFile(t, dir, "in.yaml")) != string(text) {
		t.Errorf("the folder changed: %v %v", entries, err)
	}
}
