package print

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
)

// sampleFindings is one of each kind, out of order, with text that every format has to escape.
func sampleFindings() []policy.Finding {
	web := policy.Resource{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	return []policy.Finding{
		{
			Code: "values-type", Severity: policy.Warning, Position: policy.Position{File: "b dir/ünï.yaml", Line: 7, Column: 14},
			EndLine: 7, EndColumn: 16, Document: 1, Resource: web, Field: `spec.template.metadata.annotations["proxy.istio.io/config"]`,
			Message: "wants a | or `code` <b>not</b> @team, see #12 at https://example.com & 100%",
		},
		{
			Code: "inject-value", Severity: policy.Error, Position: policy.Position{File: "a.yaml", Line: 3, Column: 30},
			Document: 2, Resource: web, Field: `metadata.labels["sidecar.istio.io/inject"]`,
			Message: `"yes" is neither true nor false`, Hint: `write "true"`,
			Fix: &policy.Fix{Summary: `write "true"`, Edits: []policy.FixEdit{{
				Path: []string{"metadata", "labels", "sidecar.istio.io/inject"}, Value: "true",
			}}},
		},
		{
			Code: "E_SYNTAX", Severity: policy.Error, Position: policy.Position{File: "a.yaml", Line: 9, Column: 1},
			Message: "a \x1b[31mtab\x1b[0m\r\n::error::injected\xff",
		},
		{
			Code: "inject-value", Severity: policy.Error, Position: policy.Position{File: "a.yaml", Line: 5, Column: 3},
			Document: 2, Resource: web, Field: `metadata.labels["sidecar.istio.io/inject"]`, Message: "the same again",
		},
		{Code: "I_SAMEFILE", Severity: policy.Info, Position: policy.Position{File: "<stdin>"}, Message: "same file as a.yaml; processed once"},
		{Code: "E_USAGE", Severity: policy.Error, Message: "no input", Hint: "pipe manifests in"},
		{
			Code: "no-name", Severity: policy.Info, Position: policy.Position{File: "/abs/c.json", Line: 1},
			Resource: policy.Resource{APIVersion: "v1", Kind: "Pod", GenerateName: "job-", Item: "items[1]"}, Message: "has no name",
		},
	}
}

func sampleOptions() Options {
	sources := map[string][]string{
		"a.yaml":         {"metadata:", "  labels:", `    sidecar.istio.io/inject: yes # 0`, "", "\t漢字 x: y", "", "", "", "bad"},
		"b dir/ünï.yaml": {"", "", "", "", "", "", "  cmd: [\"😀\", on]"},
	}
	return Options{
		Tool: Tool{Name: "inject", Version: "v1.2.3", Link: "https://example.com/inject"},
		Rules: []Rule{
			{
				ID: "inject-value", Category: "policy", Severity: policy.Error, Summary: "The inject label is true or false.",
				Help: "Write `\"true\"` or `\"false\"`.", Link: "https://example.com/rules/inject-value",
			},
			{ID: "no-name", Category: "names", Severity: policy.Info, Summary: "The object has a name."},
			{ID: "unused", Category: "names", Severity: policy.Warning, Summary: "Never found here."},
		},
		Source: func(file string, line int) (string, bool) {
			lines, ok := sources[file]
			if !ok || line > len(lines) {
				return "", false
			}
			return lines[line-1], true
		},
		Edits: func(f policy.Finding) []TextEdit {
			if f.Fix == nil {
				return nil
			}
			return []TextEdit{{StartLine: 3, StartColumn: 30, EndLine: 3, EndColumn: 33, New: `"true"`}}
		},
		Checked: []Checked{
			{File: "a.yaml", Resource: policy.Resource{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "good"}},
		},
	}
}

// ext is the ending of each format's golden file.
func ext(format string) string {
	switch format {
	case "json", "sarif", "gitlab":
		return "json"
	case "junit":
		return "xml"
	case "markdown":
		return "md"
	}
	return "txt"
}

func TestFormatsGolden(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			write, ok := FindingWriter(format)
			if !ok {
				t.Fatalf("no writer for %s", format)
			}
			var full, empty bytes.Buffer
			if err := write(&full, sampleFindings(), sampleOptions()); err != nil {
				t.Fatal(err)
			}
			if err := write(&empty, nil, Options{}); err != nil {
				t.Fatal(err)
			}
			compareGolden(t, "findings."+format+"."+ext(format), full.Bytes())
			compareGolden(t, "empty."+format+"."+ext(format), empty.Bytes())
			wellFormed(t, ext(format), full.Bytes())
			wellFormed(t, ext(format), empty.Bytes())
		})
	}
}

// wellFormed asks the standard library's reader of the format.
func wellFormed(t *testing.T, ext string, data []byte) {
	t.Helper()
	switch ext {
	case "json":
		if !json.Valid(data) {
			t.Errorf("not valid JSON:\n%s", data)
		}
	case "xml":
		d := xml.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatalf("not well-formed XML: %v\n%s", err, data)
			}
		}
	}
}

// Whatever the order the findings come in, the bytes are the same, and the caller's slice stays as it is.
func TestFormatsOrder(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			write, _ := FindingWriter(format)
			forward, backward := sampleFindings(), sampleFindings()
			slices.Reverse(backward)
			first := backward[0].Message
			var a, b bytes.Buffer
			if err := errors.Join(write(&a, forward, sampleOptions()), write(&b, backward, sampleOptions())); err != nil {
				t.Fatal(err)
			}
			if a.String() != b.String() {
				t.Errorf("order of the findings shows:\n%s\n%s", a.String(), b.String())
			}
			if backward[0].Message != first {
				t.Error("the writer changed its argument")
			}
		})
	}
}

// No format lets a control character, a broken character or a character of direction through.
func TestFormatsHarmless(t *testing.T) {
	t.Parallel()
	bad := "x\x1b]0;t\a\x00\x7f\u0085\u202e\u2066\ufeff\xff\xc0y"
	f := policy.Finding{
		Code: bad, Severity: policy.Error, Position: policy.Position{File: bad, Line: 1, Column: 1}, Field: bad, Message: bad,
		Hint:     bad,
		Resource: policy.Resource{APIVersion: bad, Kind: bad, Namespace: bad, Name: bad, GenerateName: bad, Item: bad},
	}
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			write, _ := FindingWriter(format)
			var b bytes.Buffer
			o := Options{Source: func(string, int) (string, bool) { return bad, true }}
			if err := write(&b, []policy.Finding{f}, o); err != nil {
				t.Fatal(err)
			}
			for i, r := range b.String() {
				if r != '\n' && (unclean(r) || isBreak(r)) {
					t.Errorf("%U at byte %d", r, i)
				}
			}
			if !strings.Contains(b.String(), "x") || !strings.Contains(b.String(), "y") {
				t.Error("the text around the bad characters is lost")
			}
		})
	}
}

// A writer's error comes back from every format.
func TestFormatsWriteError(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		write, _ := FindingWriter(format)
		if err := write(failingWriter{}, sampleFindings(), Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: error is %v", format, err)
		}
	}
}

var errFull = errors.New("no space left on device")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }
