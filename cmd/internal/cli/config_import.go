package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
)

// configImportOptions is what inject config import runs with.
type configImportOptions struct {
	configFlags
	reportFlags
	from   []string
	folder string
}

func newConfigImport(p *Process) *cobra.Command {
	var o configImportOptions
	cmd := &cobra.Command{
		Use:   "import --from FILE... -o DIR [flags]",
		Short: "Make a profile folder of files in any form",
		Long: `Makes a profile: a folder with the effective injection config, values and mesh config and a file
that says which Istio they are for. --profile DIR then takes the place of the three flags.

Each FILE is recognised by what is in it: the bare files, ConfigMaps as kubectl prints them, a List,
the output of helm template or istioctl manifest generate, Helm values, an IstioOperator, or the
folder of an unpacked chart, of which the values are taken. ConfigMaps win over values that were
written by hand, since they hold what became of them. What is missing comes from the embedded profile.`,
		Example: `  # from a cluster, once
  kubectl -n istio-system get configmap istio-sidecar-injector istio -o yaml > mesh.yaml
  inject config import --from mesh.yaml -o mesh/

  # from the chart that installs the mesh
  helm template istiod istio/istiod -n istio-system -f my-values.yaml > rendered.yaml
  inject config import --from rendered.yaml -o mesh/ --kube-version 1.33

  inject --profile mesh/ -f app.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.from = append(o.from, args...)
			return o.run(cmd.Context(), p)
		},
	}
	o.configFlags.register(cmd.Flags())
	o.reportFlags.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.from, "from", nil, "`file` in any form, or - (stdin); may be repeated")
	cmd.Flags().StringVarP(&o.folder, "output", "o", "", "`folder` to write; made where it is not there")
	return cmd
}

func (o *configImportOptions) run(ctx context.Context, p *Process) error {
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	if o.folder == "" {
		return usagef("name the folder of the profile: -o mesh/", "no -o: where shall the profile go?")
	}
	if len(o.from) == 0 && !o.given() {
		return usagef("name what to import: --from FILE; the embedded profile is written by inject config dump-profile",
			"no --from: there is nothing to import")
	}
	t := newTally(o.reportFlags)
	l, fs := o.load(p, o.from)
	t.findings(fs)
	if l == nil || t.errors > 0 {
		return endConfig(p, &o.reportFlags, t, "", nil)
	}
	about := config.About{
		IstioVersion: l.bundle.Istio.Version.String(), KubeVersion: cmp.Or(o.kubeVersion, l.bundle.KubeVersion),
		Revision: l.bundle.Revision, Source: strings.Join(l.bundle.Taken, "; "),
	}
	t.findings(writeProfile(ctx, o.folder, l.bundle, about))
	return endConfig(p, &o.reportFlags, t, "inject: profile "+slashed(o.folder)+" written: "+l.engineText()+", "+
		templateText(l.bundle.Injection.TemplateNames)+"; use it with --profile "+slashed(o.folder), l)
}

// given tells whether a flag names any part.
func (c *configFlags) given() bool {
	return c.injection != "" || c.values != "" || c.mesh != "" || c.from != "" || c.profile != ""
}

// writeProfile writes the files of a profile. A values.json of an earlier hand beside the new values.yaml would make the
// folder unreadable, so it is refused.
func writeProfile(ctx context.Context, dir string, b *config.Bundle, about config.About) []policy.Finding {
	if exists(filepath.Join(dir, config.ValuesJSON)) {
		return []policy.Finding{{
			Code: files.CodeConflict, Severity: policy.Error, Position: policy.Position{File: slashed(filepath.Join(dir, config.ValuesJSON))},
			Message: "the folder holds values already, in another file than the " + config.ValuesFile + " to be written",
			Hint:    "remove it, or name another folder",
		}}
	}
	parts := config.WriteProfile(b, about)
	var list []written
	for _, name := range []string{config.InjectionFile, config.ValuesFile, config.MeshFile, config.ProfileFile} {
		list = append(list, written{name, parts[name]})
	}
	return writeFolder(ctx, dir, list)
}

// configDumpOptions is what inject config dump-profile runs with.
type configDumpOptions struct {
	reportFlags
	folder string
}

func newConfigDump(p *Process) *cobra.Command {
	var o configDumpOptions
	cmd := &cobra.Command{
		Use:   "dump-profile [-o DIR]",
		Short: "Write the embedded profile as a profile folder",
		Long: `Writes the profile that runs where nothing is given, as a folder that --profile takes: a start for a
profile of your own. Without -o it is printed as inject config show prints it.`,
		Example: `  inject config dump-profile -o mesh/
  inject --profile mesh/ -f app.yaml`,
		Args: noArguments,
		RunE: asCommand(func(cmd *cobra.Command) error { return o.run(cmd.Context(), p) }),
	}
	o.reportFlags.register(cmd.Flags())
	cmd.Flags().StringVarP(&o.folder, "output", "o", "", "`folder` to write; made where it is not there")
	return cmd
}

func (o *configDumpOptions) run(ctx context.Context, p *Process) error {
	show := configShowOptions{reportFlags: o.reportFlags}
	show.native = "auto"
	if o.folder == "" {
		return show.run(ctx, p)
	}
	if err := o.reportFlags.checkUsage(); err != nil {
		return err
	}
	t := newTally(o.reportFlags)
	l, fs := show.load(p, nil)
	t.findings(fs)
	if l == nil || t.errors > 0 {
		return endConfig(p, &o.reportFlags, t, "", nil)
	}
	about := config.About{
		IstioVersion: l.bundle.Istio.Version.String(), KubeVersion: transform.DefaultKubeVersion,
		Source: "embedded profile",
	}
	t.findings(writeProfile(ctx, o.folder, l.bundle, about))
	return endConfig(p, &o.reportFlags, t, "inject: profile "+slashed(o.folder)+" written: "+l.engineText()+
		"; use it with --profile "+slashed(o.folder), l)
}
