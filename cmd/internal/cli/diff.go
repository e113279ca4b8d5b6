package cli

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/transform"
)

// diffOptions is what diff runs with.
type diffOptions struct {
	inputFlags
	configFlags
	reportFlags
	context int

	args []string
}

func newDiff(p *Process) *cobra.Command {
	o := diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff [-f FILE|DIR|-]... [flags]",
		Short: "Show what inject would change; exit 1 if anything",
		Long: `Prints a unified difference for each file that inject would change, as git apply takes it.
Exit status 0 means that nothing would change, 1 that something would, 2 that it could not be told.`,
		Example: `  inject diff -R -f deploy/

  # as a gate behind another tool
  kustomize build . | inject diff -f -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context(), p)
		},
	}
	flags := cmd.Flags()
	o.inputFlags.register(flags)
	o.configFlags.register(flags)
	o.reportFlags.register(flags)
	flags.IntVarP(&o.context, "unified", "U", print.DefaultContext, "`number` of unchanged lines around a change")
	return cmd
}

func (o *diffOptions) run(ctx context.Context, p *Process) error {
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	if o.context < 0 {
		return usagef("give a number of lines", "--unified %d: less than none", o.context)
	}
	t := newTally(o.reportFlags)
	inputs, notices, problems := o.resolve(p, o.args, false)
	t.findings(notices)
	t.findings(problems)
	o.look(p, inputs)
	defer o.survey.close()
	compiled, fs := o.compile(p, takesStdin(inputs))
	t.findings(fs)
	if t.errors > 0 || compiled == nil {
		return o.end(p, t, "", ExitFailed)
	}
	out := &differences{}
	r := run{inputs, transform.New(compiled.Options), out, t}
	if err := r.pass(ctx, o.workers()); err != nil {
		return err
	}
	t.findings(o.survey.problems())
	if o.strict {
		t.strictly(compiled)
	}
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	changed, err := o.print(p, out)
	if err != nil {
		return err
	}
	status := ExitDone
	if changed {
		status = ExitFound
	}
	return o.end(p, t, summary(compiled, t), status)
}

// print writes the differences of all files, or nothing.
func (o *diffOptions) print(p *Process, d *differences) (bool, error) {
	var text bytes.Buffer
	style := p.styleFor(o.color, p.OutTerminal)
	for _, f := range d.list {
		if len(f.edits) == 0 {
			continue
		}
		name := f.name
		if name == files.StdinName {
			name = "-"
		}
		if err := print.DiffEdits(&text, name, f.old, f.edits, print.DiffOptions{Context: o.context, Color: style.On}); err != nil {
			return false, err
		}
	}
	_, err := p.Out.Write(text.Bytes())
	return text.Len() > 0, err
}

func (o *diffOptions) end(p *Process, t *tally, summary string, status int) error {
	if err := o.finish(p, t, summary); err != nil {
		return err
	}
	return exit(status)
}
