package print

import (
	"io"

	"github.com/kube-inject/inject/policy"
)

// Tool names the program in machine formats.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Link is the program's home page; SARIF only.
	Link string `json:"-"`
}

// Rule describes a rule whose findings may be printed.
type Rule struct {
	ID       string
	Category string
	Severity policy.Severity
	// Summary is one sentence, Help some more of them in Markdown, Link the rule's page; the last two may be empty.
	Summary string
	Help    string
	Link    string
}

// TextEdit replaces a range of a file. Lines and columns count from 1, columns in characters; the end is the first
// place behind the range.
type TextEdit struct {
	StartLine, StartColumn int
	EndLine, EndColumn     int
	New                    string
}

// Checked names an object that was looked at, so that a format of passed and failed tests can list those that passed.
type Checked struct {
	File     string
	Resource policy.Resource
}

// Options is what the writers of findings need besides the findings. The zero value works for each of them.
type Options struct {
	Tool Tool
	// Rules are the rules that were asked, in the order in which they shall be listed.
	Rules []Rule
	// StdinName stands for standard input in formats whose readers expect a file; empty means stdin.yaml.
	StdinName string
	// Style colours text.
	Style Style
	// MaxErrors is how many errors text shows before it only counts; zero means 20, less than zero all.
	MaxErrors int
	// Source gives a line of an input without its line end. Text shows it, and SARIF counts columns with it.
	// Nil, or false for a line, leaves that out. It is not asked for lines that could hold a secret.
	Source func(file string, line int) (string, bool)
	// Edits gives the fix of a finding as edits of the finding's file; nil or no edits leave fixes out.
	Edits func(policy.Finding) []TextEdit
	// Checked lists the objects that were looked at; only JUnit has a place for it.
	Checked []Checked
}

// Writer writes findings in one format. It sorts them and makes their text harmless itself.
type Writer func(w io.Writer, findings []policy.Finding, o Options) error

// Formats gives the names of the finding formats, in the order of a help text.
func Formats() []string {
	return []string{"text", "json", "sarif", "github", "gitlab", "junit", "markdown"}
}

// FindingWriter gives the writer of a format, and false for a name that is not one of Formats.
func FindingWriter(format string) (Writer, bool) {
	switch format {
	case "text":
		return Findings, true
	case "json":
		return JSON, true
	case "sarif":
		return SARIF, true
	case "github":
		return GitHub, true
	case "gitlab":
		return GitLab, true
	case "junit":
		return JUnit, true
	case "markdown":
		return Markdown, true
	}
	return nil, false
}

// file is a finding's file in formats that want a path: standard input gets a name.
func (o Options) file(name string) string {
	switch {
	case name != "-" && name != "<stdin>":
		return Clean(name)
	case o.StdinName != "":
		return Clean(o.StdinName)
	}
	return "stdin.yaml"
}

// objectName is Kind/namespace/name without what is missing; a generateName ends in "*", a list item in its path.
func objectName(r policy.Resource) string {
	name := r.Name
	if name == "" && r.GenerateName != "" {
		name = r.GenerateName + "*"
	}
	out := ""
	for _, part := range []string{r.Kind, r.Namespace, name, r.Item} {
		if part == "" {
			continue
		}
		if out != "" {
			out += "/"
		}
		out += part
	}
	return out
}
