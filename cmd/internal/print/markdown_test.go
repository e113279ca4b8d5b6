package print

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
)

func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a | b":            "a &#124; b",
		"`rm`":             "&#96;rm&#96;",
		"<img src=x>":      "&#60;img src=x&#62;",
		"&lt;":             "&#38;lt;",
		"**b** _i_":        "&#42;&#42;b&#42;&#42; &#95;i&#95;",
		"[a](b)":           "&#91;a&#93;(b)",
		`\|`:               `&#92;&#124;`,
		"@team":            "&#64;&#8203;team",
		"a@sha256:00":      "a&#64;&#8203;sha256&#58;00",
		"@ x":              "&#64; x",
		"fixes #12":        "fixes &#35;&#8203;12",
		"# head":           "&#35; head",
		"https://a.b":      "https&#58;&#8203;//a.b",
		"www.a.b":          "w&#8203;ww.a.b",
		"$x$ ~~y~~ :name:": "&#36;x&#36; &#126;&#126;y&#126;&#126; &#58;name&#58;",
		"plain ü 漢":        "plain ü 漢",
	} {
		if got := markdownText(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Whatever a manifest holds, a row stays one row of four cells and opens no element of its own.
func TestMarkdownRows(t *testing.T) {
	t.Parallel()
	bad := "a|b\nc`<details>|</td>\\|\r\n| x |<!--"
	f := policy.Finding{
		Code: bad, Severity: policy.Error, Position: policy.Position{File: bad, Line: 1}, Field: bad, Message: bad, Hint: bad,
		Resource: policy.Resource{Kind: bad, Name: bad},
	}
	var b bytes.Buffer
	o := Options{Rules: []Rule{{ID: Clean(bad), Link: `https://x/"onclick="y|`}}}
	if err := Markdown(&b, []policy.Finding{f}, o); err != nil {
		t.Fatal(err)
	}
	tag := regexp.MustCompile(`</?([a-z]+)[^>]*>`)
	rows := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "| 1 |") {
			rows++
			if n := strings.Count(line, "|"); n != 5 {
				t.Errorf("%d borders in %s", n, line)
			}
		}
		if strings.Contains(line, "<!--") && line != MarkdownMarker+"\n" {
			t.Errorf("a comment in %s", line)
		}
	}
	if rows != 1 {
		t.Errorf("%d rows in\n%s", rows, b.String())
	}
	for _, match := range tag.FindAllStringSubmatch(b.String(), -1) {
		if !strings.Contains(" details summary code br a ", " "+match[1]+" ") {
			t.Errorf("element %s", match[0])
		}
	}
	if strings.Count(b.String(), "<details") != 1 {
		t.Error("the manifest opened an element")
	}
}

// A comment that is too long is refused as a whole, so rows are left out and counted.
func TestMarkdownLimit(t *testing.T) {
	t.Parallel()
	var findings []policy.Finding
	for i := range 3000 {
		findings = append(findings, policy.Finding{
			Code: "r", Severity: policy.Error, Position: policy.Position{File: fmt.Sprintf("f%d", i/1000), Line: i + 1},
			Message: strings.Repeat("|", 30),
		})
	}
	var b bytes.Buffer
	if err := Markdown(&b, findings, Options{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 65_536 {
		t.Errorf("%d bytes", b.Len())
	}
	shown := strings.Count(b.String(), "| error |")
	want := fmt.Sprintf("\n%d more findings left out here.\n", 3000-shown)
	if shown == 0 || shown == 3000 || !strings.HasSuffix(b.String(), want) {
		t.Errorf("%d rows, the end is %q", shown, b.String()[b.Len()-60:])
	}
	if strings.Count(b.String(), "<details") != strings.Count(b.String(), "</details>") {
		t.Error("an element is left open")
	}
}
