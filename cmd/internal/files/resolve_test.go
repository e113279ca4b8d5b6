package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

// tree makes files below a new folder; a name that ends in / is a folder, a text that starts with -> a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := strings.CutPrefix(text, "->"); isLink {
			err = os.Symlink(target, path)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o777)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// codes prints findings as "CODE file", the file relative to the root of the test.
func codes(findings []policy.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, strings.TrimSpace(f.Code+" "+f.Position.File))
	}
	return out
}

func manifests() map[string]string {
	return map[string]string{
		"m/b.yaml":          "b",
		"m/a.yml":           "a",
		"m/B.json":          "{}",
		"m/note.txt":        "t",
		"m/.hidden.yaml":    "h",
		"m/.git/c.yaml":     "g",
		"m/sub/c.yaml":      "c",
		"m/sub/deep/d.yaml": "d",
		"m/sub.yaml":        "s",
		"m/linked.yaml":     "->../outside.yaml",
		"m/linkedfolder":    "->../other",
		"outside.yaml":      "o",
		"other/x.yaml":      "x",
		"dangling/l.yaml":   "->nowhere",
		"empty/":            "",
		"onlysub/s/e.yaml":  "e",
		"[x].yaml":          "x",
		"app.JSON":          "{}",
		"same":              "->m",
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	root := tree(t, manifests())
	if err := os.Link(filepath.Join(root, "outside.yaml"), filepath.Join(root, "hard.yaml")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		in       Inputs
		args     []string
		names    string
		notices  string
		problems string
	}{
		"a file":                 {args: []string{"outside.yaml"}, names: "outside.yaml"},
		"dots are cleaned":       {args: []string{"./m/../outside.yaml"}, names: "outside.yaml"},
		"order of arguments":     {args: []string{"outside.yaml", "m/a.yml"}, names: "outside.yaml m/a.yml"},
		"no comma":               {args: []string{"m/a.yml,m/b.yaml"}, problems: "E_NOINPUT m/a.yml,m/b.yaml"},
		"any extension":          {args: []string{"m/note.txt"}, names: "m/note.txt"},
		"json is strict":         {args: []string{"m/B.json"}, names: "m/B.json(json)"},
		"upper case is not json": {args: []string{"app.JSON"}, names: "app.JSON"},
		"a folder in byte order": {
			args: []string{"m"}, names: "m/B.json(json) m/a.yml m/b.yaml m/linked.yaml m/sub.yaml",
		},
		"a folder with a slash": {
			args: []string{"m/"}, names: "m/B.json(json) m/a.yml m/b.yaml m/linked.yaml m/sub.yaml",
		},
		"recursive": {
			in: Inputs{Recursive: true}, args: []string{"m"},
			names: "m/B.json(json) m/a.yml m/b.yaml m/linked.yaml m/sub.yaml m/sub/c.yaml m/sub/deep/d.yaml",
		},
		"hidden when named":         {args: []string{"m/.hidden.yaml"}, names: "m/.hidden.yaml"},
		"hidden folder when named":  {args: []string{"m/.git"}, names: "m/.git/c.yaml"},
		"linked folder when named":  {args: []string{"same/sub"}, names: "same/sub/c.yaml"},
		"link to a folder as named": {in: Inputs{Recursive: true}, args: []string{"same"}, names: "same/B.json(json) same/a.yml same/b.yaml same/linked.yaml same/sub.yaml same/sub/c.yaml same/sub/deep/d.yaml"},
		"dangling link in a folder": {args: []string{"dangling"}, problems: "E_NOINPUT dangling/l.yaml"},
		"dangling link":             {args: []string{"dangling/l.yaml"}, problems: "E_NOINPUT dangling/l.yaml"},
		"empty folder":              {args: []string{"empty"}, problems: "E_NOINPUT empty"},
		"folder of folders":         {args: []string{"onlysub"}, problems: "E_NOINPUT onlysub"},
		"no such file":              {args: []string{"nope.yaml"}, problems: "E_NOINPUT nope.yaml"},
		"pattern":                   {args: []string{"m/*.y*"}, names: "m/a.yml m/b.yaml m/linked.yaml m/sub.yaml"},
		"pattern of hidden":         {args: []string{"m/.*.yaml"}, names: "m/.hidden.yaml"},
		"pattern of folders":        {args: []string{"m/*/*.yaml"}, names: "m/linkedfolder/x.yaml m/sub/c.yaml"},
		"pattern with class":        {args: []string{"m/[ab].y*ml"}, names: "m/a.yml m/b.yaml"},
		"pattern without match":     {args: []string{"m/*.nope"}, problems: "E_NOINPUT m/*.nope"},
		"pattern of a folder only":  {args: []string{"onlysu?"}, problems: "E_NOINPUT onlysu?"},
		"malformed pattern":         {args: []string{"m/[a"}, problems: "E_USAGE m/[a"},
		"name looks like a pattern": {args: []string{"[x].yaml"}, names: "[x].yaml"},
		"url":                       {args: []string{"https://example.com/a.yaml"}, problems: "E_URL https://example.com/a.yaml"},
		"url in capitals":           {args: []string{"HTTP://example.com/a.yaml"}, problems: "E_URL HTTP://example.com/a.yaml"},
		"twice":                     {args: []string{"m/a.yml", "m/a.yml"}, names: "m/a.yml", notices: "I_SAMEFILE m/a.yml"},
		"twice by a link": {
			args: []string{"outside.yaml", "m/linked.yaml"}, names: "outside.yaml", notices: "I_SAMEFILE m/linked.yaml",
		},
		"twice by a hard link": {
			args: []string{"hard.yaml", "outside.yaml"}, names: "hard.yaml", notices: "I_SAMEFILE outside.yaml",
		},
		"twice by a folder": {
			args: []string{"m/sub.yaml", "m"}, names: "m/sub.yaml m/B.json(json) m/a.yml m/b.yaml m/linked.yaml",
			notices: "I_SAMEFILE m/sub.yaml",
		},
		"empty name":           {args: []string{""}, problems: "E_USAGE"},
		"all problems at once": {args: []string{"nope", "http://x/", "m/a.yml"}, names: "m/a.yml", problems: "E_NOINPUT nope E_URL http://x/"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := make([]string, len(test.args))
			for i, arg := range test.args {
				args[i] = arg
				if arg != "" && !isURL(arg) {
					args[i] = filepath.ToSlash(root) + "/" + arg
				}
			}
			test.in.WorkDir = root
			inputs, notices, problems := test.in.Resolve(args)
			var names []string
			for _, input := range inputs {
				if input.JSON {
					input.Name += "(json)"
				}
				names = append(names, input.Name)
			}
			want := []string{test.names, test.notices, test.problems}
			got := []string{strings.Join(names, " "), strings.Join(codes(notices), " "), strings.Join(codes(problems), " ")}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("inputs, notices, problems (-want +got):\n%s", diff)
			}
			for _, f := range notices {
				if f.Severity != policy.Info {
					t.Errorf("notice of severity %v", f.Severity)
				}
			}
			for _, f := range problems {
				if f.Severity != policy.Error || f.Message == "" {
					t.Errorf("problem without weight or text: %+v", f)
				}
			}
		})
	}
}

func TestResolveStdin(t *testing.T) {
	t.Parallel()
	text := strings.NewReader("kind: Pod")
	tests := map[string]struct {
		in       Inputs
		args     []string
		names    string
		problems string
	}{
		"no name":           {in: Inputs{Stdin: text}, names: "<stdin>"},
		"dash":              {in: Inputs{Stdin: text}, args: []string{"-"}, names: "<stdin>"},
		"device":            {in: Inputs{Stdin: text}, args: []string{"/dev/stdin"}, names: "<stdin>"},
		"terminal":          {in: Inputs{Stdin: text, StdinTerminal: true}, problems: "E_USAGE"},
		"terminal by dash":  {in: Inputs{Stdin: text, StdinTerminal: true}, args: []string{"-"}, names: "<stdin>"},
		"twice":             {in: Inputs{Stdin: text}, args: []string{"-", "-"}, names: "<stdin>", problems: "E_USAGE <stdin>"},
		"twice, two ways":   {in: Inputs{Stdin: text}, args: []string{"/dev/stdin", "-"}, names: "<stdin>", problems: "E_USAGE <stdin>"},
		"in place":          {in: Inputs{Stdin: text, InPlace: true}, args: []string{"-"}, problems: "E_USAGE <stdin>"},
		"in place, no name": {in: Inputs{Stdin: text, InPlace: true}, problems: "E_USAGE <stdin>"},
		"closed":            {args: []string{"-"}, problems: "E_IO <stdin>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs, _, problems := test.in.Resolve(test.args)
			var names []string
			for _, input := range inputs {
				names = append(names, input.Name)
				if !input.Stream {
					t.Error("standard input is no stream")
				}
			}
			got := []string{strings.Join(names, " "), strings.Join(codes(problems), " ")}
			if diff := cmp.Diff([]string{test.names, test.problems}, got); diff != "" {
				t.Errorf("inputs, problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveHintsRecursion(t *testing.T) {
	t.Parallel()
	root := tree(t, manifests())
	_, _, problems := Inputs{}.Resolve([]string{filepath.Join(root, "onlysub"), filepath.Join(root, "empty")})
	if len(problems) != 2 || !strings.Contains(problems[0].Hint, "-R") || problems[1].Hint != "" {
		t.Errorf("want the hint for the folder of folders alone: %+v", problems)
	}
}

// Where a name is relative it stays, and where it points above the working directory it keeps its shape.
func TestResolveNamesAndTargets(t *testing.T) {
	t.Parallel()
	root := tree(t, manifests())
	tests := map[string]struct{ arg, name, rel string }{
		"named by absolute path":  {"/outside.yaml", "outside.yaml", "outside.yaml"},
		"below a folder":          {"/m/sub/deep/d.yaml", "m/sub/deep/d.yaml", "d.yaml"},
		"folder gives a subpath":  {"/onlysub", "onlysub/s/e.yaml", "s/e.yaml"},
		"pattern gives base name": {"/m/sub/*.yaml", "m/sub/c.yaml", "c.yaml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs, _, problems := Inputs{WorkDir: root, Recursive: true}.Resolve([]string{filepath.ToSlash(root) + test.arg})
			if len(problems) > 0 || len(inputs) != 1 {
				t.Fatal(inputs, problems)
			}
			got := []string{inputs[0].Name, filepath.ToSlash(inputs[0].Rel)}
			if diff := cmp.Diff([]string{test.name, test.rel}, got); diff != "" {
				t.Errorf("name, target (-want +got):\n%s", diff)
			}
		})
	}
	for arg, want := range map[string]string{"a/b.yaml": "a/b.yaml", "./a.yaml": "a.yaml", "../a.yaml": "a.yaml", "/x/a.yaml": "a.yaml"} {
		if got := filepath.ToSlash(localOrBase(filepath.FromSlash(arg))); got != want {
			t.Errorf("target of %s is %s, want %s", arg, got, want)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a.yaml": "one"})
	path := filepath.Join(root, "a.yaml")
	inputs, _, _ := Inputs{}.Resolve([]string{path})
	// Another file takes the name between finding and opening it.
	next := filepath.Join(root, "next")
	if err := os.WriteFile(next, []byte("three"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	r, err := inputs[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil || r.Close() != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != "three" || !os.SameFile(inputs[0].Info, now) || inputs[0].Info.Size() != 5 {
		t.Errorf("read %q, Info %v", data, inputs[0].Info.Size())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = inputs[0].Open()
	if err == nil {
		t.Fatal("a file that is gone was opened")
	}
	if got, want := inputs[0].Problem(err).Message, "cannot read: no such file or directory"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// Thousands of inputs are told apart without comparing each with each.
func TestResolveManyFiles(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 2000 {
		files[fmt.Sprintf("d/%04d.yaml", i)] = strings.Repeat("x", i)
	}
	root := tree(t, files)
	inputs, notices, problems := Inputs{}.Resolve([]string{filepath.Join(root, "d"), filepath.Join(root, "d")})
	if len(inputs) != 2000 || len(notices) != 2000 || len(problems) != 0 {
		t.Errorf("%d inputs, %d notices, %d problems", len(inputs), len(notices), len(problems))
	}
}
