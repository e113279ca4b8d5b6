package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/workload"
)

// uninjectOptions is what uninject runs with.
type uninjectOptions struct {
	inputFlags
	outputFlags
	reportFlags
	kinds []string
	args  []string
}

func newUninject(p *Process) *cobra.Command {
	var o uninjectOptions
	cmd := &cobra.Command{
		Use:   "uninject [-f FILE|DIR|-]... [flags]",
		Short: "Take the sidecar out again; the inverse of inject",
		Long: `Takes out what the pod's own status says was put in, and puts back what it took the place of:
probes, scrape annotations, the user's own settings of istio-proxy. No configuration is needed.

What inject wrote comes back byte for byte. What istioctl or the webhook wrote comes back as data;
a warning says what nobody recorded.`,
		Example: `  # show a manifest as it was
  inject uninject -f injected.yaml

  # clean a folder in place
  inject uninject -R -f deploy/ -i`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context(), p)
		},
	}
	flags := cmd.Flags()
	o.inputFlags.register(flags)
	o.outputFlags.register(flags)
	o.reportFlags.register(flags)
	flags.StringArrayVar(&o.kinds, "kind", nil, "more kinds: `group/Kind=path.to.template`, +group/Kind or -group/Kind")
	flags.BoolVar(&o.check, "check", false, "write nothing; name what carries a sidecar, and exit 1")
	return cmd
}

func (o *uninjectOptions) run(ctx context.Context, p *Process) error {
	if err := o.outputFlags.checkUsage(); err != nil {
		return err
	}
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	registry := workload.Default()
	for _, k := range o.kinds {
		r, err := registry.With(k)
		if err != nil {
			return usagef("write group/Kind=path.to.template", "--kind %s: %v", k, err)
		}
		registry = r
	}
	t := newTally(o.reportFlags)
	inputs, notices, problems := o.resolve(p, o.args, o.inPlace)
	t.findings(notices)
	t.findings(problems)
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	out, fs := o.openSink(p, inputs)
	t.findings(fs)
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	defer out.close()
	return o.process(ctx, p, run{inputs, o.formatted(transform.NewUninjector(registry), registry), out, t})
}

func (o *uninjectOptions) process(ctx context.Context, p *Process, r run) error {
	if err := r.pass(ctx, o.workers()); err != nil {
		return err
	}
	t := r.tally
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	fs, err := r.out.commit(ctx)
	if err != nil {
		return err
	}
	t.findings(fs)
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	if !o.check {
		return o.end(p, t, fmt.Sprintf("inject: %d sidecars taken out", t.injected), ExitDone)
	}
	status := ExitDone
	if t.injected > 0 {
		status = ExitFound
	}
	return o.end(p, t, fmt.Sprintf("inject: %d sidecars (checked; nothing written)", t.injected), status)
}

func (o *uninjectOptions) end(p *Process, t *tally, summary string, status int) error {
	if err := o.finish(p, t, summary); err != nil {
		return err
	}
	return exit(status)
}
