package lifecycle_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy/lifecycle"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/lifecycle.md")

// TestDocs holds the tables of docs/lifecycle.md to what the package says.
func TestDocs(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "lifecycle.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	for name, table := range map[string]string{"options": optionTable(), "verdicts": verdictTable()} {
		head, rest, ok := strings.Cut(want, "<!-- "+name+": ")
		comment, rest, ok2 := strings.Cut(rest, "-->\n")
		_, tail, ok3 := strings.Cut(rest, "<!-- /"+name+" -->")
		if !ok || !ok2 || !ok3 {
			t.Fatalf("no place for the table of %s", name)
		}
		want = head + "<!-- " + name + ": " + comment + "-->\n" + table + "<!-- /" + name + " -->" + tail
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Errorf("%s, use -update (-want +got):\n%s", path, d)
	}
}

func optionTable() string {
	text := "| option | type | default | meaning |\n| --- | --- | --- | --- |\n"
	for _, f := range lifecycle.Flags() {
		typ := strings.ReplaceAll(f.Type, "|", `\|`)
		if f.Repeats {
			typ += ", …"
		}
		text += fmt.Sprintf("| `--%s` | %s | %s | %s |\n", f.Name, typ, f.Default, f.Help)
	}
	return text
}

func verdictTable() string {
	text := "| verdict | severity | marks | when |\n| --- | --- | --- | --- |\n"
	for _, r := range lifecycle.Ranks() {
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", r.ID, r.Severity, r.Spoils, r.Help)
	}
	return text
}
