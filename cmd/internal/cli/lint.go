package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform"
)

// lintOptions is what lint runs with.
type lintOptions struct {
	inputFlags
	configFlags
	lintRuleFlags
	output, outputFile string
	stdinName          string
	color              string
	quiet              bool
	fix, injected      bool
	revisions          []string
	list               bool
	explain            string

	args []string
}

// lintRuleFlags say which rules are asked and what their findings mean.
type lintRuleFlags struct {
	only, enable, disable []string
	severity              []string
	failOn                string
}

func (r *lintRuleFlags) register(fs *pflag.FlagSet) {
	fs.StringSliceVar(&r.only, "only", nil, "ask these `rules` or categories alone")
	fs.StringSliceVar(&r.enable, "enable", nil, "ask these `rules` too, which are off by default")
	fs.StringSliceVar(&r.disable, "disable", nil, "do not ask these `rules` or categories")
	fs.StringSliceVar(&r.severity, "severity", nil, "`rule=level` gives a rule another severity; a level alone leaves out what is below it")
	fs.StringVar(&r.failOn, "fail-on", "error", "exit 1 from this `level` on: error, warning, info or never")
}

func newLint(p *Process) *cobra.Command {
	o := lintOptions{}
	cmd := &cobra.Command{
		Use:   "lint [-f FILE|DIR|-]... [flags]",
		Short: "Find mistakes about the sidecar in manifests and configuration",
		Long: `Checks manifests together with the configuration that would inject them: annotations that nobody
reads, values that are refused, ports and users of the proxy, lifecycles that lose traffic.
Exit status 0 means that nothing was found at or above --fail-on, 1 that something was, 2 that a
manifest could not be read or the command line is wrong.

A comment "# inject:ignore RULE reason" on a line or the line above it, or the annotation
inject.krm/lint-ignore on a workload, takes findings away. A repository keeps its flags in a file
that an argument @FILE names.`,
		Example: `  inject lint -R -f deploy/

  # for code scanning
  inject lint -R -f deploy/ -o sarif > inject.sarif

  # mend what can be mended safely
  inject lint -f app.yaml --fix

  # what is a rule about
  inject lint --explain grace-below-drain`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context(), p)
		},
	}
	flags := cmd.Flags()
	o.inputFlags.register(flags)
	o.configFlags.register(flags)
	o.lintRuleFlags.register(flags)
	flags.StringVarP(&o.output, "output", "o", "text", "`format` ("+strings.Join(print.Formats(), ", ")+") or file")
	flags.StringVar(&o.outputFile, "output-file", "", "`file` to write the findings to")
	flags.StringVar(&o.stdinName, "stdin-name", "", "`name` that stands for standard input in machine formats")
	flags.StringVar(&o.color, "color", "auto", "colour: auto, always or never")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "no summary line")
	flags.BoolVar(&o.fix, "fix", false, "mend what can be mended safely: files in place, standard input to standard output")
	flags.BoolVar(&o.injected, "injected", false, "the manifests are meant to hold an injected proxy: compare it with the configuration")
	flags.StringSliceVar(&o.revisions, "revisions", nil, "further `revisions` and tags of the mesh, for istio.io/rev")
	flags.BoolVar(&o.list, "rules", false, "list the rules")
	flags.StringVar(&o.explain, "explain", "", "tell the whole story of a `rule`")
	completeRules(cmd)
	return cmd
}

// completeRules lets a shell complete the names of rules and formats.
func completeRules(cmd *cobra.Command) {
	words := func(list func() []string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	names := func() []string {
		var out []string
		for _, r := range lint.Rules() {
			out = append(out, r.ID)
		}
		return out
	}
	for _, flag := range []string{"only", "enable", "disable", "explain"} {
		mustComplete(cmd, flag, words(names))
	}
	mustComplete(cmd, "output", words(print.Formats))
	mustComplete(cmd, "fail-on", words(func() []string { return []string{"error", "warning", "info", "never"} }))
}

func mustComplete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("no flag to complete: " + flag)
	}
}

// run lints, or tells about rules.
func (o *lintOptions) run(ctx context.Context, p *Process) error {
	if o.list || o.explain != "" {
		return o.tell(p)
	}
	plan, err := o.plan()
	if err != nil {
		return err
	}
	inputs, notices, problems := o.resolve(p, o.args, false)
	if len(problems) > 0 {
		return exit(p.fail(append(notices, problems...)))
	}
	o.look(p, inputs)
	defer o.survey.close()
	linter, fs, err := o.linter(p, plan, takesStdin(inputs))
	if err != nil {
		return err
	}
	if linter == nil {
		return exit(p.fail(fs))
	}
	texts, problems := readAll(inputs)
	if len(problems) > 0 {
		return exit(p.fail(problems))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r := lintRun{plan: plan, linter: linter, inputs: inputs, texts: texts, config: append(notices, fs...)}
	if o.fix {
		return o.mend(ctx, p, &r)
	}
	r.linted = linter.Lint(documents(texts))
	return o.report(p, &r, p.Out)
}

// tell lists the rules or explains one.
func (o *lintOptions) tell(p *Process) error {
	if o.explain != "" {
		r, err := lint.Find(lint.Rules(), o.explain)
		if err != nil {
			return usagef("inject lint --rules lists them", "--explain: %v", err)
		}
		_, err = io.WriteString(p.Out, lint.Explain(r))
		return err
	}
	var b bytes.Buffer
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "%-29s %-8s %s\n", r.ID, r.Severity, r.Summary)
	}
	_, err := p.Out.Write(b.Bytes())
	return err
}

// lintPlan is the flags made sense of.
type lintPlan struct {
	rules  []lint.Rule
	format string
	target string
	write  print.Writer
	// shown is the lowest severity that is printed, failing the lowest that makes the exit status 1.
	shown, failing policy.Severity
}

// neverFails is above all severities.
const neverFails = policy.Error + 1

func (o *lintOptions) plan() (*lintPlan, error) {
	s := lint.Settings{Only: o.only, Enable: o.enable, Disable: o.disable, Severity: map[string]policy.Severity{}}
	plan := &lintPlan{}
	for _, text := range o.severity {
		rule, word, named := strings.Cut(text, "=")
		if !named {
			word = text
		}
		level, ok := severityOf(word)
		switch {
		case !ok:
			return nil, usagef("use error, warning or info", "--severity %s: no such level", text)
		case named:
			s.Severity[rule] = level
		default:
			plan.shown = level
		}
	}
	switch level, ok := severityOf(o.failOn); {
	case ok:
		plan.failing = level
	case o.failOn == "never":
		plan.failing = neverFails
	default:
		return nil, usagef("use error, warning, info or never", "--fail-on %s: no such level", o.failOn)
	}
	rules, err := lint.Select(lint.Rules(), s)
	if err != nil {
		return nil, usagef("inject lint --rules lists them", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	plan.rules = rules
	if _, err := print.ParseColor(o.color); err != nil {
		return nil, usagef("use --color auto, always or never", "--color %s: no such mode", o.color)
	}
	return plan, plan.to(o.output, o.outputFile)
}

// to settles format and target: a word that is no format is a file, whose ending says the format.
func (l *lintPlan) to(output, file string) error {
	l.format, l.target = output, file
	if !slices.Contains(print.Formats(), output) {
		if !strings.ContainsAny(output, "./") {
			return usagef("use one of "+strings.Join(print.Formats(), ", ")+", or a file: ./"+output, "-o %s is no format", output)
		}
		if file != "" {
			return usagef("give one of them", "--output and --output-file both name a file")
		}
		l.format, l.target = formatOf(output), output
	}
	write, ok := print.FindingWriter(l.format)
	if !ok {
		return usagef("", "-o %s is no format", l.format)
	}
	l.write = write
	return nil
}

func formatOf(name string) string {
	switch filepath.Ext(name) {
	case ".sarif":
		return "sarif"
	case ".json":
		return "json"
	case ".md":
		return "markdown"
	case ".xml":
		return "junit"
	}
	return "text"
}

func severityOf(word string) (policy.Severity, bool) {
	for _, s := range []policy.Severity{policy.Info, policy.Warning, policy.Error} {
		if s.String() == word {
			return s, true
		}
	}
	return policy.Info, false
}

// linter loads the configuration; without a linter the findings say why there is none.
func (o *lintOptions) linter(p *Process, plan *lintPlan, stdinTaken bool) (*transform.Linter, []policy.Finding, error) {
	s, fs := o.setup()
	b, more := o.bundle(p, stdinTaken)
	fs = append(fs, more...)
	if b == nil || policy.HasErrors(fs) {
		return nil, fs, nil
	}
	c, more := transform.Compile(b, s)
	fs = append(fs, more...)
	if c == nil || policy.HasErrors(fs) {
		return nil, fs, nil
	}
	l := transform.NewLinter(b, c, transform.LintOptions{
		Rules: plan.rules, KubeVersion: o.kubeVersion, Revisions: o.revisions, Output: o.injected,
	})
	return l, l.ConfigFindings(fs), nil
}
