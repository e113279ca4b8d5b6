package golden

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// embeddedInjector is an injector with nothing given.
func embeddedInjector(t testing.TB, setup transform.Setup) *transform.Injector {
	t.Helper()
	b, fs := config.Load(config.LoadOptions{Embedded: transform.Embedded()})
	if b == nil {
		t.Fatal(fs)
	}
	setup.Registry = workload.Default()
	c, fs := transform.Compile(b, setup)
	if c == nil {
		t.Fatal(fs)
	}
	return transform.New(c.Options)
}

// outcome is what a run over one text gave.
type outcome struct {
	text      []byte
	errs      []policy.Finding
	warnings  []policy.Finding
	injected  int
	reencoded int
	workloads []transform.Workload
}

type streamed interface {
	Document(manifestDocument) transform.Result
}

// through runs one text through an injector or uninjector.
func through(t testing.TB, in streamed, file string, text []byte) outcome {
	t.Helper()
	var o outcome
	docs, fs := splitText(file, text)
	for _, f := range fs {
		if f.Severity == policy.Error && f.Code == "E_ENCODING" {
			o.errs = append(o.errs, f)
			return o
		}
	}
	var out bytes.Buffer
	for _, d := range docs {
		r := in.Document(d)
		out.Write(r.Raw)
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
		o.workloads = append(o.workloads, r.Workloads...)
	}
	o.text = out.Bytes()
	return o
}

// corpusFiles lists every real and nasty input, and the conformance inputs.
func corpusFiles(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{
		shared("corpus", "nasty", "*", "input.*"), shared("conformance", "istio-1.30", "*", "input.yaml"),
		shared("conformance", "istio-1.7", "*", "input.yaml"),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, files...)
	}
	out = append(out, realFiles(t)...)
	if len(out) == 0 {
		t.Skip("the corpora are not beside the checkout")
	}
	return out
}

// TestRoundTrip holds, over every corpus file: what cannot be injected leaves as it came, injecting twice is injecting
// once, and uninject gives the original back byte for byte.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	in := embeddedInjector(t, transform.Setup{})
	un := transform.NewUninjector(workload.Default())
	var injected, reencoded, records, inexact int
	for _, file := range corpusFiles(t) {
		text := readFile(t, file)
		if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
			continue // UTF-16 is decoded by the stream, which has tests of its own
		}
		once := through(t, in, file, text)
		if len(once.errs) > 0 {
			continue
		}
		injected += once.injected
		reencoded += once.reencoded
		if once.injected == 0 && !bytes.Equal(once.text, text) {
			t.Errorf("%s: nothing was injected, but the bytes changed", file)
		}
		twice := through(t, in, file, once.text)
		if len(twice.errs) > 0 {
			t.Errorf("%s: injecting again fails: %v", file, twice.errs[0])
			continue
		}
		if !bytes.Equal(twice.text, once.text) {
			t.Errorf("%s: injecting again changes the text\n%s", file, firstDifference(once.text, twice.text))
		}
		records += bytes.Count(once.text, []byte("# "+policy.AnnotationRestore))
		if bytes.Contains(text, []byte(policy.AnnotationStatus)) {
			continue // carried a sidecar already
		}
		back := through(t, un, file, once.text)
		if !bytes.Equal(back.text, text) {
			inexact++
			t.Errorf("%s: uninject does not give the original back\n%s", file, firstDifference(text, back.text))
		}
	}
	if injected == 0 {
		t.Error("nothing was injected")
	}
	t.Logf("%d injected, %d re-encoded, %d with a restore record, %d files not restored", injected, reencoded, records, inexact)
}

// firstDifference shows where two texts part.
func firstDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(w), len(g)) {
		var a, b []byte
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if !bytes.Equal(a, b) {
			return "line " + itoa(i+1) + "\n- " + string(a) + "\n+ " + string(b)
		}
	}
	return "none"
}
