package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
)

// configShowOptions is what inject config show runs with.
type configShowOptions struct {
	configFlags
	reportFlags
	folder string
	part   string
}

func newConfigShow(p *Process) *cobra.Command {
	var o configShowOptions
	cmd := &cobra.Command{
		Use:   "show [flags]",
		Short: "Print the effective injection config, values and mesh config",
		Long: `Prints what an injection with the same flags runs with, each value with a comment that says where
it comes from. The output is a stream of two ConfigMaps, as a cluster has them, and --config-from
reads it back; with -o the three parts are files that inject and istioctl kube-inject take.`,
		Example: `  # what a dump of the cluster says, with one value changed
  inject config show --config-from mesh.yaml --set global.hub=registry.example/istio

  # three files for istioctl kube-inject
  inject config show --profile mesh/ -o parts/
  istioctl kube-inject --injectConfigFile parts/config.yaml --valuesFile parts/values.yaml \
    --meshConfigFile parts/mesh.yaml -f app.yaml

  # only the mesh config
  inject config show --part mesh`,
		Args: noArguments,
		RunE: asCommand(func(cmd *cobra.Command) error { return o.run(cmd.Context(), p) }),
	}
	o.configFlags.register(cmd.Flags())
	o.reportFlags.register(cmd.Flags())
	cmd.Flags().StringVarP(&o.folder, "output", "o", "", "`folder` for config.yaml, values.yaml and mesh.yaml, instead of stdout")
	cmd.Flags().StringVar(&o.part, "part", "", "print one `part` as it is: config, values or mesh")
	return cmd
}

func (o *configShowOptions) run(ctx context.Context, p *Process) error {
	if err := o.checkUsage(); err != nil {
		return err
	}
	t := newTally(o.reportFlags)
	l, fs := o.load(p, nil)
	t.findings(fs)
	if l == nil || t.errors > 0 {
		return endConfig(p, &o.reportFlags, t, "", nil)
	}
	injection, values, mesh := config.Show(l.bundle)
	parts := []written{{config.InjectionFile, injection}, {config.ValuesFile, values}, {config.MeshFile, mesh}}
	var text []byte
	switch {
	case o.folder != "":
		t.findings(writeFolder(ctx, o.folder, parts))
	case o.part != "":
		text = map[string][]byte{"config": injection, "values": values, "mesh": mesh}[o.part]
	default:
		text = o.stream(p, l, parts)
	}
	if t.errors == 0 {
		if _, err := p.Out.Write(text); err != nil {
			return err
		}
	}
	return endConfig(p, &o.reportFlags, t, "inject: "+l.engineText(), l)
}

func (o *configShowOptions) checkUsage() error {
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	switch o.part {
	case "", "config", "values", "mesh":
	default:
		return usagef("use config, values or mesh", "--part %s: no such part", o.part)
	}
	if o.part != "" && o.folder != "" {
		return usagef("use one of them", "-o writes all parts, so it cannot go with --part")
	}
	return nil
}

// endConfig prints the report of a config command: its findings, with -v what was taken from where, and the summary.
func endConfig(p *Process, r *reportFlags, t *tally, summary string, l *loaded) error {
	if l != nil {
		t.configuration(l.compiled)
	}
	if t.errors > 0 {
		summary = ""
	}
	if err := r.finish(p, t, summary); err != nil {
		return err
	}
	if t.errors > 0 {
		return exit(ExitFailed)
	}
	return nil
}

// stream puts the parts into the ConfigMaps that hold them in a cluster. The head names the flags that reading it back
// needs: a version or a Kubernetes that came from a flag or a profile stands in none of the three parts.
func (o *configShowOptions) stream(p *Process, l *loaded, parts []written) []byte {
	body := configMaps(l.bundle, parts)
	flags := ""
	again, _ := config.Load(config.LoadOptions{
		Embedded: transform.Embedded(), Revision: o.revision, From: &config.Source{Name: "shown", Data: body},
	})
	if again == nil || again.Istio.Version.String() != l.bundle.Istio.Version.String() {
		flags += " --istio-version " + l.bundle.Istio.Version.String()
	}
	if v := cmp.Or(o.kubeVersion, l.bundle.KubeVersion); v != "" && v != transform.DefaultKubeVersion {
		flags += " --kube-version " + v
	}
	head := fmt.Sprintf("# What an injection runs with: %s.\n# Use this file with: %s --config-from FILE%s\n", l.engineText(), p.name(), flags)
	return append([]byte(head), body...)
}

// configMaps writes the two ConfigMaps of a revision.
func configMaps(b *config.Bundle, parts []written) []byte {
	namespace := cmp.Or(b.Values.Text("global", "istioNamespace"), "istio-system")
	var out bytes.Buffer
	object := func(name string, keys []string, texts ...[]byte) {
		if b.Revision != "" {
			name += "-" + b.Revision
		}
		fmt.Fprintf(&out, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\n", name, namespace)
		if b.Revision != "" {
			fmt.Fprintf(&out, "  labels:\n    %s: %s\n", policy.LabelRevision, b.Revision)
		}
		out.WriteString("data:\n")
		for i, key := range keys {
			fmt.Fprintf(&out, "  %s: |\n", key)
			indented(&out, texts[i])
		}
	}
	object("istio-sidecar-injector", []string{"config", "values"}, parts[0].data, parts[1].data)
	out.WriteString("---\n")
	object("istio", []string{"mesh"}, parts[2].data)
	return out.Bytes()
}

// indented writes a text as the lines of a literal block. What the YAML printer made never starts with a blank and holds
// nothing that a block cannot.
func indented(out *bytes.Buffer, text []byte) {
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			out.WriteString("    ")
		}
		out.Write(line)
	}
}
