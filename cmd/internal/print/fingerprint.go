package print

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// fingerprints gives each finding a name that stays when lines move: a hash of rule, file, object and field. Repeats
// get an ordinal, as readers take findings with one fingerprint for one finding. The findings must be sorted.
func fingerprints(findings []policy.Finding, o Options) []string {
	seen := make(map[string]int)
	out := make([]string, len(findings))
	for i, f := range findings {
		parts := []string{f.Code, o.file(f.Position.File), objectName(f.Resource), f.Field}
		key := strings.Join(parts, "\x00")
		seen[key]++
		if n := seen[key]; n > 1 {
			parts = append(parts, strconv.Itoa(n))
		}
		sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
		out[i] = hex.EncodeToString(sum[:16])
	}
	return out
}
