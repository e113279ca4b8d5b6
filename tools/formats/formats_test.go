// Package formats checks what inject prints for other programs with those programs' own rules: the SARIF schema and a
// CommonMark parser. It is a module of its own, so that none of them reaches the program.
package formats

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // its source holds the schema
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// build gives the program, built once for the test.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "inject")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./cmd/inject")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// lint runs inject lint over the bad cases of every rule, in one format.
func lint(t *testing.T, bin, format string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "golden", "lint", "*", "bad.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d bad cases, %v", len(files), err)
	}
	args := []string{"lint", "-o", format, "--fail-on", "error"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	out, err := exec.Command(bin, args...).Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	return out
}

// schema gives the text of the SARIF 2.1.0 schema from the source of a library that carries it.
func schema(t *testing.T) []byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) > len(text) {
			text = lit.Value
		}
		return true
	})
	plain, err := strconv.Unquote(text)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(plain)
}

func TestSARIFSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(lint(t, build(t), "sarif")))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(out); err != nil {
		t.Error(err)
	}
	run := out.(map[string]any)["runs"].([]any)[0].(map[string]any)
	if n := len(run["results"].([]any)); n < 40 {
		t.Errorf("only %d results", n)
	}
	// The schema can refuse: a result without a message is none.
	delete(run["results"].([]any)[0].(map[string]any), "message")
	if compiled.Validate(out) == nil {
		t.Error("a result without a message is accepted")
	}
}

func TestMarkdown(t *testing.T) {
	out := lint(t, build(t), "markdown")
	if dir := os.Getenv("FORMATS_DIR"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "lint.md"), out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var html bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(out, &html); err != nil {
		t.Fatal(err)
	}
	text := html.String()
	if strings.Count(text, "<table>") == 0 || strings.Count(text, "<td") < 100 {
		t.Errorf("the tables are no tables:\n%s", text[:min(len(text), 2000)])
	}
	for _, left := range []string{"|---", "| ---"} {
		if strings.Contains(text, left) {
			t.Errorf("%q is left in the text", left)
		}
	}
}
