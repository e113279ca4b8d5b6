package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lintOf runs inject lint and gives both streams and the exit status.
func lintOf(t *testing.T, stdin string, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	p := &Process{
		Args: []string{"inject"}, In: strings.NewReader(stdin), Out: &o, Err: &e, Getenv: func(string) string { return "" },
	}
	cmd := newLint(p)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	var done failed
	if err != nil && !errors.As(err, &done) {
		return o.String(), err.Error(), p.status(err)
	}
	return o.String(), e.String(), p.status(err)
}

const lintBad = `apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations:
    # a quarter
    sidecar.istio.io/proxyCpu: 250m
spec:
  containers:
  - name: web
    image: registry.example/web:1
    ports:
    - containerPort: 15021
`

func TestLintText(t *testing.T) {
	t.Parallel()
	out, errs, status := lintOf(t, lintBad)
	want := `<stdin>:7:5: error: doc 1, v1 Pod web, metadata.annotations[sidecar.istio.io/proxyCpu]: no component of Istio reads the annotation sidecar.istio.io/proxyCpu [annotation-unknown]
  |
7 |     sidecar.istio.io/proxyCpu: 250m
  |     ^~~~~~~~~~~~~~~~~~~~~~~~~
    hint: did you mean sidecar.istio.io/proxyCPU?
<stdin>:13:22: error: doc 1, v1 Pod web, spec.containers[0].ports[0].containerPort: the proxy uses port 15021 for health checks; container web wants it too [reserved-port]
   |
13 |     - containerPort: 15021
   |                      ^~~~~
    hint: let the application listen on another port
`
	if d := cmp.Diff(want, out); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if status != ExitFound {
		t.Errorf("status %d", status)
	}
	if want := "checked 1 object in 1 document: 2 errors, 0 warnings, 0 infos\n"; errs != want {
		t.Errorf("stderr %q", errs)
	}
}

func TestLintStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stdin string
		args  []string
		want  int
		says  string
	}{
		"found":             {lintBad, nil, ExitFound, ""},
		"never":             {lintBad, []string{"--fail-on", "never"}, ExitDone, ""},
		"disabled":          {lintBad, []string{"--disable", "annotation-unknown,reserved-port"}, ExitDone, ""},
		"category":          {lintBad, []string{"--only", "security"}, ExitDone, ""},
		"severity":          {lintBad, []string{"--severity", "annotation-unknown=warning,reserved-port=info"}, ExitDone, ""},
		"severity, fail-on": {lintBad, []string{"--only", "ports", "--severity", "reserved-port=info", "--fail-on", "info"}, ExitFound, ""},
		"unknown rule":      {lintBad, []string{"--disable", "reserved-prot"}, ExitFailed, "did you mean reserved-port?"},
		"unknown severity":  {lintBad, []string{"--severity", "uid-1337=fatal"}, ExitFailed, "no such level"},
		"unknown format":    {lintBad, []string{"-o", "xml"}, ExitFailed, "is no format"},
		"broken":            {"kind: Pod\napiVersion: v1\nspec: [\n", nil, ExitFailed, "checked 0 objects"},
		"nothing":           {"kind: ConfigMap\napiVersion: v1\n", nil, ExitDone, "0 errors"},
		"comment":           {strings.ReplaceAll(lintBad, "15021", "15021 # inject:ignore reserved-port"), []string{"--only", "ports"}, ExitDone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs, status := lintOf(t, c.stdin, c.args...)
			if status != c.want || !strings.Contains(errs, c.says) {
				t.Errorf("status %d, want %d; %s", status, c.want, errs)
			}
		})
	}
}

// TestLintFormats: every format is what it says, with findings and without.
func TestLintFormats(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "sarif", "gitlab"} {
		for _, input := range []string{lintBad, "kind: ConfigMap\napiVersion: v1\n"} {
			out, _, _ := lintOf(t, input, "-o", format)
			if !json.Valid([]byte(out)) {
				t.Errorf("%s is no JSON: %s", format, out)
			}
		}
	}
	out, _, _ := lintOf(t, lintBad, "-o", "sarif")
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				Fixes         []struct {
					ArtifactChanges []struct {
						Replacements []struct {
							DeletedRegion   struct{ StartLine, StartColumn, EndColumn int }
							InsertedContent struct{ Text string }
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	if log.Version != "2.1.0" || len(results) != 2 || results[0].RuleID != "annotation-unknown" || results[0].Level != "error" {
		t.Errorf("%+v", log)
	}
	if len(results[0].Fixes) != 1 {
		t.Fatalf("no fix: %s", out)
	}
	r := results[0].Fixes[0].ArtifactChanges[0].Replacements[0]
	if r.InsertedContent.Text != "sidecar.istio.io/proxyCPU" || r.DeletedRegion.StartLine != 7 || r.DeletedRegion.StartColumn != 5 {
		t.Errorf("%+v", r)
	}
	out, _, _ = lintOf(t, lintBad, "-o", "github")
	if !strings.HasPrefix(out, "::error file=stdin.yaml,line=7,") {
		t.Errorf("%s", out)
	}
}

// TestLintFixFiles: files are mended in place, comments stay, and what cannot be mended is reported.
func TestLintFixFiles(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(name, []byte(lintBad), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, status := lintOf(t, "", "-f", name, "--fix")
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got), "    # a quarter\n    sidecar.istio.io/proxyCPU: 250m\n") {
		t.Errorf("the file holds\n%s", got)
	}
	if status != ExitFound || strings.Contains(out, "annotation-unknown") || !strings.Contains(out, "reserved-port") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	out, _, _ = lintOf(t, lintBad, "--fix")
	if out != string(got) {
		t.Errorf("standard input gives\n%s", out)
	}
}

func TestLintTells(t *testing.T) {
	t.Parallel()
	out, _, status := lintOf(t, "", "--rules")
	if status != ExitDone || strings.Count(out, "\n") < 50 {
		t.Errorf("%s", out)
	}
	out, _, status = lintOf(t, "", "--explain", "grace-below-drain")
	for _, part := range []string{"Bad:", "Good:", "Remedy:", "https://", "terminationGracePeriodSeconds"} {
		if status != ExitDone || !strings.Contains(out, part) {
			t.Errorf("%q is missing in %s", part, out)
		}
	}
	if _, errs, status := lintOf(t, "", "--explain", "grace-below-drian"); status != ExitFailed || !strings.Contains(errs, "did you mean grace-below-drain?") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// TestLintFixValues: what the values file says wrong is mended there.
func TestLintFixValues(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "values.yaml")
	const values = "# of the mesh\nglobal:\n  proxy:\n    holdApplicationUntilProxyStarts: true\n    lifecycle:\n      preStop:\n        exec:\n          command: [sleep, '9'] # long enough\n"
	if err := os.WriteFile(name, []byte(values), 0o644); err != nil {
		t.Fatal(err)
	}
	pod := strings.Split(lintBad, "  annotations:")[0] + "spec:\n  containers:\n  - name: web\n    image: registry.example/web:1\n"
	out, errs, status := lintOf(t, pod, "--values-file", name, "--native-sidecar=false", "--fix")
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if status != ExitDone || out != pod || !strings.Contains(errs, "mended 1 finding\n") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
	if !strings.HasPrefix(string(got), values) || !strings.Contains(string(got), "pilot-agent") {
		t.Errorf("%s", got)
	}
}
