package print

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
)

// MarkdownMarker is the first line of the Markdown form. It is not visible; whoever posts the text as a comment finds
// its own earlier comment by it.
const MarkdownMarker = "<!-- inject.krm/findings -->"

// markdownLimit keeps the text below the 65,536 characters that GitHub takes in a comment.
const markdownLimit = 60_000

// Markdown writes findings as a comment for a merge request: a heading with the sums, and per file a table that can be
// folded up; files with errors are unfolded. Text from manifests is escaped so that it forms no markup, mentions
// nobody and links nowhere. What would not fit in a comment is counted.
func Markdown(w io.Writer, findings []policy.Finding, o Options) error {
	findings = prepare(findings)
	var b bytes.Buffer
	b.WriteString(MarkdownMarker + "\n")
	name := o.Tool.Name
	if name == "" {
		name = "inject"
	}
	fmt.Fprintf(&b, "### %s: %s\n", markdownText(name), sums(findings))
	left := 0
	for start := 0; start < len(findings); {
		end := start
		for end < len(findings) && findings[end].Position.File == findings[start].Position.File {
			end++
		}
		left += markdownFile(&b, findings[start:end], o)
		start = end
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%s left out here.\n", count(left, "more finding"))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// sums is "2 errors, 1 warning", or "no findings".
func sums(findings []policy.Finding) string {
	errors, warnings, infos := countSeverities(findings)
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{errors, "error"}, {warnings, "warning"}, {infos, "note"}} {
		if part.n > 0 {
			parts = append(parts, count(part.n, part.noun))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// markdownFile writes the findings of one file and gives the number of those it had no room for.
func markdownFile(b *bytes.Buffer, findings []policy.Finding, o Options) int {
	if b.Len() > markdownLimit {
		return len(findings)
	}
	links := make(map[string]string)
	for _, r := range o.Rules {
		links[r.ID] = r.Link
	}
	open := ""
	if errors, _, _ := countSeverities(findings); errors > 0 {
		open = " open"
	}
	file := "command line"
	if findings[0].Position.File != "" {
		file = o.file(findings[0].Position.File)
	}
	fmt.Fprintf(b, "\n<details%s><summary><code>%s</code>: %s</summary>\n\n", open, htmlText(file), sums(findings))
	b.WriteString("| Line | | Object | Finding |\n| ---: | --- | --- | --- |\n")
	left := 0
	for _, f := range findings {
		row := markdownRow(f, links[f.Code])
		if b.Len()+len(row) > markdownLimit {
			left++
			continue
		}
		b.WriteString(row)
	}
	b.WriteString("\n</details>\n")
	return left
}

func markdownRow(f policy.Finding, link string) string {
	line := ""
	if f.Position.Line > 0 {
		line = fmt.Sprint(f.Position.Line)
	}
	text := markdownText(f.Message)
	if f.Hint != "" {
		text += "<br>" + markdownText(f.Hint)
	}
	if f.Code != "" {
		text += "<br>" + markdownRule(f.Code, link)
	}
	object := markdownText(objectName(f.Resource))
	if f.Field != "" {
		if object != "" {
			object += "<br>"
		}
		object += "<code>" + htmlText(f.Field) + "</code>"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", line, f.Severity, object, text)
}

func markdownRule(code, link string) string {
	code = "<code>" + htmlText(code) + "</code>"
	if link == "" {
		return code
	}
	return `<a href="` + htmlText(link) + `">` + code + "</a>"
}

// htmlText escapes text inside an HTML element of a Markdown table: no tag, no entity, no cell border, no span of code
// or emphasis.
func htmlText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("&<>\"'|`*_[]\\~$@#:", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// markdownText escapes text in a table cell. Every character of ASCII punctuation that could mean something is written
// as an entity, which Markdown takes as text. Mentions, references to issues and bare addresses are found behind
// that, in the finished page, so a character without width parts them.
func markdownText(text string) string {
	var b strings.Builder
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(max(r, 0)):])
		switch {
		case r == '@' && isWord(next), r == '#' && isWord(next), r == ':' && next == '/', r == 'w' && strings.HasPrefix(text[i:], "www."):
			b.WriteString(htmlText(string(r)) + "&#8203;")
		default:
			b.WriteString(htmlText(string(r)))
		}
	}
	return b.String()
}

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
