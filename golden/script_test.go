package golden

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what cases and scripts expect; never what they read")

// built is the program under test: built once, into a folder that goes when the tests are done.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// TestMain removes the program that the tests built.
func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(status)
}

// program gives the folder with inject and kubectl-inject, building them at the first call. The version control stamp is
// left out, so that the version is the same in every checkout.
func program(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "inject-golden-"); built.err != nil {
			return
		}
		name := exe("inject")
		cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", filepath.Join(built.dir, name), "../cmd/inject")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("building inject: %w\n%s", err, out)
			return
		}
		built.err = os.Link(filepath.Join(built.dir, name), filepath.Join(built.dir, exe("kubectl-inject")))
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// TestScript runs script/*.txtar on the built program; -update rewrites the files that cmp compares with.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scriptParams(t, filepath.Join("script", "*.txtar")))
}

// scriptParams gives what every script runs with. Nothing of the caller's environment reaches the program but what
// testscript itself sets.
func scriptParams(t testing.TB, pattern string) testscript.Params {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts at %s", pattern)
	}
	dir := program(t)
	return testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", dir+string(os.PathListSeparator)+e.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": runStatus,
			"trim":   trimNewline,
		},
	}
}

// runStatus is the script command "status N PROGRAM ARGS...": it runs the program and wants exactly that exit status.
// Its output is what later stdout and stderr assertions see.
func runStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ee, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ee.ExitCode()
	}
	if want := args[0]; fmt.Sprint(got) != want {
		ts.Fatalf("exit status %d, want %s\nstderr:\n%s", got, want, ts.ReadFile("stderr"))
	}
}

// trimNewline is the script command "trim FILE": it takes the last newline away, which txtar cannot leave out.
func trimNewline(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: trim file")
	}
	text := ts.ReadFile(args[0])
	if len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}
