package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kube-inject/inject/policy"
)

// nearestFlag gives the flag with the most similar name, empty where none is similar.
func nearestFlag(fs *pflag.FlagSet, name string) string {
	best, limit := "", max(1, len(name)/3)
	fs.VisitAll(func(f *pflag.Flag) {
		if d := policy.Distance(name, f.Name, limit); d <= limit && !f.Hidden {
			if best == "" || d < policy.Distance(name, best, limit) {
				best = f.Name
			}
		}
	})
	return best
}

// nearestCommand gives the command with the most similar name, empty where none is similar.
func nearestCommand(cmd *cobra.Command, name string) string {
	best, limit := "", max(1, len(name)/3)
	for _, c := range cmd.Commands() {
		if d := policy.Distance(name, c.Name(), limit); d <= limit && c.IsAvailableCommand() {
			best, limit = c.Name(), d-1
		}
	}
	return best
}
