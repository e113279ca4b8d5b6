package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
)

// reportFlags say what is told on stderr.
type reportFlags struct {
	quiet, verbose bool
	format         string
	file           string
	color          string
	// all shows warnings beside errors too: for commands whose result is the findings.
	all bool
}

func (r *reportFlags) register(fs *pflag.FlagSet) {
	fs.BoolVarP(&r.quiet, "quiet", "q", false, "say nothing but errors")
	fs.BoolVarP(&r.verbose, "verbose", "v", false, "a line for every pod template")
	fs.StringVar(&r.format, "report", "text", "form of the report on stderr: text or json")
	fs.StringVar(&r.file, "report-file", "", "write the report to a `file` instead of stderr")
	fs.StringVar(&r.color, "color", "auto", "colour: auto, always or never")
}

func (r *reportFlags) checkUsage() error {
	if r.format != "text" && r.format != "json" {
		return usagef("use --report text or --report json", "--report %s: no such form", r.format)
	}
	if _, err := print.ParseColor(r.color); err != nil {
		return usagef("use --color auto, always or never", "--color %s: no such mode", r.color)
	}
	return nil
}

// styleFor decides about colour for a stream.
func (p *Process) styleFor(mode string, terminal bool) print.Style {
	m, err := print.ParseColor(mode)
	if err != nil {
		m = print.ColorAuto
	}
	return m.Style(print.Terminal{IsTerminal: terminal, NoColor: p.Getenv("NO_COLOR"), Term: p.Getenv("TERM")})
}

// tally gathers what a run has to tell while it goes. Workloads are kept only where the report will list them.
type tally struct {
	keepAll                                int
	report                                 print.Report
	workloads, injected, unchanged, passed int
	errors                                 int
	// met counts, for each mistake of the configuration, the pods that met it; the finding is kept once, with the first.
	met map[string]*metBy
}

// metBy is a finding of the configuration, by its index in the report, and how many pods more met it.
type metBy struct{ index, more int }

// newTally keeps every workload where all of them will be listed.
func newTally(r reportFlags) *tally {
	t := &tally{report: print.Report{Tool: tool(), Workloads: []print.Workload{}}}
	if r.verbose || r.format == "json" {
		t.keepAll = 1
	}
	return t
}

func tool() print.Tool { return print.Tool{Name: "inject", Version: Version(), Link: homePage} }

const homePage = "https://github.com/kube-inject/inject"

func (t *tally) findings(fs []policy.Finding) {
	for _, f := range fs {
		if what, _, ok := strings.Cut(f.Message, transform.MetWhile); ok {
			key := f.Position.String() + f.Code + what
			if by := t.met[key]; by != nil {
				by.more++
				continue
			}
			if t.met == nil {
				t.met = map[string]*metBy{}
			}
			t.met[key] = &metBy{index: len(t.report.Findings)}
		}
		if f.Severity == policy.Error {
			t.errors++
		}
		t.report.Findings = append(t.report.Findings, f)
	}
}

// settle says behind each mistake of the configuration how many pods more met it.
func (t *tally) settle() {
	for _, by := range t.met {
		if f := &t.report.Findings[by.index]; by.more > 0 {
			f.Message += fmt.Sprintf(" and %d more", by.more)
		}
	}
	t.met = nil
}

// add takes the results of a batch.
func (t *tally) add(b transform.Batch) {
	t.report.Documents += b.Documents
	for i := range b.Results {
		t.findings(b.Results[i].Findings)
		for _, w := range b.Results[i].Workloads {
			t.workload(w)
		}
		if t.keepAll == 1 {
			for _, w := range b.Results[i].Foreign {
				t.report.Workloads = append(t.report.Workloads, printed(w, false))
			}
		}
	}
}

func (t *tally) workload(w transform.Workload) {
	t.workloads++
	switch w.Action {
	case transform.Injected:
		t.injected++
	case transform.Unchanged:
		t.unchanged++
	case transform.Skipped:
		t.passed++
	}
	asked := w.Action == transform.Skipped && w.Decision.Asked
	if t.keepAll == 1 || asked || w.Reencoded {
		t.report.Workloads = append(t.report.Workloads, printed(w, asked))
	}
}

// printed is a workload as reports list it.
func printed(w transform.Workload, asked bool) print.Workload {
	name := w.Resource.Name
	if name == "" && w.Resource.GenerateName != "" {
		name = w.Resource.GenerateName + "*"
	}
	template := w.Template
	if w.Resource.Item != "" {
		template = strings.TrimSuffix(w.Resource.Item+"."+template, ".")
	}
	out := print.Workload{
		File: w.File, Line: w.Line, Document: w.Document, APIVersion: w.Resource.APIVersion, Kind: w.Resource.Kind,
		Namespace: w.Resource.Namespace, Name: name, Template: template, Action: action(w.Action),
		Rule: w.Decision.Rule, Field: w.Decision.Field, Engine: w.Engine, Asked: asked, Templates: []string{},
	}
	if w.Trace != nil && w.Trace.Templates != nil {
		out.Templates = w.Trace.Templates
	}
	switch {
	case w.Reencoded:
		out.Written, out.Reason = print.Reencoded, w.Reason
	case w.Action == transform.Injected:
		out.Written = print.Spliced
		out.Reason = cmp.Or(w.Reason, describe(w))
	case w.Action == transform.Skipped:
		out.Reason = cmp.Or(w.Reason, w.Decision.Reason())
		if w.Trace != nil && w.Trace.Skipped != "" {
			out.Reason = w.Trace.Skipped
		}
	}
	return out
}

func action(a transform.Action) print.Action {
	return map[transform.Action]print.Action{
		transform.Injected: print.Injected, transform.Skipped: print.Skipped,
		transform.Unchanged: print.Unchanged, transform.Failed: print.Failed,
	}[a]
}

// describe says in a few words what was put in.
func describe(w transform.Workload) string {
	if w.Trace == nil {
		return ""
	}
	var names []string
	names = append(names, w.Trace.Injected.InitContainers...)
	names = append(names, w.Trace.Injected.Containers...)
	text := "added " + strings.Join(names, ", ")
	if len(names) == 0 {
		text = "templates applied"
	}
	native := slices.Contains(w.Trace.Injected.InitContainers, policy.ContainerProxy)
	if native {
		text += " (native sidecar)"
	}
	if w.Trace.Hold && !native {
		text += "; the application waits for the proxy"
	}
	return text
}

// finish prints the report. Summary is the one line that stands at its end.
func (r *reportFlags) finish(p *Process, t *tally, summary string) error {
	t.settle()
	w := p.Err
	style := p.style(r.color)
	if r.file != "" {
		f, err := os.Create(r.file)
		if err != nil {
			return usagef("", "--report-file %s: %s", r.file, reason(err))
		}
		err = r.write(f, t, summary, print.Style{}, p)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return usagef("", "--report-file %s: %s", r.file, reason(err))
		}
		w = io.Discard
	}
	return r.write(w, t, summary, style, p)
}

func (r *reportFlags) write(w io.Writer, t *tally, summary string, style print.Style, _ *Process) error {
	o := print.Options{Tool: tool(), Style: style}
	if r.format == "json" {
		return print.ReportJSON(w, t.report, o)
	}
	if r.quiet {
		return print.Findings(w, policy.Errors(t.report.Findings), o)
	}
	if errs := policy.Errors(t.report.Findings); len(errs) > 0 && !r.verbose && !r.all {
		// Nothing was written, so what is worth reading is what went wrong.
		if err := print.Findings(w, errs, o); err != nil {
			return err
		}
		return leftOut(w, len(t.report.Findings)-len(errs))
	}
	return print.ReportText(w, t.report, summary, r.verbose, o)
}

// leftOut says how many warnings and notices stand behind the errors.
func leftOut(w io.Writer, n int) error {
	text := fmt.Sprintf("%d warnings and notices are left out; -v shows them\n", n)
	switch n {
	case 0:
		return nil
	case 1:
		text = "a warning or notice is left out; -v shows it\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// summary is the one line of a run: which configuration, which engine, native or not and why, and how much was done.
func summary(c *transform.Compiled, t *tally) string {
	kind := "classic sidecars"
	if c.Native {
		kind = "native sidecars"
	}
	text := fmt.Sprintf("inject: %s, %s, %s (%s): %d injected", c.Profile, c.EngineName, kind, c.NativeReason, t.injected)
	if t.unchanged > 0 {
		text += fmt.Sprintf(", %d up to date", t.unchanged)
	}
	text += fmt.Sprintf(", %d passed", t.passed)
	if t.workloads == 0 {
		text += "; no workload in the input"
	}
	return text
}

// strictly makes errors of what --strict does not forgive.
func (t *tally) strictly(c *transform.Compiled) {
	t.strictWarnings()
	for _, w := range t.report.Workloads {
		if w.Asked && w.Action == print.Skipped {
			t.findings([]policy.Finding{{
				Code: "E_STRICT", Severity: policy.Error, Position: policy.Position{File: w.File, Line: w.Line}, Document: w.Document,
				Resource: policy.Resource{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name},
				Message:  "injection was asked for and did not happen: " + w.Reason,
				Hint:     "remove what forbids it, or the label that asks for it",
			}})
		}
	}
	if c.Profile == embeddedProfile {
		t.findings(problem(files.CodeUsage, "--strict needs a configuration: the embedded profile is nobody's mesh",
			"give --profile, --config-from or the three files"))
	}
}

// strictWarnings makes errors of warnings.
func (t *tally) strictWarnings() {
	for i := range t.report.Findings {
		if t.report.Findings[i].Severity == policy.Warning {
			t.report.Findings[i].Severity = policy.Error
			t.errors++
		}
	}
}

// configuration keeps for the report what a run injects with, and why.
func (t *tally) configuration(c *transform.Compiled) {
	engine := "modern"
	if c.Legacy {
		engine = "legacy"
	}
	t.report.Configuration = &print.Configuration{
		Profile: c.Profile, Engine: engine, IstioVersion: c.Version, IstioVersionFrom: c.VersionReason,
		NativeSidecars: c.Native, NativeSidecarsFrom: c.NativeReason, Taken: c.Taken,
	}
}

const embeddedProfile = "embedded profile"
