package manifest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
)

// ours are the codes that this package gives; the others belong to the shape of workloads.
func ours(code string) bool {
	return slices.Contains([]string{
		"E_ENCODING", "E_SYNTAX", "E_SEPARATOR", "E_TEMPLATE", "E_DUPKEY", "E_ALIAS", "E_LIMIT",
	}, code)
}

// readFile splits, sniffs and parses a whole file.
func readFile(file string, data []byte) (docs []Document, parsed map[int]*Parsed, fs []policy.Finding) {
	text, _, f := Decode(file, data)
	if f != nil {
		return nil, nil, []policy.Finding{*f}
	}
	docs, fs = Split(file, text)
	parsed = map[int]*Parsed{}
	for i, d := range docs {
		if c, _ := d.Sniff(sniffSet()); c == Pass || d.facts.bad >= 0 {
			continue
		}
		p, found := d.Parse()
		fs = append(fs, found...)
		if p != nil {
			parsed[i] = p
		}
	}
	return docs, parsed, policy.SortFindings(fs)
}

func TestNastyErrors(t *testing.T) {
	t.Parallel()
	for _, dir := range nastyCases(t, "") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			file, input, e := readCase(t, dir)
			_, _, fs := readFile(file, input)
			var errs []policy.Finding
			for _, f := range fs {
				if f.Severity == policy.Error {
					errs = append(errs, f)
				}
			}
			if e.Result != "error" || !ours(e.ErrorCode) {
				if len(errs) > 0 {
					t.Errorf("unexpected: %v", errs)
				}
				if e.WarningContains != "" && slices.Contains([]string{"other-json-array", "doc-bare-after-end", "doc-custom-tag-workload"}, filepath.Base(dir)) {
					if !slices.ContainsFunc(fs, func(f policy.Finding) bool { return strings.Contains(f.Message, e.WarningContains) }) {
						t.Errorf("no notice with %q in %v", e.WarningContains, fs)
					}
				}
				return
			}
			if len(errs) == 0 {
				t.Fatal("no error found")
			}
			if !matchesFinding(errs[0], e) {
				t.Errorf("got %v (%s)\nwant line %d column %d code %s with %q", errs[0], errs[0].Hint, e.ErrorLine, e.ErrorColumn, e.ErrorCode, e.ErrorContains)
			}
		})
	}
}
