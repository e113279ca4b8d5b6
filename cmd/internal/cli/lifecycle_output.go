package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// lifecyclePlan is the flags made sense of.
type lifecyclePlan struct {
	options  lifecycle.Options
	variants []string
	format   string
	target   string
	details  bool
	// limit is --at-most, limited whether it was given.
	limit   policy.Severity
	limited bool
}

// lifecycleFormats are the words that -o takes: pictures and reports of its own, and verdicts as lint prints findings.
func lifecycleFormats() []string {
	return []string{"text", "json", "markdown", "svg", "sarif", "github", "gitlab", "junit"}
}

func (o *lifecycleFlags) plan() (*lifecyclePlan, error) {
	plan := &lifecyclePlan{options: o.options, variants: o.compare, details: o.details}
	for i, v := range o.compare {
		if !slices.Contains(lifecycle.Variants(), v) {
			return nil, usagef("variants are "+strings.Join(lifecycle.Variants(), ", "), "--compare %s: no such variant", v)
		}
		if slices.Contains(o.compare[:i], v) {
			return nil, usagef("name each variant once", "--compare %s: %s is there twice", strings.Join(o.compare, ","), v)
		}
	}
	if o.atMost != "" {
		if plan.limit, plan.limited = severityOf(o.atMost); !plan.limited {
			return nil, usagef("use info, warning or error", "--at-most %s: no such severity", o.atMost)
		}
	}
	return plan, plan.to(o.output, o.outputFile)
}

// to settles format and target: a word that is no format is a file, whose ending says the format.
func (l *lifecyclePlan) to(output, file string) error {
	l.format, l.target = output, file
	switch {
	case slices.Contains(lifecycleFormats(), output):
	case output == "-":
		l.format = "text"
	case !strings.ContainsAny(output, "./"):
		return usagef("use one of "+strings.Join(lifecycleFormats(), ", ")+", or a file: ./"+output, "-o %s is no format", output)
	case file != "":
		return usagef("give one of them", "--output and --output-file both name a file")
	default:
		l.format, l.target = lifecycleFormatOf(output), output
	}
	return nil
}

// lifecycleFormatOf reads the ending of a file's name.
func lifecycleFormatOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return "json"
	case ".md", ".markdown":
		return "markdown"
	case ".svg":
		return "svg"
	case ".sarif":
		return "sarif"
	case ".xml":
		return "junit"
	}
	return "text"
}

// print writes the results to where they belong; findings say why a file could not be written.
func (l *lifecyclePlan) print(ctx context.Context, p *Process, played *play, style print.Style) ([]policy.Finding, error) {
	if l.target == "" {
		return nil, l.write(p.Out, played, style)
	}
	var b bytes.Buffer
	if err := l.write(&b, played, print.Style{}); err != nil {
		return nil, err
	}
	result, fs := files.Replace(ctx, files.System{}, []files.Replacement{{
		Name: slashed(l.target), Path: l.target, Content: files.Bytes(b.Bytes()),
	}})
	return append(fs, result.Notices...), nil
}

func (l *lifecyclePlan) write(w io.Writer, played *play, style print.Style) error {
	switch l.format {
	case "text":
		return print.LifecycleText(w, played.results, style)
	case "json":
		// without its name a variant could not be told from the next
		return print.LifecycleJSON(w, played.results, print.LifecycleJSONOptions{Details: l.details || played.compared})
	case "markdown":
		return print.LifecycleMarkdown(w, played.results)
	case "svg":
		return print.LifecycleSVG(w, played.results)
	}
	write, _ := print.FindingWriter(l.format)
	o := print.Options{Tool: tool(), Rules: lifecycleRules(), MaxErrors: -1, Style: style}
	for _, pod := range played.pods {
		o.Checked = append(o.Checked, print.Checked{File: pod.Base.Position.File, Resource: pod.Base.Resource})
	}
	return write(w, played.findings(), o)
}

// lifecycleRules describes the verdicts to formats that list the rules behind their findings.
func lifecycleRules() []print.Rule {
	var out []print.Rule
	for _, r := range lifecycle.Ranks() {
		if r.Severity > policy.Info {
			out = append(out, print.Rule{ID: string(r.ID), Category: "lifecycle", Severity: r.Severity, Summary: r.Help})
		}
	}
	return out
}
