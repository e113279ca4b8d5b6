package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot makes the command tree.
func newRoot(p *Process) *cobra.Command {
	root := newInject(p)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetGlobalNormalizationFunc(normalize)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(p, cmd, err) })
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { help(p, cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { help(p, cmd); return nil })
	root.AddCommand(
		newUninject(p),
		newDiff(p),
		newFn(p),
		newConfig(p),
		newLint(p),
		newVersion(p),
		newExplain(p),
		newLifecycle(p),
	)
	return root
}

// dumpAdvice is the line to run once, and the flag that takes what it wrote.
const dumpAdvice = "run once: kubectl -n istio-system get configmap istio-sidecar-injector istio -o yaml > mesh.yaml; then use --config-from mesh.yaml"

// clusterFlags are the flags of istioctl kube-inject that need a cluster, each with what to do instead.
func clusterFlags() map[string]string {
	return map[string]string{
		"inject-config-map-name": dumpAdvice,
		"mesh-config-map-name": "run once: kubectl -n istio-system get configmap istio -o jsonpath='{.data.mesh}' > mesh.yaml; " +
			"then use --mesh-config-file mesh.yaml",
		"kubeconfig": dumpAdvice, "context": dumpAdvice, "istio-namespace": dumpAdvice, "as": dumpAdvice, "as-group": dumpAdvice,
		"kubeclient-timeout": dumpAdvice, "webhook-config": dumpAdvice,
	}
}

// normalize accepts the camelCase spelling of every flag, so that an istioctl kube-inject line runs as it is.
func normalize(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if strings.IndexFunc(name, unicode.IsUpper) < 0 {
		return pflag.NormalizedName(name)
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('-')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	if b.String() == "operator-file-name" {
		// istioctl lays an IstioOperator over the values; that is what --values-file does with one.
		return "values-file"
	}
	return pflag.NormalizedName(b.String())
}

// flagError explains a flag that does not exist: by what to do without a cluster, or by the nearest flag.
func flagError(p *Process, cmd *cobra.Command, err error) error {
	see := "see " + p.spelt(cmd.CommandPath()) + " --help"
	text := err.Error()
	name, ok := strings.CutPrefix(text, "unknown flag: --")
	if !ok {
		return valueError(see, text)
	}
	plain := string(normalize(nil, name))
	if advice, ok := clusterFlags()[plain]; ok {
		return usagef(advice, "--%s needs a cluster, and inject never asks one", name)
	}
	if near := nearestFlag(cmd.Flags(), plain); near != "" {
		return usagef("did you mean --"+near+"?", "unknown flag --%s", name)
	}
	return usagef(see, "unknown flag --%s", name)
}

// valueError explains a letter that is no flag, a value that is none and one that is missing.
func valueError(see, text string) error {
	if rest, ok := strings.CutPrefix(text, "unknown shorthand flag: "); ok {
		letter := strings.Trim(rest[:strings.IndexByte(rest, ' ')], "'")
		if letter == "c" {
			return usagef(dumpAdvice, "-c is istioctl's --kubeconfig, which needs a cluster, and inject never asks one")
		}
		return usagef(see, "unknown flag -%s", letter)
	}
	if rest, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		flag := rest
		if _, short, ok := strings.Cut(rest, " in "); ok {
			flag = short
		}
		return usagef(see, "%s needs a value behind it", flag)
	}
	if rest, ok := strings.CutPrefix(text, "invalid argument "); ok {
		value, rest, _ := strings.Cut(rest, " for ")
		flag, why, _ := strings.Cut(rest, " flag: ")
		flag = strings.Trim(flag, `"`)
		switch {
		case flag == "-i, --in-place":
			return usagef(inPlaceHint, "-i takes no value: %s", value)
		case why == emptyName:
			return usagef("is a variable of the shell empty?", "%s: %s", flag, emptyName)
		case strings.Contains(why, "ParseBool"):
			return usagef("write the flag alone, or =true or =false", "%s: %s is neither true nor false", flag, value)
		case strings.Contains(why, "ParseInt"):
			return usagef("write a number", "%s: %s is no number", flag, value)
		}
		return usagef(see, "%s: %s: %s", flag, value, why)
	}
	return usagef(see, "%s", text)
}

// help prints the page of a command, in kubectl's manner.
func help(p *Process, cmd *cobra.Command) {
	w := cmd.OutOrStdout()
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(text), p.spelt(cmd.UseLine()))
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", p.speltAll(strings.Trim(cmd.Example, "\n")))
	}
	helpCommands(w, cmd)
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", flags.FlagUsages())
	}
	if cmd.HasParent() {
		return
	}
	fmt.Fprintf(w, "\nExit status: 0 done; 1 diff, lint, lifecycle --at-most or --check found something; 2 wrong usage or bad input, nothing written.\n"+
		"An argument @FILE stands for the flags in FILE, one a line.\n")
}

func helpCommands(w io.Writer, cmd *cobra.Command) {
	first := true
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() && c.Name() != "help" {
			continue
		}
		if first {
			fmt.Fprint(w, "\nCommands:\n")
			first = false
		}
		fmt.Fprintf(w, "  %-12s %s\n", c.Name(), c.Short)
	}
}

// spelt names the program as it was called.
func (p *Process) spelt(line string) string {
	if rest, ok := strings.CutPrefix(line, "inject"); ok {
		return p.name() + rest
	}
	return line
}

func (p *Process) speltAll(text string) string {
	if p.name() == "inject" {
		return text
	}
	return strings.ReplaceAll(text, "  inject ", "  "+p.name()+" ")
}
