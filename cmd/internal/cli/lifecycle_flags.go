package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// lifecycleFlags are the flags of lifecycle alone.
type lifecycleFlags struct {
	options            lifecycle.Options
	output, outputFile string
	details            bool
	compare            []string
	atMost             string
	asIs               bool
}

// flagGroup is a part of a help page.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups makes the flags in the order of the help page.
func (o *lifecycleOptions) flagGroups() []flagGroup {
	set := func(register ...func(*pflag.FlagSet)) *pflag.FlagSet {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		for _, r := range register {
			r(fs)
		}
		return fs
	}
	estimates := set(o.registerEstimates)
	estimates.SortFlags = false
	what := set(o.inputFlags.register, o.registerOutput)
	what.SortFlags = false
	return []flagGroup{
		{"Flags", what},
		{"Estimates, for what a manifest cannot tell", estimates},
		{"Configuration, as for inject", set(o.configFlags.register)},
		{"Report", set(o.reportFlags.register)},
	}
}

func (o *lifecycleFlags) registerOutput(fs *pflag.FlagSet) {
	fs.StringVarP(&o.output, "output", "o", "text", "`format` ("+strings.Join(lifecycleFormats(), ", ")+") or file, whose ending says the format")
	fs.StringVar(&o.outputFile, "output-file", "", "`file` to write to, whatever its name")
	fs.StringSliceVar(&o.compare, "compare", nil, "play each pod in several `variants` side by side: "+strings.Join(lifecycle.Variants(), ", "))
	fs.StringVar(&o.atMost, "at-most", "", "exit 1 when a verdict is worse than this `severity`: info, warning or error")
	fs.BoolVar(&o.asIs, "as-is", false, "inject nothing in memory: play each pod as it stands")
	fs.BoolVar(&o.details, "details", false, "JSON: the edits of each remedy and the sensitivity, too")
}

// registerEstimates adds the options of the simulator. Both versions are flags of the configuration already.
func (o *lifecycleFlags) registerEstimates(fs *pflag.FlagSet) {
	for _, f := range lifecycle.Flags() {
		if f.Name == "kube-version" || f.Name == "istio-version" {
			continue
		}
		added := fs.VarPF(&lifecycleFlag{f, &o.options}, f.Name, "", f.Help)
		if f.Type == "bool" {
			added.NoOptDefVal = "true"
		}
	}
}

// lifecycleFlag is an option of the simulator on the command line.
type lifecycleFlag struct {
	flag    lifecycle.Flag
	options *lifecycle.Options
}

// String gives the default, which is all that help texts ask for.
func (f *lifecycleFlag) String() string { return f.flag.Default }

// Type names the argument in usage texts.
func (f *lifecycleFlag) Type() string { return f.flag.Type }

// Set reads a value. The message around an error names the value already.
func (f *lifecycleFlag) Set(text string) error {
	err := f.flag.Set(f.options, text)
	if err == nil {
		return nil
	}
	if rest, ok := strings.CutPrefix(err.Error(), strconv.Quote(text)+" "); ok {
		return errors.New(strings.TrimPrefix(rest, "is "))
	}
	return err
}

// namedContainer is a container that a flag names.
type namedContainer struct{ flag, name string }

// containerNames are the containers that estimates speak of, sorted.
func (o *lifecycleFlags) containerNames() []namedContainer {
	var out []namedContainer
	for name := range o.options.InitDuration.ByName {
		out = append(out, namedContainer{"init-duration", name})
	}
	for name := range o.options.AppShutdown.ByName {
		out = append(out, namedContainer{"app-shutdown", name})
	}
	for hook := range o.options.Hooks {
		name, _, _ := strings.Cut(hook, ".")
		out = append(out, namedContainer{"hook", name})
	}
	for _, name := range o.options.InitNetwork {
		out = append(out, namedContainer{"init-network", name})
	}
	slices.SortFunc(out, func(a, b namedContainer) int { return strings.Compare(a.flag+" "+a.name, b.flag+" "+b.name) })
	return out
}

// helpWidth is where the lines of flags are wrapped.
const helpWidth = 100

// groupedHelp prints the page of a command with many flags, in parts.
func groupedHelp(p *Process, cmd *cobra.Command, groups []flagGroup) {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(cmd.Long), p.spelt(cmd.UseLine()))
	fmt.Fprintf(w, "\nExamples:\n%s\n", p.speltAll(strings.Trim(cmd.Example, "\n")))
	for _, g := range groups {
		fmt.Fprintf(w, "\n%s:\n%s", g.title, g.flags.FlagUsagesWrapped(helpWidth))
	}
	fmt.Fprint(w, "\nDurations are written 1.5s, 2m or 300ms; never where that is allowed.\n"+
		"Exit status: 0 done; 1 a verdict is worse than --at-most; 2 wrong usage or bad input, nothing written.\n")
}
