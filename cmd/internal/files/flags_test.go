package files

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpandFlags(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"flags":   "# all we need\n\n--profile deploy/mesh\n  -n shop  \n--set=a.b=c d\n--set a=b c \"d\"\n--strict\nextra.yaml\n--",
		"windows": "\ufeff--strict\r\n-R\r\n",
		"nested":  "--strict\n\n@flags\n",
		"empty":   "",
		"comment": "  # nothing\n",
		"dir/":    "",
		"huge":    strings.Repeat("#", maxFlagsFile+1),
	})
	tests := map[string]struct {
		args     []string
		want     []string
		problems string
	}{
		"none":                 {args: []string{"-f", "a@b", "x"}, want: []string{"-f", "a@b", "x"}},
		"kept in place":        {args: []string{"diff", "@windows", "a.yaml"}, want: []string{"diff", "--strict", "-R", "a.yaml"}},
		"values":               {args: []string{"@flags"}, want: []string{"--profile", "deploy/mesh", "-n", "shop", "--set=a.b=c d", "--set", `a=b c "d"`, "--strict", "extra.yaml", "--"}},
		"two files":            {args: []string{"@windows", "@windows"}, want: []string{"--strict", "-R", "--strict", "-R"}},
		"nothing in it":        {args: []string{"@empty", "@comment", "x"}, want: []string{"x"}},
		"behind the double":    {args: []string{"-R", "--", "@windows"}, want: []string{"-R", "--", "@windows"}},
		"another in it":        {args: []string{"@nested"}, want: []string{"--strict"}, problems: "E_USAGE nested:3:1"},
		"missing":              {args: []string{"@nope"}, problems: "E_IO nope"},
		"a folder":             {args: []string{"@dir"}, problems: "E_IO dir"},
		"too large":            {args: []string{"@huge"}, problems: "E_IO huge"},
		"no name":              {args: []string{"@"}, problems: "E_USAGE"},
		"all problems at once": {args: []string{"@", "@nope", "@nested"}, want: []string{"--strict"}, problems: "E_USAGE E_IO nope E_USAGE nested:3:1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string(nil), test.args...)
			for i, arg := range args {
				if file, ok := strings.CutPrefix(arg, "@"); ok && file != "" && (i == 0 || args[i-1] != "--") {
					args[i] = "@" + filepath.Join(root, file)
				}
			}
			got, problems := ExpandFlags(args)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			var found []string
			for _, f := range problems {
				place := strings.TrimPrefix(f.Position.String(), filepath.ToSlash(root)+"/")
				found = append(found, strings.TrimSpace(f.Code+" "+place))
			}
			if diff := cmp.Diff(test.problems, strings.Join(found, " ")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
