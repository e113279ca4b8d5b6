package lint

import (
	"fmt"
	"strings"
)

// Docs writes the reference page of the rules in Markdown.
func Docs(rules []Rule) string {
	var b strings.Builder
	b.WriteString(docsHead)
	fmt.Fprintf(&b, "| Rule | Severity | Fix | What it finds |\n| --- | --- | --- | --- |\n")
	for _, r := range rules {
		fix := ""
		if r.Fixes {
			fix = "yes"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s%s | %s | %s |\n", r.ID, r.ID, r.Severity, optIn(r), fix, r.Summary)
	}
	for _, r := range rules {
		b.WriteString("\n## " + r.ID + "\n\n")
		b.WriteString(story(r, "```yaml\n", "\n```\n"))
	}
	return b.String()
}

const docsHead = `# Lint rules

This page is made from the rules themselves: ` + "`go test ./policy/lint -update`" + ` writes it.

` + "`inject lint`" + ` checks manifests together with the configuration that would inject them. Rules are asked about
workloads that would be injected or hold an injected proxy; some, such as those about asking for injection, about others
too. A finding goes away with a comment on its line or the line above, or with an annotation on the workload:

` + "```yaml" + `
# inject:ignore reserved-port served to the node only
- containerPort: 15090
` + "```" + `

` + "```yaml" + `
metadata:
  annotations:
    inject.krm/lint-ignore: reserved-port, uid-1337
` + "```" + `

`

func optIn(r Rule) string {
	if r.OptIn {
		return " (off)"
	}
	return ""
}

// Explain tells the whole story of a rule as plain text.
func Explain(r Rule) string {
	text := fmt.Sprintf("%s: %s\n\n", r.ID, r.Summary)
	return text + story(r, "", "\n")
}

// story is what page and terminal have in common; before and behind enclose examples.
func story(r Rule, before, behind string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Category %s, severity %s", r.Category, r.Severity)
	if r.OptIn {
		b.WriteString(", off unless enabled")
	}
	if r.Fixes {
		b.WriteString(", `--fix` mends it where that is safe")
	}
	b.WriteString(".\n\n")
	if before != "" {
		b.WriteString(capital(r.Summary) + ".\n\n")
	}
	fmt.Fprintf(&b, "%s\n\nRemedy: %s.\n\nBad:\n\n%s%s%s\nGood:\n\n%s%s%s",
		r.Why, r.Remedy, before, r.Bad, behind, before, r.Good, behind)
	if r.Link != "" {
		b.WriteString("\nSee " + r.Link + "\n")
	}
	return b.String()
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
