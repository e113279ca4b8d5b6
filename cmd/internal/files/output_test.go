package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsFolder(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"d/a": "1", "f": "1", "l": "->d"})
	for name, want := range map[string]bool{"d": true, "d/": true, "new/": true, "new": false, "f": false, "l": true} {
		if got := IsFolder(root + "/" + name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if IsFolder("") {
		t.Error("the empty name is no folder")
	}
}

func TestConflict(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a.yaml": "1", "b.yaml": "2", "link.yaml": "->a.yaml", "d/x": "x"})
	if err := os.Link(filepath.Join(root, "a.yaml"), filepath.Join(root, "hard.yaml")); err != nil {
		t.Fatal(err)
	}
	inputs, _, _ := Inputs{}.Resolve([]string{filepath.Join(root, "a.yaml")})
	for name, want := range map[string]bool{
		"a.yaml": true, "d/../a.yaml": true, "link.yaml": true, "hard.yaml": true, "b.yaml": false, "new.yaml": false, "d": false,
	} {
		f := Conflict(inputs, filepath.Join(root, name))
		if (f != nil) != want {
			t.Errorf("%s: %v", name, f)
		}
		if f != nil && (f.Code != CodeConflict || !strings.Contains(f.Hint, "-i")) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	// Standard input that is a file counts too.
	stdin, err := os.Open(filepath.Join(root, "a.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	inputs, _, _ = Inputs{Stdin: stdin}.Resolve(nil)
	if Conflict(inputs, filepath.Join(root, "link.yaml")) == nil {
		t.Error("standard input is overwritten")
	}
}

func TestFolderTargets(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"in/a.yaml": "1", "in/s/a.yaml": "2", "two/a.yaml": "3", "out/b.yaml": "4", "file": "5"})
	resolve := func(names ...string) []Input {
		for i := range names {
			names[i] = filepath.Join(root, names[i])
		}
		inputs, _, problems := Inputs{Recursive: true, WorkDir: root}.Resolve(names)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return inputs
	}
	tests := map[string]struct {
		inputs   []Input
		folder   string
		targets  string
		problems string
	}{
		"a folder":           {resolve("in"), "new", "new/a.yaml new/s/a.yaml", ""},
		"two folders":        {resolve("in", "out"), "new", "new/a.yaml new/s/a.yaml new/b.yaml", ""},
		"two with one name":  {resolve("in", "two"), "new", "new/a.yaml new/s/a.yaml new/a.yaml", "E_CONFLICT new/a.yaml"},
		"over the input":     {resolve("out"), "out", "out/b.yaml", "E_CONFLICT out/b.yaml"},
		"below no folder":    {resolve("in"), "file", "file/a.yaml file/s/a.yaml", "E_IO file"},
		"over another input": {resolve("in/s/a.yaml", "out"), "in/s", "in/s/a.yaml in/s/b.yaml", "E_CONFLICT in/s/a.yaml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			targets, problems := FolderTargets(test.inputs, filepath.Join(root, test.folder))
			slashed := filepath.ToSlash(root) + "/"
			got := []string{
				strings.ReplaceAll(filepath.ToSlash(strings.Join(targets, " ")), slashed, ""),
				strings.ReplaceAll(strings.Join(codes(problems), " "), slashed, ""),
			}
			if diff := cmp.Diff([]string{test.targets, test.problems}, got); diff != "" {
				t.Errorf("targets, problems (-want +got):\n%s", diff)
			}
		})
	}
	stdin, _, _ := Inputs{Stdin: strings.NewReader("")}.Resolve(nil)
	if targets, problems := FolderTargets(stdin, "out"); len(problems) > 0 || filepath.ToSlash(targets[0]) != "out/stdin.yaml" {
		t.Errorf("standard input goes to %v %v", targets, problems)
	}
}
