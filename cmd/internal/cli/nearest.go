package cli

import (
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
