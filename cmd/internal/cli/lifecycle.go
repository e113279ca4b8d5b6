package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/transform"
)

// lifecycleOptions is what lifecycle runs with.
type lifecycleOptions struct {
	inputFlags
	configFlags
	reportFlags
	lifecycleFlags
	workloads []string
}

func newLifecycle(p *Process) *cobra.Command {
	o := lifecycleOptions{lifecycleFlags: lifecycleFlags{options: lifecycle.Defaults()}}
	cmd := &cobra.Command{
		Use:   "lifecycle [KIND/NAME]... [-f FILE|DIR|-]... [flags]",
		Short: "Play how pods with a sidecar start, stop and end as a Job; say what is lost",
		Long: `Plays each pod with its sidecar on two clocks: the start, from the moment the pod's sandbox is
ready, and the stop, from its deletion. Prints a timeline, and a verdict with a remedy for whatever
goes wrong: an app that starts before its proxy, requests cut at the stop, Jobs that never end.

Pods that carry no sidecar yet are injected in memory, with the same configuration flags as inject;
injected ones are played as they stand. What a manifest cannot tell has an estimate, see below.`,
		Example: `  inject lifecycle -f app.yaml

  # an app that needs 20s to stop, while requests still arrive for 3s
  inject lifecycle deploy/web -f app.yaml --app-shutdown 20s --endpoint-lag 3s

  # three ways to run the sidecar, side by side, as a picture
  inject lifecycle -f app.yaml --compare classic,native,hold -o stop.svg

  # in CI: exit 1 when anything is worse than a warning
  inject lifecycle --profile mesh/ -R -f deploy/ --at-most warning`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.workloads = args
			return o.run(cmd.Context(), p)
		},
	}
	groups := o.flagGroups()
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { groupedHelp(p, cmd, groups) })
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { groupedHelp(p, cmd, groups); return nil })
	return cmd
}

func (o *lifecycleOptions) run(ctx context.Context, p *Process) error {
	plan, err := o.plan()
	if err != nil {
		return err
	}
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	for _, w := range o.workloads {
		if exists(w) {
			return usagef("name files with -f: "+p.name()+" lifecycle -f "+w, "%s is a file; lifecycle takes KIND/NAME", w)
		}
	}
	t := newTally(o.reportFlags)
	inputs, notices, problems := o.resolve(p, nil, false)
	t.findings(append(notices, problems...))
	if f := files.Conflict(inputs, plan.target); plan.target != "" && f != nil {
		f.Hint = "name another file: lifecycle does not write manifests"
		t.findings([]policy.Finding{*f})
	}
	o.look(p, inputs)
	defer o.survey.close()
	reader, compiled, fs := o.reader(p, plan, takesStdin(inputs))
	t.findings(fs)
	if t.errors > 0 || reader == nil {
		return o.end(p, t, "", ExitFailed)
	}
	t.configuration(compiled)
	seen, fs, err := o.gatherPods(ctx, inputs, reader, t)
	if err != nil {
		return err
	}
	t.findings(append(fs, o.survey.problems()...))
	played := newPlay(seen, o.asIs)
	for _, w := range seen {
		t.workload(w)
	}
	inMemory(t)
	if o.strict {
		t.strictly(compiled)
	}
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	if err := o.namesExist(played.pods); err != nil {
		return err
	}
	played.simulate(plan.options, o.istioVersion != "")
	return o.show(ctx, p, t, plan, played, compiled)
}

// show writes the result, and says on stderr what was played.
func (o *lifecycleOptions) show(ctx context.Context, p *Process, t *tally, plan *lifecyclePlan, played *play, c *transform.Compiled) error {
	style := p.styleFor(o.color, p.OutTerminal)
	fs, err := plan.print(ctx, p, played, style)
	if err != nil {
		return err
	}
	t.findings(fs)
	if t.errors > 0 {
		return o.end(p, t, "", ExitFailed)
	}
	line := lifecycleSummary(c, played)
	status := ExitDone
	if worst := played.worst(); plan.limited && worst > plan.limit {
		status = ExitFound
		line += fmt.Sprintf("; worst verdict %s, --at-most %s", worst, plan.limit)
	}
	return o.end(p, t, line, status)
}

// reader loads the configuration; without a reader the findings say why there is none.
func (o *lifecycleOptions) reader(p *Process, plan *lifecyclePlan, stdinTaken bool) (*transform.LifecycleReader, *transform.Compiled, []policy.Finding) {
	setup, fs := o.setup()
	b, more := o.bundle(p, stdinTaken)
	fs = append(fs, more...)
	if b == nil || policy.HasErrors(fs) {
		return nil, nil, fs
	}
	compiled, more := transform.Compile(b, setup)
	fs = append(fs, more...)
	if compiled == nil || policy.HasErrors(fs) {
		return nil, nil, fs
	}
	o.configFlags.name(compiled)
	kube, err := lifecycle.ParseVersion(cmp.Or(o.kubeVersion, b.KubeVersion, transform.DefaultKubeVersion))
	if err != nil {
		return nil, nil, append(fs, problem(files.CodeUsage, "--kube-version: "+err.Error(), "write --kube-version "+transform.DefaultKubeVersion)...)
	}
	plan.options.Kubernetes = kube
	return transform.NewLifecycleReader(b, compiled, transform.LifecycleOptions{
		AsIs: o.asIs, Variants: plan.variants, IstioVersion: o.istioVersion,
	}), compiled, fs
}

// gatherPods reads all inputs and keeps what was asked for.
func (o *lifecycleOptions) gatherPods(ctx context.Context, inputs []files.Input, r *transform.LifecycleReader, t *tally) ([]transform.Workload, []policy.Finding, error) {
	var seen []transform.Workload
	var fs []policy.Finding
	for i := range inputs {
		f, err := feed(ctx, &inputs[i], o.workers(), r, func(b transform.Batch) error {
			t.report.Documents += b.Documents
			for _, res := range b.Results {
				fs = append(fs, res.Findings...)
				seen = append(seen, res.Workloads...)
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
	if len(o.workloads) == 0 {
		return seen, fs, nil
	}
	chosen, err := choose(seen, o.workloads)
	if err != nil && policy.HasErrors(fs) {
		return nil, fs, nil // what cannot be read may well hold it
	}
	return chosen, about(fs, chosen), err
}

// inMemory has the report say that nothing was written.
func inMemory(t *tally) {
	for i := range t.report.Workloads {
		w := &t.report.Workloads[i]
		if w.Action == print.Injected {
			w.Written = ""
			w.Reason = "in memory only: " + w.Reason
		}
	}
}

// lifecycleSummary is the one line of a run: with what was injected, and what of the pods was.
func lifecycleSummary(c *transform.Compiled, played *play) string {
	if len(played.pods) == 0 {
		return "inject: no workload in the input"
	}
	var parts []string
	for _, s := range []struct {
		of   transform.Sidecar
		text string
	}{
		{transform.AddedSidecar, "%d injected in memory"},
		{transform.OwnSidecar, "%d played as injected already"},
		{transform.NoSidecar, "%d played as it stands"},
	} {
		if n := played.sidecars[s.of]; n > 0 {
			parts = append(parts, fmt.Sprintf(s.text, n))
		}
	}
	if len(played.reasons) == 1 {
		parts[len(parts)-1] += " (" + print.Clean(played.reasons[0]) + ")"
	}
	text := strings.Join(parts, ", ")
	if played.sidecars[transform.AddedSidecar] == 0 {
		return "inject: " + text
	}
	kind := "classic sidecars"
	if c.Native {
		kind = "native sidecars"
	}
	return fmt.Sprintf("inject: %s, %s, by default %s (%s): %s", c.Profile, c.EngineName, kind, c.NativeReason, text)
}

// end prints the report and gives the status.
func (o *lifecycleOptions) end(p *Process, t *tally, summary string, status int) error {
	if err := o.finish(p, t, summary); err != nil {
		return err
	}
	return exit(status)
}

// play holds pods and what became of them.
type play struct {
	pods     []transform.LifecyclePod
	results  []lifecycle.Result
	sidecars map[transform.Sidecar]int
	// reasons are the different ones why pods are played without a sidecar.
	reasons  []string
	compared bool
}

func newPlay(seen []transform.Workload, asIs bool) *play {
	out := &play{sidecars: map[transform.Sidecar]int{}}
	for _, w := range seen {
		for i, pod := range w.Pods {
			if i == 0 {
				out.sidecars[pod.Sidecar]++
				out.reason(w, asIs)
			}
			out.compared = out.compared || pod.Variant != ""
			out.pods = append(out.pods, pod)
		}
	}
	return out
}

// reason keeps why a pod has no sidecar.
func (pl *play) reason(w transform.Workload, asIs bool) {
	if w.Pods[0].Sidecar != transform.NoSidecar {
		return
	}
	why := w.Decision.Reason()
	switch {
	case asIs:
		why = "--as-is"
	case w.Trace != nil && w.Trace.Skipped != "":
		why = w.Trace.Skipped
	}
	if !slices.Contains(pl.reasons, why) {
		pl.reasons = append(pl.reasons, why)
	}
}

// simulate plays all pods. Each has the agent of its own image, unless a version was given.
func (pl *play) simulate(o lifecycle.Options, given bool) {
	for _, pod := range pl.pods {
		mine := o
		mine.Istio = pod.Istio
		r := lifecycle.Simulate(pod.Pod, mine)
		r.Variant = pod.Variant
		r.Flips = lifecycle.Sensitivity(pod.Pod, mine)
		pl.results = append(pl.results, r)
	}
}

// worst is the highest severity of all verdicts.
func (pl *play) worst() policy.Severity {
	worst := policy.Info
	for _, r := range pl.results {
		worst = max(worst, r.Worst())
	}
	return worst
}

// findings gives the verdicts as lint gives findings.
func (pl *play) findings() []policy.Finding {
	var out []policy.Finding
	for i, r := range pl.results {
		for _, f := range r.Findings(pl.pods[i].Base) {
			if r.Variant != "" {
				f.Message = r.Variant + ": " + f.Message
			}
			out = append(out, f)
		}
	}
	return policy.SortFindings(out)
}

// namesExist refuses names of containers that no pod has: a verdict with a mistyped option would be about nothing.
func (o *lifecycleOptions) namesExist(pods []transform.LifecyclePod) error {
	if len(pods) == 0 {
		return nil
	}
	var there []string
	for _, pod := range pods {
		for _, c := range pod.Spec.InitContainers {
			there = append(there, c.Name)
		}
		for _, c := range pod.Spec.Containers {
			there = append(there, c.Name)
		}
	}
	slices.Sort(there)
	there = slices.Compact(there)
	for _, n := range o.containerNames() {
		if !slices.Contains(there, n.name) {
			return usagef("containers are "+strings.Join(there, ", "), "--%s %s: no pod has a container of that name", n.flag, n.name)
		}
	}
	return nil
}
