package cli

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
)

// explainOptions is what inject explain runs with.
type explainOptions struct {
	inputFlags
	configFlags
	output, color  string
	quiet, verbose bool
	all, bootstrap bool
	why            []string
	workloads      []string
}

func newExplain(p *Process) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [KIND/NAME]... [-f FILE|DIR|-]... [flags]",
		Short: "Say why a workload is injected or not, and where each value of its sidecar came from",
		Long: `Reads manifests and says for each pod template: the rules asked about it, with file and line of
what decided; the settings of its proxy, each with the layer it came from and the layers under it;
the durations of its shutdown side by side; which step of the injection changed which field.
Nothing is written.`,
		Example: `  # why is this one not injected?
  inject explain -f web.yaml -q deploy/web

  # where does the image of the sidecar come from?
  inject explain -f web.yaml --set global.tag=1.30.3 --why image

  # what the agent will start Envoy with
  inject explain -f web.yaml --bootstrap`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.workloads = args
			return o.run(cmd.Context(), p)
		},
	}
	flags := cmd.Flags()
	o.inputFlags.register(flags)
	o.configFlags.register(flags)
	flags.StringVarP(&o.output, "output", "o", "text", "form of the answer: text or json")
	flags.StringVar(&o.color, "color", "auto", "colour: auto, always or never")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "one line for each pod template: yes or no, the rule and its place")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "every field that injection changed")
	flags.BoolVar(&o.all, "all", false, "the steps that were not reached, too")
	flags.BoolVar(&o.bootstrap, "bootstrap", false, "preview of what the agent writes and starts")
	flags.StringArrayVar(&o.why, "why", nil, "only this value or `field`, such as image or containers[istio-proxy].image; may be repeated")
	return cmd
}

func (o *explainOptions) run(ctx context.Context, p *Process) error {
	if o.output != "text" && o.output != "json" {
		return usagef("use -o text or -o json", "-o %s: no such form", o.output)
	}
	if _, err := print.ParseColor(o.color); err != nil {
		return usagef("use --color auto, always or never", "--color %s: no such mode", o.color)
	}
	for _, w := range o.workloads {
		// A folder may be called deploy/web as a workload is; a file with such an ending is no workload.
		switch path.Ext(w) {
		case ".yaml", ".yml", ".json":
			return usagef("name files with -f: inject explain -f "+w, "%s is a file; explain takes KIND/NAME", w)
		}
	}
	inputs, notices, problems := o.resolve(p, nil, false)
	fs := append(notices, problems...)
	o.look(p, inputs)
	defer o.survey.close()
	if o.bootstrap {
		o.survey.lookForBootstraps()
	}
	e, more := o.explainer(p, takesStdin(inputs))
	fs = append(fs, more...)
	if policy.HasErrors(fs) || e == nil {
		return exit(p.fail(fs))
	}
	seen, more, err := o.gather(ctx, inputs, e)
	if err != nil {
		return err
	}
	fs = policy.SortFindings(append(append(fs, more...), o.survey.problems()...))
	return o.report(p, seen, fs)
}

// explainer reads the configuration twice where set flags changed it, so that what they changed can be told.
func (o *explainOptions) explainer(p *Process, stdinTaken bool) (*transform.Explainer, []policy.Finding) {
	setup, fs := o.setup()
	b, more := o.bundle(p, stdinTaken)
	fs = append(fs, more...)
	if b == nil || policy.HasErrors(fs) {
		return nil, fs
	}
	compiled, more := transform.Compile(b, setup)
	fs = append(fs, more...)
	if compiled == nil || policy.HasErrors(fs) {
		return nil, fs
	}
	return transform.NewExplainer(transform.Sources{
		Bundle: b, Compiled: compiled, Setup: setup, Unset: o.unset(p), RevisionFlag: o.revision,
	}), fs
}

// unset is the configuration without the set flags; nil where there are none, or where a file cannot be read twice.
func (o *explainOptions) unset(p *Process) *config.Bundle {
	if len(o.sets)+len(o.setMesh) == 0 {
		return nil
	}
	for _, name := range []string{o.injection, o.values, o.mesh, o.from} {
		if name == "-" {
			return nil
		}
	}
	plain := o.configFlags
	plain.sets, plain.setMesh, plain.survey = nil, nil, nil
	b, _ := plain.bundle(p, true)
	return b
}

// gather runs the explainer over the inputs and keeps what was asked for.
func (o *explainOptions) gather(ctx context.Context, inputs []files.Input, e *transform.Explainer) ([]transform.Workload, []policy.Finding, error) {
	var seen []transform.Workload
	var fs []policy.Finding
	for i := range inputs {
		f, err := feed(ctx, &inputs[i], o.workers(), e, func(b transform.Batch) error {
			for _, r := range b.Results {
				fs = append(fs, r.Findings...)
				seen = append(seen, r.Workloads...)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if f != nil {
			fs = append(fs, *f)
		}
	}
	return seen, fs, nil
}

// report prints the answer; errors about the workloads in it make the run fail, after it.
func (o *explainOptions) report(p *Process, seen []transform.Workload, fs []policy.Finding) error {
	chosen := seen
	if len(o.workloads) > 0 {
		var err error
		if chosen, err = choose(seen, o.workloads); err != nil {
			return err
		}
		fs = about(fs, chosen)
	}
	options := print.ExplainOptions{All: o.all, Bootstrap: o.bootstrap, Changes: o.verbose, Style: p.styleFor(o.color, p.OutTerminal)}
	var err error
	switch {
	case o.output == "json":
		err = print.ExplainJSON(p.Out, chosen, fs, options)
	case len(o.why) > 0:
		err = o.answer(p, chosen, options)
	default:
		err = o.text(p, chosen, options)
	}
	if err != nil {
		return err
	}
	if len(fs) > 0 && (!o.quiet || policy.HasErrors(fs)) && o.output != "json" {
		shown := fs
		if o.quiet {
			shown = policy.Errors(fs)
		}
		if err := print.Findings(p.Err, shown, print.Options{Tool: tool(), Style: p.style(o.color)}); err != nil {
			return err
		}
	}
	if len(seen) == 0 && !policy.HasErrors(fs) {
		fmt.Fprintln(p.Err, "inject: no workload in the input")
	}
	if policy.HasErrors(fs) {
		return exit(ExitFailed)
	}
	return nil
}

func (o *explainOptions) text(p *Process, ws []transform.Workload, options print.ExplainOptions) error {
	for i := range ws {
		if o.quiet {
			line := print.Answer(ws[i])
			if len(ws) > 1 {
				line = shortName(ws[i]) + ": " + line
			}
			if _, err := fmt.Fprintln(p.Out, print.Clean(line)); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			if _, err := fmt.Fprintln(p.Out); err != nil {
				return err
			}
		}
		if err := print.Explain(p.Out, ws[i], options); err != nil {
			return err
		}
	}
	return nil
}

// answer prints what --why asks for; a field that no workload has is wrong usage.
func (o *explainOptions) answer(p *Process, ws []transform.Workload, options print.ExplainOptions) error {
	for _, what := range o.why {
		found := false
		var names []string
		for i := range ws {
			ok, err := print.Why(p.Out, ws[i], what, options)
			if err != nil {
				return err
			}
			found = found || ok
			names = append(names, print.Names(ws[i])...)
		}
		if !found {
			slices.Sort(names)
			return usagef("values are "+strings.Join(slices.Compact(names), ", ")+"; fields are paths in the pod template",
				"--why %s: no value of that name, and no field that injection changed", what)
		}
	}
	return nil
}

// about keeps the findings that are about the chosen workloads, or about no resource at all.
func about(fs []policy.Finding, ws []transform.Workload) []policy.Finding {
	return slices.DeleteFunc(fs, func(f policy.Finding) bool {
		return f.Resource.Kind != "" && !slices.ContainsFunc(ws, func(w transform.Workload) bool {
			return w.Resource == f.Resource && w.File == f.Position.File
		})
	})
}

func shortName(w transform.Workload) string {
	name := cmp.Or(w.Resource.Name, w.Resource.GenerateName+"*")
	if w.Resource.Namespace != "" {
		name = w.Resource.Namespace + "/" + name
	}
	return w.Resource.Kind + " " + name + dot(w.Template)
}

func dot(template string) string {
	if template == "" || template == "spec.template" {
		return ""
	}
	return " " + template
}

// choose picks the workloads that were named, KIND/NAME or NAME, kinds in kubectl's spellings.
func choose(seen []transform.Workload, names []string) ([]transform.Workload, error) {
	var out []transform.Workload
	for _, want := range names {
		kind, name, ok := strings.Cut(want, "/")
		if !ok {
			kind, name = "", want
		}
		found := false
		for _, w := range seen {
			if (kind == "" || isKind(kind, w.Resource.Kind)) && name == cmp.Or(w.Resource.Name, w.Resource.GenerateName) {
				out, found = append(out, w), true
			}
		}
		if !found {
			var there []string
			for _, w := range seen {
				there = append(there, strings.ToLower(w.Resource.Kind)+"/"+cmp.Or(w.Resource.Name, w.Resource.GenerateName))
			}
			slices.Sort(there)
			there = slices.Compact(there)
			if len(there) > 10 {
				there = append(there[:10], "…")
			}
			hint := "the input holds " + strings.Join(there, ", ")
			if len(there) == 0 {
				hint = "the input holds no workload"
			}
			return nil, usagef(hint, "there is no workload %s in the input", want)
		}
	}
	return out, nil
}

// isKind compares a kind as kubectl users write it: in any case, in the plural, or by its short name.
func isKind(word, kind string) bool {
	word, kind = strings.ToLower(word), strings.ToLower(kind)
	word, _, _ = strings.Cut(word, ".")
	short := map[string]string{
		"deploy": "deployment", "sts": "statefulset", "ds": "daemonset", "rs": "replicaset", "rc": "replicationcontroller",
		"po": "pod", "cj": "cronjob", "dc": "deploymentconfig", "ro": "rollout", "lws": "leaderworkerset",
	}
	return word == kind || word == kind+"s" || short[word] == kind
}
