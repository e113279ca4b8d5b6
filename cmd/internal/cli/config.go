package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
)

func newConfig(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config COMMAND",
		Short: "Show, check and keep the injection config, values and mesh config",
		Long: `Works on what an injection runs with: the injection config, the values and the mesh config.

Each may be given as the file itself, as the ConfigMap that holds it, in a List or in a stream
of documents; values also as Helm values or in an IstioOperator. A profile is a folder with all
three; import makes one, and --profile takes it.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("the commands are show, check, import and dump-profile", "inject config has no command %s", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newConfigShow(p), newConfigCheck(p), newConfigImport(p), newConfigDump(p))
	return cmd
}

// noArguments refuses words where a command takes files by flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("files are named by flags: --config-from, --profile or the three files", "%s takes no arguments: %s", cmd.CommandPath(), args[0])
}

// loaded is a configuration that was read and made ready.
type loaded struct {
	bundle   *config.Bundle
	compiled *transform.Compiled
}

// load reads the configuration that the flags and the named files give. Compiling settles what the values decide in the
// injection config, so what is shown or written is what an injection would run with.
func (c *configFlags) load(p *Process, from []string) (*loaded, []policy.Finding) {
	s, fs := c.setup()
	r := &reader{process: p}
	o, more := c.sources(r)
	fs = append(fs, more...)
	fs = append(fs, assign(r, &o, from)...)
	if policy.HasErrors(fs) {
		return nil, fs
	}
	b, more := config.Load(o)
	fs = append(fs, more...)
	if b == nil {
		return nil, fs
	}
	compiled, more := transform.Compile(b, s)
	c.name(compiled)
	fs = append(fs, more...)
	if compiled == nil || policy.HasErrors(fs) {
		return nil, fs
	}
	return &loaded{b, compiled}, fs
}

// assign gives each of the named files to the parts that it holds. Of two that hold the same part, the ConfigMap's is the
// effective one; two of a kind need a choice.
func assign(r *reader, o *config.LoadOptions, names []string) []policy.Finding {
	var fs []policy.Finding
	type candidate struct {
		source *config.Source
		dump   bool
	}
	var parts [3][]candidate
	for _, name := range names {
		s := r.read("--from", chartValues(name))
		if s == nil {
			continue
		}
		c, f := config.ContentsOf(*s)
		if f != nil {
			fs = append(fs, *f)
			continue
		}
		for i, has := range []bool{c.Injection, c.Values, c.Mesh} {
			if has {
				parts[i] = append(parts[i], candidate{s, c.Dump})
			}
		}
	}
	fs = append(fs, r.problems...)
	for i, slot := range []**config.Source{&o.Injection, &o.Values, &o.Mesh} {
		part := []string{"the injection config", "values", "a mesh config"}[i]
		all := parts[i]
		slices.SortStableFunc(all, func(a, b candidate) int { return boolOrder(b.dump) - boolOrder(a.dump) })
		for j, c := range all {
			switch {
			case j == 0 && *slot == nil:
				*slot = c.source
			case j > 0 && c.dump == all[0].dump:
				fs = append(fs, policy.Finding{
					Code: config.CodeChoice, Severity: policy.Error, Position: policy.Position{File: c.source.Name},
					Message: fmt.Sprintf("%s holds %s too", all[0].source.Name, part), Hint: "give only one of the two files",
				})
			default:
				taken := *slot
				fs = append(fs, policy.Finding{
					Code: config.CodeSuspicious, Severity: policy.Info, Position: policy.Position{File: c.source.Name},
					Message: fmt.Sprintf("not used: %s holds %s, in its effective form", taken.Name, part),
				})
			}
		}
	}
	return fs
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// chartValues is the values file of an unpacked chart where a folder with one is named, else the name itself.
func chartValues(name string) string {
	if exists(filepath.Join(name, "Chart.yaml")) {
		return filepath.Join(name, "values.yaml")
	}
	return name
}

// written is a file that a config command makes.
type written struct {
	name string
	data []byte
}

// writeFolder writes files into a folder, each in one step, all or none.
func writeFolder(ctx context.Context, dir string, list []written) []policy.Finding {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return []policy.Finding{{
			Code: files.CodeConflict, Severity: policy.Error, Position: policy.Position{File: slashed(dir)},
			Message: "this is a file, and a folder is to be written", Hint: "name a folder: -o mesh/",
		}}
	}
	var rs []files.Replacement
	for _, w := range list {
		path := filepath.Join(dir, w.name)
		rs = append(rs, files.Replacement{Name: slashed(path), Path: path, Content: files.Bytes(w.data)})
	}
	result, fs := files.Replace(ctx, files.System{}, rs)
	return append(fs, result.Notices...)
}

// engineText says in a few words what a configuration is for, and why.
func (l *loaded) engineText() string {
	kind := "Istio "
	if l.bundle.Injection.Legacy != nil {
		kind = "legacy engine, Istio "
	}
	return kind + l.bundle.Istio.Version.String() + " (" + l.bundle.Istio.Reason + ")"
}

// templateText counts templates.
func templateText(names []string) string {
	switch len(names) {
	case 0:
		return "one legacy template"
	case 1:
		return "template " + names[0]
	}
	return "templates " + strings.Join(names, ", ")
}
