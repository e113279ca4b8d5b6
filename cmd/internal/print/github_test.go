package print

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

func TestGitHubEscapes(t *testing.T) {
	t.Parallel()
	f := policy.Finding{
		Code: "a,b:c", Severity: policy.Warning, Position: policy.Position{File: "C:/x,y%.yaml", Line: 2, Column: 3},
		EndLine: 4, Message: "50% of a::b, c", Hint: "wrap\nit",
	}
	var b bytes.Buffer
	if err := GitHub(&b, []policy.Finding{f}, Options{}); err != nil {
		t.Fatal(err)
	}
	want := "::warning file=C%3A/x%2Cy%25.yaml,line=2,endLine=4,col=3,title=a%2Cb%3Ac::50%25 of a::b, c%0Ahint: wrap it\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := githubData("a\r\nb%"); got != "a%0D%0Ab%25" {
		t.Errorf("message becomes %q", got)
	}
	if got := githubProperty("a\r\nb%:,"); got != "a%0D%0Ab%25%3A%2C" {
		t.Errorf("property becomes %q", got)
	}
}

// GitHub shows ten of a kind; the notice about the rest needs a place of its own.
func TestGitHubLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		errors, warnings, infos int
		want                    string
	}{
		"all fit":       {10, 10, 10, "10 10 10 -"},
		"many errors":   {12, 1, 1, "10 1 2 2 more findings not shown here"},
		"many notices":  {0, 0, 12, "0 0 10 3 more findings not shown here"},
		"many warnings": {0, 11, 10, "0 10 10 2 more findings not shown here"},
		"one more":      {11, 0, 0, "10 0 1 1 more finding not shown here"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var findings []policy.Finding
			for severity, n := range map[policy.Severity]int{policy.Error: test.errors, policy.Warning: test.warnings, policy.Info: test.infos} {
				for i := range n {
					findings = append(findings, policy.Finding{Severity: severity, Position: policy.Position{File: "f", Line: i + 1}, Message: severity.String()})
				}
			}
			var b bytes.Buffer
			if err := GitHub(&b, findings, Options{}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			rest := "-"
			if last, ok := strings.CutPrefix(lines[len(lines)-1], "::notice::"); ok {
				rest = last
			}
			got := fmt.Sprintf("%d %d %d %s", strings.Count(b.String(), "::error "), strings.Count(b.String(), "::warning "),
				strings.Count(b.String(), "::notice"), rest)
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if strings.Contains(b.String(), "::notice ") && strings.LastIndex(b.String(), "::error ") > strings.Index(b.String(), "::notice ") {
				t.Error("errors are not first")
			}
		})
	}
}

func TestGitHubText(t *testing.T) {
	t.Parallel()
	for text, stopped := range map[string]bool{
		"":                               false,
		"plain":                          false,
		"a::b\n":                         false,
		"::error::x":                     true,
		"fine\n  ::set-env name=x::y\n":  true,
		"see ##[error]here\n":            true,
		"carriage\r::error::x\n":         true,
		"::stop-commands::inject-0000\n": true,
	} {
		var b bytes.Buffer
		if err := GitHubText(&b, text); err != nil {
			t.Fatal(err)
		}
		whole := text
		if text != "" && !strings.HasSuffix(text, "\n") {
			whole += "\n"
		}
		first, rest, _ := strings.Cut(b.String(), "\n")
		token, wrapped := strings.CutPrefix(first, "::stop-commands::inject-")
		if wrapped = wrapped && !strings.HasPrefix(whole, first+"\n"); wrapped != stopped {
			t.Errorf("%q is written %q", text, b.String())
		}
		if !stopped && b.String() != whole {
			t.Errorf("%q becomes %q", text, b.String())
		}
		if stopped && (rest != whole+"::inject-"+token+"::\n" || strings.Contains(text, token)) {
			t.Errorf("%q is not inside its token: %q", text, b.String())
		}
	}
}

func TestGitLabRepeats(t *testing.T) {
	t.Parallel()
	f := policy.Finding{Code: "r", Position: policy.Position{File: "f", Line: 1}, Message: "m"}
	g := f
	g.Position.Line = 2
	var b bytes.Buffer
	if err := GitLab(&b, []policy.Finding{f, g}, Options{}); err != nil {
		t.Fatal(err)
	}
	var prints []string
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "fingerprint") {
			prints = append(prints, line)
		}
	}
	if len(prints) != 2 || prints[0] == prints[1] {
		t.Errorf("fingerprints are %q", prints)
	}
}
