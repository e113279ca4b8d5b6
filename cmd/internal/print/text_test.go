package print

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

func findingsText(t *testing.T, findings []policy.Finding, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Findings(&b, findings, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Plain text of a finding is what the finding prints itself.
func TestFindingsSayWhatErrorSays(t *testing.T) {
	t.Parallel()
	for _, f := range sampleFindings() {
		want := cleanFinding(f).Error() + "\n"
		if f.Hint != "" {
			want += "    hint: " + f.Hint + "\n"
		}
		if diff := cmp.Diff(want, findingsText(t, []policy.Finding{f}, Options{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// At most 20 errors are shown, and all warnings.
func TestFindingsLimit(t *testing.T) {
	t.Parallel()
	var findings []policy.Finding
	for i := range 25 {
		for _, severity := range []policy.Severity{policy.Error, policy.Warning} {
			findings = append(findings, policy.Finding{
				Code: "c", Severity: severity, Position: policy.Position{File: "f", Line: i + 1}, Message: severity.String(),
			})
		}
	}
	tests := map[string]struct{ max, errors int }{"default": {0, 20}, "three": {3, 3}, "all": {-1, 25}}
	for name, test := range tests {
		text := findingsText(t, findings, Options{MaxErrors: test.max})
		if got := strings.Count(text, ": error:"); got != test.errors {
			t.Errorf("%s: %d errors, want %d", name, got, test.errors)
		}
		if got := strings.Count(text, ": warning:"); got != 25 {
			t.Errorf("%s: %d warnings of 25", name, got)
		}
		want := fmt.Sprintf("and %d more errors; the machine formats list all\n", 25-test.errors)
		if strings.HasSuffix(text, want) != (test.errors < 25) {
			t.Errorf("%s: ends in %q", name, text[max(0, len(text)-60):])
		}
	}
	one := findingsText(t, findings, Options{MaxErrors: 24})
	if !strings.HasSuffix(one, "and 1 more error; the machine formats list all\n") {
		t.Error("one is not many")
	}
}

func TestFindingsColor(t *testing.T) {
	t.Parallel()
	findings := sampleFindings()[1:2]
	o := sampleOptions()
	o.Style = Style{On: true}
	want := "\x1b[1ma.yaml:3:30\x1b[0m: \x1b[31merror\x1b[0m: doc 2, apps/v1 Deployment shop/web, " +
		"metadata.labels[\"sidecar.istio.io/inject\"]: \"yes\" is neither true nor false [inject-value]\n" +
		"\x1b[36m  |\x1b[0m\n\x1b[36m3 |\x1b[0m     sidecar.istio.io/inject: yes # 0\n" +
		"\x1b[36m  |\x1b[0m                              \x1b[32m^~~\x1b[0m\n    hint: write \"true\"\n"
	if diff := cmp.Diff(want, findingsText(t, findings, o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 150) + " bad " + strings.Repeat("b", 150)
	tests := map[string]struct {
		line string
		f    policy.Finding
		want string
	}{
		"word":        {"a: bad # x", at(7, 4), "  |\n7 | a: bad # x\n  |    ^~~\n"},
		"number":      {"a: bad", at(1234, 4), "     |\n1234 | a: bad\n     |    ^~~\n"},
		"range":       {"a: [b, c]", ending(at(7, 4), 7, 10), "  |\n7 | a: [b, c]\n  |    ^~~~~~\n"},
		"many lines":  {"a: |  ", ending(at(7, 4), 9, 2), "  |\n7 | a: |  \n  |    ^~~\n"},
		"no column":   {"a: bad", at(7, 0), "  |\n7 | a: bad\n"},
		"line end":    {"a:", at(7, 3), "  |\n7 | a:\n  |   ^\n"},
		"beyond":      {"a:", at(7, 9), "  |\n7 | a:\n"},
		"empty":       {"", at(7, 1), "  |\n7 | \n  | ^\n"},
		"crlf":        {"a: bad\r\n", at(7, 4), "  |\n7 | a: bad\n  |    ^~~\n"},
		"tab":         {"\ta:\tbad", at(7, 5), "  |\n7 | \ta:\tbad\n  | \t  \t^~~\n"},
		"wide":        {"漢: 字字", at(7, 4), "  |\n7 | 漢: 字字\n  |     ^~~~\n"},
		"accent":      {"e\u0301: x", at(7, 5), "  |\n7 | e\u0301: x\n  |    ^\n"},
		"control":     {"a\x1b: bad", at(7, 5), "  |\n7 | a\ufffd: bad\n  |     ^~~\n"},
		"long":        {long, at(7, 152), "  |\n7 | …" + strings.Repeat("a", 32) + " bad " + strings.Repeat("b", 63) + "…\n  | " + strings.Repeat(" ", 34) + "^~~\n"},
		"long, early": {long, at(7, 1), "  |\n7 | " + strings.Repeat("a", 100) + "…\n  | ^" + strings.Repeat("~", 99) + "\n"},
		"long, late":  {long, at(7, 305), "  |\n7 | …" + strings.Repeat("b", 100) + "\n  | " + strings.Repeat(" ", 100) + "^\n"},
		"secret":      {"a: bad", policy.Finding{Position: at(7, 4).Position, Resource: policy.Resource{Kind: "Secret"}}, ""},
		"environment": {"a: bad", policy.Finding{Position: at(7, 4).Position, Field: "spec.containers[0].env[1].value"}, ""},
		"no line":     {"a: bad", at(0, 0), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			snippet(&b, test.f, Options{Source: func(string, int) (string, bool) { return test.line, true }})
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func at(line, column int) policy.Finding {
	return policy.Finding{Position: policy.Position{File: "f", Line: line, Column: column}}
}

func ending(f policy.Finding, line, column int) policy.Finding {
	f.EndLine, f.EndColumn = line, column
	return f
}

func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain ü 漢 😀":     "plain ü 漢 😀",
		"a\nb\r\nc\td\re": "a b c d e",
		"\x1b[31mred":     "\ufffd[31mred",
		"\x00\x7f\u0080":  "\ufffd\ufffd\ufffd",
		"\xff\xc3":        "\ufffd\ufffd",
		"a\u202eb\u2069":  "a\ufffdb\ufffd",
		"a\u2028b\u0085":  "a b ",
		"\ufeffx":         "\ufffdx",
		"zero\u200dwide":  "zero\u200dwide",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestColorMode(t *testing.T) {
	t.Parallel()
	tty := Terminal{IsTerminal: true, Term: "xterm"}
	tests := map[string]struct {
		mode string
		t    Terminal
		want bool
	}{
		"terminal":               {"auto", tty, true},
		"pipe":                   {"auto", Terminal{Term: "xterm"}, false},
		"NO_COLOR":               {"auto", Terminal{IsTerminal: true, NoColor: "0", Term: "xterm"}, false},
		"dumb":                   {"auto", Terminal{IsTerminal: true, Term: "dumb"}, false},
		"no TERM":                {"auto", Terminal{IsTerminal: true}, true},
		"always beats NO_COLOR":  {"always", Terminal{NoColor: "1", Term: "dumb"}, true},
		"never beats a terminal": {"never", tty, false},
	}
	for name, test := range tests {
		mode, err := ParseColor(test.mode)
		if err != nil {
			t.Fatal(err)
		}
		if got := mode.Style(test.t).On; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if _, err := ParseColor("yes"); err == nil || err.Error() != `"yes" is not a colour mode; use auto, always or never` {
		t.Errorf("error is %v", err)
	}
}
