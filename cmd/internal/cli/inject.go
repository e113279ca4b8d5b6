package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
)

// injectOptions is what the main command runs with.
type injectOptions struct {
	inputFlags
	configFlags
	outputFlags
	reportFlags
	args []string
}

func newInject(p *Process) *cobra.Command {
	var o injectOptions
	cmd := &cobra.Command{
		Use:   "inject [-f FILE|DIR|-]... [flags]",
		Short: "Put a service-mesh sidecar into Kubernetes manifests, offline",
		Long: `Reads Kubernetes manifests and writes them with Istio's sidecar in every pod template that
asks for it. Only the lines that the sidecar needs change; everything else leaves byte for byte.
No cluster and no network are asked.

The mesh is the embedded profile, or what --profile, --config-from or the three files say.`,
		Example: `  # inject a file and apply it
  inject -f app.yaml | kubectl apply -f -

  # with the configuration of your own mesh, dumped once
  kubectl -n istio-system get configmap istio-sidecar-injector istio -o yaml > mesh.yaml
  inject --config-from mesh.yaml -R -f deploy/ -i

  # in CI: fail where something is not injected or not up to date
  inject --profile mesh/ -f deploy/ --check`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if isFunctionCall(p, cmd, args) {
				return (&fnOptions{}).run(p)
			}
			o.args = args
			if len(args) > 0 && !exists(args[0]) {
				if near := nearestCommand(cmd, args[0]); near != "" {
					return usagef("did you mean the command "+p.name()+" "+near+"?", "there is no file %s", args[0])
				}
			}
			return o.run(cmd.Context(), p)
		},
	}
	flags := cmd.Flags()
	o.inputFlags.register(flags)
	o.configFlags.register(flags)
	o.outputFlags.register(flags)
	o.reportFlags.register(flags)
	flags.BoolVar(&o.check, "check", false, "write nothing; name what is not injected or not up to date, and exit 1")
	return cmd
}

func (o *injectOptions) run(ctx context.Context, p *Process) error {
	if err := o.outputFlags.checkUsage(); err != nil {
		return err
	}
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	if err := o.refuseNames(); err != nil {
		return err
	}
	if format, _ := o.form(); isPatchFormat(format) {
		// A patch has no place for a comment, and the record's annotation would be one more change.
		o.noRecord = true
	}
	t := newTally(o.reportFlags)
	inputs, notices, problems := o.resolve(p, o.args, o.inPlace)
	t.findings(notices)
	t.findings(problems)
	o.look(p, inputs)
	defer o.survey.close()
	compiled, fs := o.compile(p, takesStdin(inputs))
	t.findings(fs)
	if t.errors > 0 || compiled == nil {
		if err := o.lookOnly(ctx, t, inputs, compiled); err != nil {
			return err
		}
		return o.end(p, t, "", ExitFailed)
	}
	t.configuration(compiled)
	out, fs := o.openSink(p, inputs)
	t.findings(fs)
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	defer out.close()
	return o.process(ctx, p, run{inputs, o.formatted(transform.New(compiled.Options), compiled.Options.Registry), out, t}, compiled)
}

// refuseNames catches a pasted "-i istio-system": -i takes no value here.
func (o *injectOptions) refuseNames() error {
	if len(o.args) > 0 && o.args[0] == "kube-inject" && !exists(o.args[0]) {
		return usagef("inject itself is the command: leave the word out", "kube-inject is istioctl's command, and no file here")
	}
	if !o.inPlace {
		return nil
	}
	for _, a := range o.args {
		if !exists(a) {
			return usagef(inPlaceHint, "-i takes no value, and there is no file %s", a)
		}
	}
	return nil
}

// inPlaceHint tells our -i from istioctl's.
const inPlaceHint = "-i writes files in place; istioctl's -i names the namespace to read in a cluster: leave it out and " + dumpAdvice

func takesStdin(inputs []files.Input) bool {
	for i := range inputs {
		if inputs[i].Path == "" {
			return true
		}
	}
	return false
}

// run is one pass over the inputs.
type run struct {
	inputs   []files.Input
	injector streamer
	out      sink
	tally    *tally
}

// pass streams every input through the injector into the sink. After an error nothing more is kept, but all of the
// input is read, so that one run reports everything.
func (r run) pass(ctx context.Context, workers int) error {
	for i := range r.inputs {
		in := &r.inputs[i]
		r.out.begin(in)
		f, err := feed(ctx, in, workers, r.injector, func(b transform.Batch) error {
			r.tally.add(b)
			if r.tally.errors > 0 {
				return nil
			}
			for _, res := range b.Results {
				if err := r.out.write(b.Encoding, res); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if f != nil {
			r.tally.findings([]policy.Finding{*f})
		}
	}
	return nil
}

func (o *injectOptions) process(ctx context.Context, p *Process, r run, c *transform.Compiled) error {
	if err := r.pass(ctx, o.workers()); err != nil {
		return err
	}
	t := r.tally
	t.findings(o.survey.problems())
	if o.strict {
		t.strictly(c)
	}
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	fs, err := r.out.commit(ctx)
	if err != nil {
		return err
	}
	if o.check {
		return o.checked(p, t, c)
	}
	t.findings(fs)
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	return o.end(p, t, summary(c, t), ExitDone)
}

// checked tells what would change; the names of the files went to stdout.
func (o *injectOptions) checked(p *Process, t *tally, c *transform.Compiled) error {
	status := ExitDone
	if t.injected > 0 {
		status = ExitFound
	}
	return o.end(p, t, fmt.Sprintf("%s (checked; nothing written)", summary(c, t)), status)
}

// end prints the report and gives the status.
func (o *injectOptions) end(p *Process, t *tally, summary string, status int) error {
	if err := o.finish(p, t, summary); err != nil {
		return err
	}
	return exit(status)
}
