package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/workload"
)

// probeEngine adds the standard probe overlay of the corpus: below the pod steps, so that locating, changing, editing
// and verifying are tested without any sidecar.
type probeEngine struct{}

func (probeEngine) Inject(in pod.Input) (*pod.Output, []policy.Finding) {
	t := *in.Template.DeepCopy()
	if t.Annotations == nil {
		t.Annotations = map[string]string{}
	}
	t.Annotations["inject.example.com/status"] = "probe"
	if !slices.ContainsFunc(t.Spec.Containers, func(c corev1.Container) bool { return c.Name == "probe" }) {
		t.Spec.Containers = append(t.Spec.Containers, corev1.Container{
			Name: "probe", Image: "example.com/probe:1", Args: []string{"run"},
			Env: []corev1.EnvVar{{Name: "ENABLED", Value: "true"}},
		})
		t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{
			Name: "probe-data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		})
	}
	return &pod.Output{Template: t}, nil
}

func probeInjector(t testing.TB, args []string, strict bool) *transform.Injector {
	t.Helper()
	o := transform.Options{
		Engine: probeEngine{}, Registry: workload.Default(), Rules: policy.Rules{IgnorePolicy: true}, NoRecord: true, Strict: strict,
	}
	for i := 0; i < len(args); i++ {
		spec, ok := strings.CutPrefix(args[i], "--kind=")
		if args[i] == "--kind" {
			i++
			spec, ok = args[i], true
		}
		switch {
		case ok:
			reg, err := o.Registry.With(spec)
			if err != nil {
				t.Fatal(err)
			}
			o.Registry = reg
		case args[i] == "--strict":
			o.Strict = true
		default:
			t.Fatalf("unknown argument %s", args[i])
		}
	}
	return transform.New(o)
}

// expectation is expect.json of a nasty case.
type expectation struct {
	Result                  string
	ErrorLine, ErrorColumn  int
	AltErrorLines           []int
	ErrorContains           string
	ErrorCode               string
	WarningContains         string
	Preserve                *bool
	Reencode                bool
	DocIndex                int
	Workloads               int
	Args                    []string
	Want                    any
	WantAdvisory            bool
	StrictError             *expectation
	Idempotence, Idempotent any
}

// TestNasty runs every case of corpus/nasty through the whole pipeline with the probe overlay.
func TestNasty(t *testing.T) {
	t.Parallel()
	root := needShared(t, "corpus", "nasty")
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if strings.HasPrefix(d.Name(), "e-") {
			continue // edits of the edit layer: transform/manifest runs them
		}
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			var e expectation
			if err := json.Unmarshal(readFile(t, root, d.Name(), "expect.json"), &e); err != nil {
				t.Fatal(err)
			}
			inputs, _ := filepath.Glob(filepath.Join(root, d.Name(), "input.*"))
			for _, file := range inputs {
				checkNasty(t, file, e)
			}
		})
	}
}

// streamProbe runs a file as the command would: decoded, split, injected, encoded again.
func streamProbe(t *testing.T, in *transform.Injector, file string, text []byte) outcome {
	t.Helper()
	var o outcome
	err := in.Stream(t.Context(), filepath.Base(file), bytes.NewReader(text), 2, func(b transform.Batch) error {
		for _, r := range b.Results {
			o.text = append(o.text, b.Encoding.Encode(r.Raw)...)
			for _, f := range r.Findings {
				if f.Severity == policy.Error {
					o.errs = append(o.errs, f)
				} else {
					o.warnings = append(o.warnings, f)
				}
			}
			for _, w := range r.Workloads {
				if w.Action == transform.Injected {
					o.injected++
				}
				if w.Reencoded {
					o.reencoded++
				}
			}
		}
		return nil
	})
	var f policy.Finding
	if errors.As(err, &f) {
		o.errs = append(o.errs, f)
	} else if err != nil {
		t.Fatal(err)
	}
	return o
}

func checkNasty(t *testing.T, file string, e expectation) {
	t.Helper()
	text := readFile(t, file)
	o := streamProbe(t, probeInjector(t, e.Args, false), file, text)
	switch e.Result {
	case "error":
		if len(o.errs) == 0 {
			t.Fatalf("no error, want %s", e.ErrorContains)
		}
		if !slices.ContainsFunc(o.errs, e.matches) {
			t.Errorf("want line %d col %d %s %q, got %v (hint: %s)", e.ErrorLine, e.ErrorColumn, e.ErrorCode, e.ErrorContains, o.errs[0], o.errs[0].Hint)
		}
		return
	case "pass":
		if len(o.errs) > 0 {
			t.Fatal(o.errs)
		}
		if !bytes.Equal(o.text, text) {
			t.Errorf("the text changed\n%s", firstDifference(text, o.text))
		}
	case "inject":
		if len(o.errs) > 0 {
			t.Fatal(o.errs)
		}
		if e.Workloads != 0 && o.injected != e.Workloads {
			t.Errorf("%d templates changed, want %d", o.injected, e.Workloads)
		}
		if (o.reencoded > 0) != e.Reencode {
			t.Errorf("re-encoded %d, want %v: %v", o.reencoded, e.Reencode, o.warnings)
		}
	default:
		t.Fatalf("unknown result %s", e.Result)
	}
	if e.WarningContains != "" && !slices.ContainsFunc(o.warnings, func(f policy.Finding) bool {
		return strings.Contains(f.Error()+" "+f.Hint, e.WarningContains)
	}) {
		t.Errorf("no warning with %q in %v", e.WarningContains, o.warnings)
	}
	want := strings.Replace(file, "input.", "want.", 1)
	if b, err := os.ReadFile(want); err == nil && !e.WantAdvisory && !bytes.Equal(b, o.text) {
		t.Errorf("not the exact output\n%s", firstDifference(b, o.text))
	} else if err == nil && e.WantAdvisory {
		if d := compare(documents(t, b), documents(t, o.text), false); d != "" {
			t.Error(d)
		}
	}
	if e.StrictError != nil {
		s := streamProbe(t, probeInjector(t, e.Args, true), file, text)
		if !slices.ContainsFunc(s.errs, e.StrictError.matches) {
			t.Errorf("--strict: no error with %q at line %d in %v", e.StrictError.ErrorContains, e.StrictError.ErrorLine, s.errs)
		}
	}
}

func (e expectation) matches(f policy.Finding) bool {
	lineOK := e.ErrorLine == 0 || f.Position.Line == e.ErrorLine || slices.Contains(e.AltErrorLines, f.Position.Line)
	columnOK := e.ErrorColumn == 0 || f.Position.Column == e.ErrorColumn
	return lineOK && columnOK && (e.ErrorCode == "" || f.Code == e.ErrorCode) && strings.Contains(f.Error()+" "+f.Hint, e.ErrorContains)
}

// TestReal runs the real files: outcome, number of templates and the bytes of the neighbours.
func TestReal(t *testing.T) {
	t.Parallel()
	index := realIndex(t)
	if len(index) == 0 {
		t.Skip("the corpora are not beside the checkout")
	}
	in := probeInjector(t, nil, false)
	total, reencoded := 0, 0
	for _, f := range index {
		file := shared("corpus", "real", f.File)
		text := readFile(t, file)
		o := streamProbe(t, in, file, text)
		got := "pass"
		switch {
		case len(o.errs) > 0:
			got = "error"
		case o.injected > 0:
			got = "inject"
		}
		if skips := hostNetworkSkips(text); got != f.Expect && !(skips > 0 && got == "pass") {
			t.Errorf("%s: %s, want %s %v", f.File, got, f.Expect, o.errs)
		} else if got == "inject" && o.injected+skips < len(f.Workloads) {
			t.Errorf("%s: %d templates, want %d", f.File, o.injected, len(f.Workloads))
		}
		if got != "inject" && got != "error" && !bytes.Equal(o.text, text) {
			t.Errorf("%s: passed, but the text changed", f.File)
		}
		if got == "inject" {
			checkLines(t, f.File, text, o.text)
		}
		total += o.injected
		reencoded += o.reencoded
	}
	t.Logf("%d templates injected, %d re-encoded", total, reencoded)
	if reencoded > 0 {
		t.Errorf("%d re-encoded, want none", reencoded)
	}
}

func hostNetworkSkips(text []byte) int { return bytes.Count(text, []byte("hostNetwork: true")) }

// checkLines holds that no input line is gone, but for what must change: an empty or flow collection, and the clip
// indicator at the end of a file without a line end.
func checkLines(t *testing.T, name string, before, after []byte) {
	t.Helper()
	lines := bytes.Split(after, []byte("\n"))
	at := 0
	for i, line := range bytes.Split(before, []byte("\n")) {
		found := false
		for k := at; k < len(lines); k++ {
			if bytes.Equal(lines[k], line) {
				at, found = k+1, true
				break
			}
		}
		if !found && !bytes.ContainsAny(line, "{}[]|>~") && !bytes.HasSuffix(bytes.TrimSpace(line), []byte("null")) &&
			!bytes.HasSuffix(bytes.TrimSpace(line), []byte(":")) {
			t.Errorf("%s: line %d is gone: %s", name, i+1, line)
			return
		}
	}
}
