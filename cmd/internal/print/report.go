package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/kube-inject/inject/policy"
)

// APIVersion and ReportKind head every report. Within one version changes only add fields.
const (
	APIVersion = "inject.krm/v1alpha1"
	ReportKind = "Report"
)

// Action says what became of a workload.
type Action string

// The four actions.
const (
	// Injected: the template has a sidecar that it had not before, or another one.
	Injected Action = "injected"
	// Skipped: a rule decided against injection.
	Skipped Action = "skipped"
	// Unchanged: injection was decided and the template held its result already.
	Unchanged Action = "unchanged"
	// Failed: there are errors about it among the findings.
	Failed Action = "error"
)

// Written says how an edited document came about.
type Written string

// The two ways.
const (
	// Spliced: only the lines that had to change did.
	Spliced Written = "spliced"
	// Reencoded: splicing failed its check, and the document was printed anew.
	Reencoded Written = "reencoded"
)

// Report is what a run found and did.
type Report struct {
	Tool Tool
	// Workloads has one entry per pod template, in input order. Nil leaves the field out of the JSON form, as lint
	// does; empty is an empty list there.
	Workloads []Workload
	Findings  []policy.Finding
	// Documents is the number of documents read; the other sums are counted.
	Documents int
	// Configuration is what the run injected with; nil where there is none to speak of.
	Configuration *Configuration
}

// Configuration is what a run injects with, and where each choice comes from.
type Configuration struct {
	Profile string `json:"profile"`
	// Engine is modern or legacy.
	Engine             string `json:"engine"`
	IstioVersion       string `json:"istioVersion"`
	IstioVersionFrom   string `json:"istioVersionFrom"`
	NativeSidecars     bool   `json:"nativeSidecars"`
	NativeSidecarsFrom string `json:"nativeSidecarsFrom"`
	// Taken has a line for each of the three parts: what it is, and the file and object it is from.
	Taken []string `json:"taken"`
}

// text writes the lines that the verbose report begins with.
func (c *Configuration) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "engine: %s, Istio %s: %s\n", c.Engine, Clean(c.IstioVersion), Clean(c.IstioVersionFrom))
	for _, line := range c.Taken {
		b.WriteString("taken from: " + Clean(line) + "\n")
	}
}

// clean gives the configuration with harmless text.
func (c *Configuration) clean() *Configuration {
	if c == nil {
		return nil
	}
	out := *c
	out.Taken = make([]string, len(c.Taken))
	for i, line := range c.Taken {
		out.Taken[i] = Clean(line)
	}
	for _, text := range []*string{&out.Profile, &out.IstioVersion, &out.IstioVersionFrom, &out.NativeSidecarsFrom} {
		*text = Clean(*text)
	}
	return &out
}

// Workload is one pod template and what became of it.
type Workload struct {
	File string `json:"file"`
	// Line is the first line of the object, from 1.
	Line int `json:"line"`
	// Document counts from 1 within the file.
	Document   int    `json:"document"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	// Name is the object's name; an object that has only a generateName is called by that and a "*".
	Name string `json:"name"`
	// Template is the path to the pod template from the document's root, such as spec.template or
	// items[1].spec.template; empty for a Pod.
	Template string `json:"template"`
	Action   Action `json:"action"`
	// Rule is the rule that decided, Field what it looked at.
	Rule  string `json:"rule"`
	Field string `json:"field"`
	// Templates are the names of the injection templates that were rendered, Engine the rules they were applied by.
	Templates []string `json:"templates"`
	Engine    string   `json:"engine"`
	// Written is empty where nothing was.
	Written Written `json:"written,omitempty"`
	// Reason says in words why the action was taken, or why the document was re-encoded.
	Reason string `json:"reason,omitempty"`

	// Asked says that somebody asked for injection by name: text then has a line about it when there was none.
	Asked bool `json:"-"`
}

// Summary is the sums of a report.
type Summary struct {
	Documents int `json:"documents"`
	Workloads int `json:"workloads"`
	Injected  int `json:"injected"`
	Skipped   int `json:"skipped"`
	Errors    int `json:"errors"`
	Warnings  int `json:"warnings"`
	Infos     int `json:"infos"`
}

// Summary counts what the report holds.
func (r Report) Summary() Summary {
	s := Summary{Documents: r.Documents, Workloads: len(r.Workloads)}
	for _, w := range r.Workloads {
		switch w.Action {
		case Injected:
			s.Injected++
		case Skipped:
			s.Skipped++
		}
	}
	s.Errors, s.Warnings, s.Infos = countSeverities(r.Findings)
	return s
}

func countSeverities(findings []policy.Finding) (errors, warnings, infos int) {
	for _, f := range findings {
		switch f.Severity {
		case policy.Error:
			errors++
		case policy.Warning:
			warnings++
		default:
			infos++
		}
	}
	return errors, warnings, infos
}

// ReportText writes a report for people: the findings, a line for each workload that deserves one, and the summary
// line, which the command words itself (empty: none). A workload deserves a line when injection was asked for and did
// not happen, and always with verbose; one that failed or was re-encoded has its findings.
func ReportText(w io.Writer, r Report, summary string, verbose bool, o Options) error {
	var b bytes.Buffer
	if err := Findings(&b, r.Findings, o); err != nil {
		return err
	}
	if verbose && r.Configuration != nil {
		r.Configuration.text(&b)
	}
	for _, workload := range r.Workloads {
		if verbose || workload.notable() {
			textWorkload(&b, workload, o.Style)
		}
	}
	if summary != "" {
		b.WriteString(Clean(summary) + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// notable tells whether a workload has a line without verbose.
func (w Workload) notable() bool {
	return w.Asked && w.Action == Skipped
}

// textWorkload writes FILE:LINE: action: doc N, v1 Kind ns/name, template: reason [rule].
func textWorkload(b *bytes.Buffer, w Workload, s Style) {
	f := cleanFinding(policy.Finding{
		Position: policy.Position{File: w.File, Line: w.Line}, Document: w.Document,
		Resource: policy.Resource{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name},
		Field:    w.Template, Message: w.reason(), Code: w.Rule,
	})
	place := Clean(f.Position.String())
	f.Position = policy.Position{}
	line := f.Error()[len(f.Severity.String()):]
	b.WriteString(s.Bold(place) + ": " + w.Action.style(s) + line + "\n")
}

func (w Workload) reason() string {
	switch {
	case w.Written == Reencoded && w.Reason != "":
		return "document re-encoded: " + w.Reason
	case w.Reason != "":
		return w.Reason
	case w.Action == Injected:
		return "sidecar added"
	case w.Action == Unchanged:
		return "injected already"
	case w.Action == Skipped:
		return "not injected"
	}
	return "see the errors"
}

func (a Action) style(s Style) string {
	switch a {
	case Injected:
		return s.Green(string(a))
	case Skipped:
		return s.Yellow(string(a))
	case Failed:
		return s.Red(string(a))
	}
	return string(a)
}

// jsonReport is the JSON form of a report; docs/report.md describes it.
type jsonReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Tool       Tool   `json:"tool"`
	// Configuration is left out where the command has none.
	Configuration *Configuration `json:"configuration,omitempty"`
	Workloads     []Workload     `json:"workloads,omitzero"`
	Findings      []jsonFinding  `json:"findings"`
	Summary       Summary        `json:"summary"`
}

// ReportJSON writes a report as one JSON object.
func ReportJSON(w io.Writer, r Report, o Options) error {
	findings := prepare(r.Findings)
	r.Findings = findings
	out := jsonReport{
		APIVersion: APIVersion, Kind: ReportKind, Tool: r.Tool, Configuration: r.Configuration.clean(), Workloads: slices.Clone(r.Workloads),
		Findings: make([]jsonFinding, len(findings)), Summary: r.Summary(),
	}
	for i, workload := range out.Workloads {
		out.Workloads[i] = workload.clean(o)
	}
	for i, f := range findings {
		out.Findings[i] = toJSON(f, o)
	}
	return writeJSON(w, out)
}

// clean gives the workload with harmless text, and the list that is always there.
func (w Workload) clean(o Options) Workload {
	w.File = o.file(w.File)
	for _, text := range []*string{&w.APIVersion, &w.Kind, &w.Namespace, &w.Name, &w.Template, &w.Rule, &w.Field, &w.Engine, &w.Reason} {
		*text = Clean(*text)
	}
	templates := make([]string, len(w.Templates))
	for i, name := range w.Templates {
		templates[i] = Clean(name)
	}
	w.Templates = templates
	return w
}

// JSON writes findings as a report without workloads.
func JSON(w io.Writer, findings []policy.Finding, o Options) error {
	return ReportJSON(w, Report{Tool: o.Tool, Findings: findings}, o)
}

// writeJSON writes an indented value; <, > and & stay readable.
func writeJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
