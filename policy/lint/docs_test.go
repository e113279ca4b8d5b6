package lint

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/lint.md")

// TestDocs compares the reference page with the rules.
func TestDocs(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "docs", "lint.md")
	text := Docs(Rules())
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), text); d != "" {
		t.Errorf("docs/lint.md is not what the rules say; go test ./policy/lint -update writes it (-page +rules)\n%s", d)
	}
}

// TestRules: every rule is complete, and ids are what suppressions can name.
func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	id := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	for _, r := range Rules() {
		if !id.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("id %q is malformed or there twice", r.ID)
		}
		seen[r.ID] = true
		for name, text := range map[string]string{
			"category": string(r.Category), "summary": r.Summary, "why": r.Why, "remedy": r.Remedy, "bad": r.Bad, "good": r.Good,
		} {
			if text == "" {
				t.Errorf("%s: no %s", r.ID, name)
			}
		}
		if strings.HasSuffix(r.Summary, ".") || strings.Contains(r.Summary, "\n") || !strings.HasSuffix(r.Why, ".") {
			t.Errorf("%s: the summary is one line without a full stop, the why has one", r.ID)
		}
		if r.Category != Suppression && (r.check == nil && r.namespace == nil || !strings.HasPrefix(r.Link, "https://")) {
			t.Errorf("%s: no function or no link", r.ID)
		}
		if strings.Contains(r.Summary+r.Why+r.Remedy, "|") {
			t.Errorf("%s: a bar breaks the table", r.ID)
		}
	}
}
