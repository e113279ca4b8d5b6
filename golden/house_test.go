package golden

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kube-inject/inject/"

// arrows is the table of allowed imports between packages of this module: cmd → transform → policy, never back. Do not
// add an arrow to get a build through: ask first whether the code stands in the right room.
func arrows() map[string][]string {
	return map[string][]string{
		"policy":                   {},
		"policy/lint":              {"policy", "policy/lifecycle"},
		"policy/lifecycle":         {"policy"},
		"transform/manifest":       {"policy"},
		"transform/workload":       {"policy", "transform/manifest"},
		"transform/template":       {"policy"},
		"transform/typed":          {"transform/manifest"},
		"transform/config":         {"policy"},
		"transform/config/profile": {"policy"},
		"transform/pod":            {"policy", "transform/template", "transform/typed"},
		"transform/pod/legacy":     {"policy", "transform/template"},
		"transform": {
			"policy", "policy/lint", "policy/lifecycle", "transform/config", "transform/config/profile", "transform/manifest",
			"transform/pod", "transform/pod/legacy", "transform/template", "transform/typed", "transform/workload",
		},
		"cmd/internal/files": {"policy"},
		"cmd/internal/print": {"policy", "policy/lint", "policy/lifecycle", "transform"},
		"cmd/internal/cli": {
			"policy", "policy/lint", "policy/lifecycle", "transform", "transform/config", "transform/config/profile",
			"transform/manifest", "transform/pod", "transform/workload", "transform/typed", "cmd/internal/files", "cmd/internal/print",
		},
		"cmd/inject": {"cmd/internal/cli"},
		"golden":     {},
	}
}

// source is one Go file of the module, tests left out.
type source struct {
	path, pkg string
	file      *ast.File
	set       *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	for _, top := range []string{"cmd", "transform", "policy", "golden"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel("..", name)
			out = append(out, source{filepath.ToSlash(rel), path.Dir(filepath.ToSlash(rel)), f, set})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestHouseArrows(t *testing.T) {
	t.Parallel()
	table := arrows()
	for _, s := range sources(t) {
		allowed, known := table[s.pkg]
		if !known {
			t.Errorf("%s: package %s is not in the table of arrows", s.path, s.pkg)
			continue
		}
		for _, spec := range s.file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if rest, ours := strings.CutPrefix(name, module); ours && !slices.Contains(allowed, rest) {
				t.Errorf("%s imports %s: not an arrow of the house", s.path, rest)
			}
			if name == "net" || name == "net/http" || name == "os/exec" || name == "math/rand" {
				t.Errorf("%s imports %s: nothing here asks a network, another program or chance", s.path, name)
			}
		}
	}
}

// TestHouseStreams holds that only main touches exit, standard streams, arguments and environment.
func TestHouseStreams(t *testing.T) {
	t.Parallel()
	forbidden := []string{"Exit", "Stdin", "Stdout", "Stderr", "Args", "Getenv", "LookupEnv", "Environ"}
	for _, s := range sources(t) {
		if s.pkg == "cmd/inject" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && x.Obj == nil && slices.Contains(forbidden, sel.Sel.Name) {
				t.Errorf("%s: os.%s belongs to cmd/inject", s.set.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

// TestHouseInit holds that there is no init function, and no package variable but embedded files and values made once.
func TestHouseInit(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					t.Errorf("%s: init functions register behind the reader's back", s.set.Position(d.Pos()))
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					checkVar(t, s, d)
				}
			}
		}
	}
}

func checkVar(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	embedded := d.Doc != nil && strings.Contains(docText(d.Doc), "go:embed")
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		if embedded || v.Doc != nil && strings.Contains(docText(v.Doc), "go:embed") {
			continue
		}
		for i, name := range v.Names {
			if name.Name == "_" || i < len(v.Values) && constant(v.Values[i]) {
				continue
			}
			t.Errorf("%s: package variable %s", s.set.Position(name.Pos()), name.Name)
		}
	}
}

func docText(g *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range g.List {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

// constant tells whether a variable's value never changes by convention: errors, values made once, compiled patterns and
// tables of literals.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		var name string
		switch f := e.Fun.(type) {
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok {
				name = x.Name + "." + f.Sel.Name
			}
		case *ast.Ident:
			name = f.Name
		case *ast.ArrayType:
			return true // a text as bytes
		}
		return slices.Contains([]string{
			"errors.New", "fmt.Errorf", "sync.OnceValue", "sync.OnceValues", "regexp.MustCompile", "strings.NewReplacer",
		}, name)
	case *ast.CompositeLit, *ast.BasicLit:
		return true
	}
	return false
}

// TestHouseDocs holds that every package says what it promises, and every export what it is.
func TestHouseDocs(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.file.Doc != nil {
			documented[s.pkg] = true
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || exportedReceiver(d)) {
					t.Errorf("%s: %s has no doc", s.set.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				checkDocs(t, s, d)
			}
		}
	}
	for pkg := range arrows() {
		if _, err := os.Stat(filepath.Join("..", pkg)); err == nil && !documented[pkg] {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func checkDocs(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	if d.Tok == token.IMPORT || d.Doc != nil {
		return
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil {
				t.Errorf("%s: %s has no doc", s.set.Position(spec.Pos()), spec.Name.Name)
			}
		case *ast.ValueSpec:
			if spec.Names[0].IsExported() && spec.Doc == nil && spec.Comment == nil {
				t.Errorf("%s: %s has no doc", s.set.Position(spec.Pos()), spec.Names[0].Name)
			}
		}
	}
}
