package print

import (
	"io"

	"github.com/kube-inject/inject/policy"
)

type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
	End   int `json:"end,omitempty"`
}

// GitLab writes findings as GitLab's code quality report. A finding about no file has the path ".".
func GitLab(w io.Writer, findings []policy.Finding, o Options) error {
	findings = prepare(findings)
	prints := fingerprints(findings, o)
	issues := make([]gitlabIssue, 0, len(findings))
	for i, f := range findings {
		issue := gitlabIssue{
			Description: messageAndHint(f), CheckName: f.Code, Fingerprint: prints[i], Severity: gitlabSeverity(f.Severity),
			Location: gitlabLocation{Path: ".", Lines: gitlabLines{Begin: max(1, f.Position.Line), End: f.EndLine}},
		}
		if object := objectName(f.Resource); object != "" {
			issue.Description = object + ": " + issue.Description
		}
		if f.Position.File != "" {
			issue.Location.Path = o.file(f.Position.File)
		}
		issues = append(issues, issue)
	}
	return writeJSON(w, issues)
}

func gitlabSeverity(s policy.Severity) string {
	switch s {
	case policy.Error:
		return "critical"
	case policy.Warning:
		return "minor"
	}
	return "info"
}
