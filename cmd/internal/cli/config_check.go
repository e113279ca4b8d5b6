package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
)

// configCheckOptions is what inject config check runs with.
type configCheckOptions struct {
	configFlags
	reportFlags
	from      []string
	templates []string
}

func newConfigCheck(p *Process) *cobra.Command {
	var o configCheckOptions
	cmd := &cobra.Command{
		Use:   "check [FILE...] [flags]",
		Short: "Check the files of a configuration without any manifest",
		Long: `Reads the configuration as an injection would and tries every template on a small set of built-in
pods, so that a missing value, an unknown field or function, or a file given to the wrong flag shows
before an application meets it. FILEs are recognised by what is in them, as by inject config import.

The templates of waypoints and gateways that Istio's own controller renders are left alone unless
--template names them. Exit status 2 means that something is wrong; warnings alone do not, but with --strict.`,
		Example: `  inject config check --profile mesh/
  inject config check --inject-config-file config.yaml --values-file values.yaml --mesh-config-file mesh.yaml
  inject config check rendered-chart.yaml --strict`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.from = append(o.from, args...)
			return o.run(cmd.Context(), p)
		},
	}
	o.configFlags.register(cmd.Flags())
	o.reportFlags.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.from, "from", nil, "`file` in any form, or - (stdin); may be repeated")
	cmd.Flags().StringArrayVar(&o.templates, "template", nil, "try this `template` too, whatever it is for")
	return cmd
}

func (o *configCheckOptions) run(_ context.Context, p *Process) error {
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	o.all = true
	t := newTally(o.reportFlags)
	l, fs := o.load(p, o.from)
	t.findings(fs)
	summary := ""
	if l != nil && t.errors == 0 {
		checked := config.Check(l.bundle)
		t.findings(checked)
		tr := newTrial(l, o.templates)
		t.findings(tr.run())
		summary = "inject: " + l.engineText() + ": " + tr.summary()
	}
	if o.strict {
		t.strictWarnings()
	}
	return endConfig(p, &o.reportFlags, t, summary, l)
}

// trial renders the templates of a configuration for pods of every kind that templates tell apart.
type trial struct {
	loaded *loaded
	// tried are the sets of templates that run together, left those that are not ours to render.
	tried [][]string
	left  []string
	// unknown are names of --template that the configuration does not have.
	unknown []string
}

// controllerTemplates are templates of Istio's injection config that its gateway controller renders, with data of its own
// (Istio, manifests/charts/istio-control/istio-discovery/files, 1.24 to 1.31).
func controllerTemplates() []string {
	return []string{"agentgateway", "agentgateway-waypoint", "kube-gateway", "waypoint", "ztunnel"}
}

// newTrial settles what is tried: the default templates together, as pods get them, then each alias, then every other
// template over the defaults' first or alone.
func newTrial(l *loaded, asked []string) *trial {
	tr := &trial{loaded: l}
	inj := l.bundle.Injection
	if inj.Legacy != nil {
		tr.tried = [][]string{nil}
		return tr
	}
	tr.add(inj.DefaultTemplates...)
	for _, name := range sortedNames(inj.Aliases) {
		if !tr.has(name) {
			tr.add(name)
		}
	}
	for _, name := range inj.TemplateNames {
		switch {
		case tr.has(name):
		case slices.Contains(controllerTemplates(), name) && !slices.Contains(asked, name):
			tr.left = append(tr.left, name)
		default:
			tr.add(name)
		}
	}
	for _, name := range asked {
		if !tr.known(name) {
			tr.unknown = append(tr.unknown, name)
		}
	}
	return tr
}

// add adds a set. One that names what is not there is left out: config.Check has said so, and its templates are tried alone.
func (tr *trial) add(set ...string) {
	if !slices.ContainsFunc(set, func(name string) bool { return !tr.known(name) }) {
		tr.tried = append(tr.tried, set)
	}
}

// known tells whether a name is that of a template, or of an alias for templates.
func (tr *trial) known(name string) bool {
	inj := tr.loaded.bundle.Injection
	for _, n := range inj.Aliases[name] {
		if _, ok := inj.Templates[n]; !ok {
			return false
		}
	}
	_, ok := inj.Templates[name]
	return ok || len(inj.Aliases[name]) > 0
}

func sortedNames(m map[string][]string) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// has tells whether a template runs in one of the trials already, by its name or by an alias.
func (tr *trial) has(name string) bool {
	for _, set := range tr.tried {
		for _, n := range set {
			if n == name || slices.Contains(tr.loaded.bundle.Injection.Aliases[n], name) {
				return true
			}
		}
	}
	return false
}

// run gives what is wrong, each thing once, with the first pod that met it.
func (tr *trial) run() []policy.Finding {
	var out []policy.Finding
	for _, name := range tr.unknown {
		out = append(out, problem("E_TEMPLATE_UNKNOWN", "--template "+name+": the configuration has no such template",
			"the templates are "+strings.Join(tr.loaded.bundle.Injection.TemplateNames, ", "))...)
	}
	seen := map[string]bool{}
	for _, set := range tr.tried {
		for _, tp := range trialPods() {
			for _, f := range tr.inject(set, tp) {
				key := f.Position.String() + f.Message
				if seen[key] {
					continue
				}
				seen[key] = true
				f.Message += "; tried on " + tp.what
				out = append(out, f)
			}
		}
	}
	return out
}

// inject tries one pod and gives what is wrong with the configuration. Warnings about the pod itself are nobody's.
func (tr *trial) inject(set []string, tp trialPod) []policy.Finding {
	in := tp.input()
	if set != nil && !slices.Equal(set, tr.loaded.bundle.Injection.DefaultTemplates) {
		in.Template.Annotations[policy.AnnotationTemplates] = strings.Join(set, ",")
	}
	output, fs := tr.loaded.compiled.Options.Engine.Inject(in)
	if output != nil {
		fs = append(fs, output.Warnings...)
	}
	var out []policy.Finding
	for _, f := range fs {
		if f.Position.File == "" && f.Severity != policy.Error {
			continue
		}
		if f.Position.File == "" && f.Field != "" {
			f.Message += " (at " + f.Field + ")"
		}
		f.Field = ""
		if f.Position.File == "" && len(set) > 0 {
			f.Position = tr.place(set[0])
		}
		out = append(out, f)
	}
	return out
}

// place is where a template stands.
func (tr *trial) place(name string) policy.Position {
	inj := tr.loaded.bundle.Injection
	if names := inj.Aliases[name]; len(names) > 0 {
		name = names[0]
	}
	if t, ok := inj.Templates[name]; ok {
		return t.At(1, 0)
	}
	return inj.Places["defaultTemplates"]
}

// summary says what was tried.
func (tr *trial) summary() string {
	if tr.loaded.bundle.Injection.Legacy != nil {
		return fmt.Sprintf("the legacy template tried on %d pods, all well", len(trialPods()))
	}
	var names []string
	for _, name := range tr.loaded.bundle.Injection.TemplateNames {
		if !slices.Contains(tr.left, name) {
			names = append(names, name)
		}
	}
	text := fmt.Sprintf("%s tried on %d pods, all well", templateText(names), len(trialPods()))
	if len(tr.left) > 0 {
		text += "; not tried, since Istio's gateway controller renders them: " + strings.Join(tr.left, ", ")
	}
	return text
}
