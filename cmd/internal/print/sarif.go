package print

import (
	"io"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// What GitHub's code scanning takes of one run (docs.github.com, "SARIF support for code scanning").
const (
	sarifMaxResults = 25_000
	sarifMaxText    = 1024
)

// SARIF writes findings as a SARIF 2.1.0 log with one run. Findings about no file become notifications of the tool,
// since a result must have a place; errors go first into what is left out above 25,000 results, the most that GitHub
// takes, and a notification says how many are missing.
func SARIF(w io.Writer, findings []policy.Finding, o Options) error {
	log := sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{sarifOf(prepare(findings), o)},
	}
	return writeJSON(w, log)
}

func sarifOf(findings []policy.Finding, o Options) sarifRun {
	rules := sarifRules(findings, o)
	index := make(map[string]int, len(rules))
	for i, r := range rules {
		index[r.ID] = i
	}
	prints := fingerprints(findings, o)
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: o.Tool.Name, InformationURI: o.Tool.Link, Rules: rules,
		}},
		ColumnKind: "utf16CodeUnits",
		Results:    []sarifResult{},
	}
	run.Tool.Driver.setVersion(o.Tool.Version)
	if run.Tool.Driver.Name == "" {
		run.Tool.Driver.Name = "inject"
	}
	var notes []sarifNotification
	failed := false
	keep := sarifKept(findings)
	for i, f := range findings {
		switch {
		case f.Position.File == "":
			notes = append(notes, sarifNotification{Level: sarifLevel(f.Severity), Message: sarifText{Text: messageAndHint(f)}})
			failed = failed || f.Severity == policy.Error
		case keep[i]:
			run.Results = append(run.Results, sarifResultOf(f, index[f.Code], prints[i], o))
		}
	}
	if n := len(findings) - len(run.Results) - len(notes); n > 0 {
		notes = append(notes, sarifNotification{Level: "warning", Message: sarifText{Text: count(n, "more finding") + " left out"}})
	}
	if len(notes) > 0 {
		run.Invocations = []sarifInvocation{{ExecutionSuccessful: !failed, ToolExecutionNotifications: notes}}
	}
	return run
}

// setVersion keeps the versions of builds that are no release, such as "(devel)", out of the field for semantic ones.
func (d *sarifDriver) setVersion(version string) {
	bare := strings.TrimPrefix(version, "v")
	if bare != "" && bare[0] >= '0' && bare[0] <= '9' {
		d.SemanticVersion = bare
		return
	}
	d.Version = version
}

// sarifKept chooses the findings that become results when there are too many: the worst first.
func sarifKept(findings []policy.Finding) []bool {
	keep := make([]bool, len(findings))
	room := sarifMaxResults
	for _, severity := range []policy.Severity{policy.Error, policy.Warning, policy.Info} {
		for i, f := range findings {
			if f.Severity == severity && f.Position.File != "" && room > 0 {
				keep[i] = true
				room--
			}
		}
	}
	return keep
}

func sarifLevel(s policy.Severity) string {
	if s == policy.Info {
		return "note"
	}
	return s.String()
}

func messageAndHint(f policy.Finding) string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "\nhint: " + f.Hint
}

// sarifRules describes the rules that were asked and, behind them, codes among the findings that are no rule.
func sarifRules(findings []policy.Finding, o Options) []sarifRule {
	rules := []sarifRule{}
	known := make(map[string]bool)
	for _, r := range o.Rules {
		if !known[r.ID] {
			rules = append(rules, sarifRuleOf(r))
		}
		known[r.ID] = true
	}
	var others []sarifRule
	for _, f := range findings {
		if f.Position.File != "" && !known[f.Code] {
			known[f.Code] = true
			others = append(others, sarifRuleOf(Rule{ID: f.Code, Severity: f.Severity, Summary: f.Code}))
		}
	}
	slices.SortFunc(others, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	return append(rules, others...)
}

func sarifRuleOf(r Rule) sarifRule {
	out := sarifRule{
		ID:                   r.ID,
		ShortDescription:     sarifText{Text: cut(Clean(r.Summary), sarifMaxText)},
		FullDescription:      sarifText{Text: cut(Clean(r.Summary), sarifMaxText)},
		Help:                 sarifHelp{Text: r.Summary, Markdown: r.Summary},
		HelpURI:              r.Link,
		DefaultConfiguration: sarifConfiguration{Level: sarifLevel(r.Severity)},
	}
	if r.Help != "" {
		out.Help = sarifHelp{Text: r.Help, Markdown: r.Help}
	}
	if r.Category != "" {
		out.Properties = &sarifTags{Tags: []string{r.Category}}
	}
	return out
}

// cut shortens text to n characters.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

func sarifResultOf(f policy.Finding, rule int, fingerprint string, o Options) sarifResult {
	file := sarifFile(o.file(f.Position.File))
	lines := sourceLines{file: f.Position.File, source: o.Source}
	out := sarifResult{
		RuleID: f.Code, RuleIndex: rule, Level: sarifLevel(f.Severity), Message: sarifText{Text: messageAndHint(f)},
		Locations: []sarifLocation{{PhysicalLocation: sarifPhysical{
			ArtifactLocation: file,
			Region:           lines.region(max(1, f.Position.Line), f.Position.Column, f.EndLine, f.EndColumn),
		}}},
		PartialFingerprints: map[string]string{"injectFinding/v1": fingerprint},
	}
	if name := objectName(f.Resource); name != "" {
		if f.Field != "" {
			name += "#" + f.Field
		}
		out.Locations[0].LogicalLocations = []sarifLogical{{FullyQualifiedName: name}}
	}
	if o.Edits != nil {
		out.Fixes = sarifFixes(f, o.Edits(f), file, lines)
	}
	return out
}

func sarifFixes(f policy.Finding, edits []TextEdit, file sarifArtifact, lines sourceLines) []sarifFix {
	if len(edits) == 0 {
		return nil
	}
	change := sarifChange{ArtifactLocation: file}
	for _, e := range edits {
		change.Replacements = append(change.Replacements, sarifReplacement{
			DeletedRegion:   lines.region(e.StartLine, e.StartColumn, e.EndLine, e.EndColumn),
			InsertedContent: sarifText{Text: e.New},
		})
	}
	summary := "apply the fix"
	if f.Fix != nil && f.Fix.Summary != "" {
		summary = f.Fix.Summary
	}
	return []sarifFix{{Description: sarifText{Text: summary}, ArtifactChanges: []sarifChange{change}}}
}

// sourceLines converts columns of a file from characters to UTF-16 units.
type sourceLines struct {
	file   string
	source func(file string, line int) (string, bool)
}

// region leaves out what is unknown. A region without an end is, by the standard, the rest of the line.
func (s sourceLines) region(line, column, endLine, endColumn int) sarifRegion {
	r := sarifRegion{StartLine: line}
	if column < 1 {
		return r
	}
	r.StartColumn = s.utf16Column(line, column)
	if endLine >= line && endColumn > 0 {
		r.EndLine, r.EndColumn = endLine, s.utf16Column(endLine, endColumn)
	}
	return r
}

// utf16Column is column itself where the line is not known.
func (s sourceLines) utf16Column(line, column int) int {
	if s.source == nil {
		return column
	}
	text, ok := s.source(s.file, line)
	if !ok {
		return column
	}
	out, at := column, 1
	for _, r := range text {
		if at >= column {
			break
		}
		if r > 0xffff {
			out++ // a surrogate pair
		}
		at++
	}
	return out
}

// sarifFile percent-encodes a path. Relative paths are left for the reader to find below its root.
func sarifFile(path string) sarifArtifact {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/!$&'()*+,;=@", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
		}
	}
	if strings.HasPrefix(path, "/") {
		return sarifArtifact{URI: "file://" + b.String()}
	}
	return sarifArtifact{URI: b.String(), URIBaseID: "%SRCROOT%"}
}
