package print

import (
	"fmt"
	"io"
	"strings"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
)

// ExplainOptions say how much of an explanation is printed.
type ExplainOptions struct {
	// All prints the steps that were not reached, too; Bootstrap the preview of Envoy's bootstrap; Changes every field.
	All, Bootstrap, Changes bool
	Style                   Style
}

// The widths of the columns: steps, names of values, values.
const (
	stepColumn  = 17
	valueColumn = 36
	sawColumn   = 30
)

// Explained is the head line of a pod template: what it is, where it stands and what became of it.
func Explained(w transform.Workload) string {
	name := resourceName(w)
	if w.Template != "" {
		name += ", " + w.Template
	}
	return fmt.Sprintf("%s (%s:%d)", name, w.File, w.Line)
}

func resourceName(w transform.Workload) string {
	r := w.Resource
	r.APIVersion = ""
	return r.String()
}

// Answer is the verdict in one line: yes or no, the rule and the place of what it saw.
func Answer(w transform.Workload) string {
	d := w.Decision
	verdict := "no"
	if d.Inject {
		verdict = "yes"
	}
	if w.Action == transform.Failed {
		verdict = "error"
	}
	rule, at := d.Rule, ""
	if w.Explanation != nil {
		for _, s := range w.Explanation.Trail {
			if s.ID == rule || w.Action == transform.Failed && s.Result == transform.StepStop {
				at = place(s.Source)
				rule = s.ID
			}
		}
	}
	return verdict + ": " + rule + at
}

// place prints file:line in parentheses with a blank before it; nothing where it is unknown.
func place(p policy.Position) string {
	p.Column = 0
	if s := p.String(); s != "" {
		return " (" + s + ")"
	}
	return ""
}

// Explain prints the explanation of one pod template for people.
func Explain(out io.Writer, w transform.Workload, o ExplainOptions) error {
	p := explainPrinter{w: out, o: o}
	p.bold(Explained(w))
	p.line("  %s", Answer(w)+reasonOf(w))
	if w.Explanation == nil {
		return p.err
	}
	x := w.Explanation
	p.title("Decision")
	for _, s := range x.Trail {
		p.step(s)
	}
	p.shutdown(x.Shutdown)
	p.values(x.Values)
	p.bootstrap(x.Bootstrap)
	p.changes(x.Changes)
	p.checks(x.Checks)
	return p.err
}

func reasonOf(w transform.Workload) string {
	if w.Action == transform.Skipped && w.Trace != nil && w.Trace.Skipped != "" {
		return ": " + w.Trace.Skipped
	}
	if w.Decision.Rule == transform.StepKind || w.Action == transform.Failed {
		return stopNote(w.Explanation)
	}
	return ": " + w.Decision.Reason()
}

// stopNote is what the step that ended the injection says.
func stopNote(x *transform.Explanation) string {
	if x == nil {
		return ""
	}
	for _, s := range x.Trail {
		if s.Result == transform.StepStop && s.Note != "" {
			return ": " + s.Note
		}
	}
	return ""
}

type explainPrinter struct {
	w   io.Writer
	o   ExplainOptions
	err error
}

func (p *explainPrinter) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(Clean(fmt.Sprintf(format, args...)), " "))
	}
}

func (p *explainPrinter) title(text string) {
	p.line("")
	p.bold(text)
}

func (p *explainPrinter) bold(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, p.o.Style.Bold(Clean(text)))
	}
}

func (p *explainPrinter) step(s transform.Step) {
	if s.Result == transform.StepNotReached && !p.o.All {
		return
	}
	text := fmt.Sprintf("  %-*s %-11s", stepColumn, s.ID, s.Result)
	var more []string
	if s.Saw != "" {
		field := s.Field
		if i := strings.LastIndex(field, "["); i >= 0 && strings.HasSuffix(field, "]") && i < len(field)-4 {
			field = field[i+1 : len(field)-1]
		}
		if field != "" && field != "kind" {
			more = append(more, field+"="+s.Saw)
		} else {
			more = append(more, s.Saw)
		}
	}
	if s.Note != "" {
		more = append(more, s.Note)
	}
	p.line("%s %s%s", text, strings.Join(more, "; "), place(s.Source))
}

func (p *explainPrinter) shutdown(s *transform.Shutdown) {
	if s == nil {
		return
	}
	p.title("Shutdown")
	for _, v := range s.Durations {
		mark := " "
		if v.Name == s.Wins {
			mark = "*"
		}
		p.value(mark, v)
	}
	p.line("  %s wins: %s", s.Wins, s.Why)
}

func (p *explainPrinter) values(vs []transform.Value) {
	if len(vs) == 0 {
		return
	}
	p.title("Values")
	for _, v := range vs {
		p.value(" ", v)
	}
}

func (p *explainPrinter) value(mark string, v transform.Value) {
	note := ""
	if v.Note != "" {
		note = "; " + v.Note
	}
	p.line("%s %-*s %-*s %s%s%s", mark, valueColumn, v.Name, sawColumn, orNone(v.Value), v.Layer, place(v.Source), note)
	for _, l := range v.Overridden {
		p.line("    %-*s %-*s %s%s", valueColumn-2, "  over", sawColumn, orNone(l.Value), l.Layer, place(l.Source))
	}
	if v.Runtime != nil {
		p.line("    %-*s %-*s %s%s", valueColumn-2, "  at run time", sawColumn, orNone(v.Runtime.Value), v.Runtime.Layer, place(v.Runtime.Source))
	}
	for _, r := range v.Rules {
		p.line("    ! %s", r)
	}
}

// orNone makes an empty value visible.
func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Join(strings.Fields(s), " ")
}

func (p *explainPrinter) bootstrap(b *transform.Bootstrap) {
	if b == nil || !p.o.Bootstrap {
		return
	}
	p.title("Bootstrap")
	for _, s := range b.Settings {
		p.line("  %-*s %s", valueColumn-8, s.Name, s.Value)
		for _, i := range s.Items {
			p.line("    %s", i)
		}
	}
}

// changes prints how many fields each step changed, or all of them.
func (p *explainPrinter) changes(cs []transform.FieldChange) {
	if len(cs) == 0 {
		return
	}
	p.title("Changes")
	if p.o.Changes {
		for _, c := range cs {
			p.line("  %s", changeLine(c))
		}
		return
	}
	var order []string
	counts := map[string]int{}
	for _, c := range cs {
		step := stepName(c)
		if counts[step] == 0 {
			order = append(order, step)
		}
		counts[step]++
	}
	for _, step := range order {
		p.line("  %-*s %d fields", valueColumn, step, counts[step])
	}
}

func stepName(c transform.FieldChange) string {
	if c.Template != "" {
		return c.Step + " " + c.Template
	}
	return c.Step
}

func changeLine(c transform.FieldChange) string {
	is := "removed"
	if c.Is != "" {
		is = "= " + orNone(c.Is)
	}
	was := ""
	if c.Was != "" && c.Is != "" {
		was = ", was " + orNone(c.Was)
	}
	return fmt.Sprintf("%s %s%s; step %s%s", c.Path, is, was, stepName(c), place(c.Source))
}

func (p *explainPrinter) checks(fs []policy.Finding) {
	if len(fs) == 0 {
		return
	}
	p.title("Checks")
	for _, f := range fs {
		p.line("  ! %s: %s%s", f.Code, f.Message, place(f.Position))
	}
}
