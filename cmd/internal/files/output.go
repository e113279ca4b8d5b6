package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kube-inject/inject/policy"
)

// IsFolder tells whether an output name means one file per input: it ends in a separator or is an existing folder.
func IsFolder(name string) bool {
	if name != "" && os.IsPathSeparator(name[len(name)-1]) {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Conflict is the finding that output is the same file as an input, through whatever links, or nil. It is to be asked
// before anything is opened for writing.
func Conflict(inputs []Input, output string) *policy.Finding {
	info, err := os.Stat(output)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	for i := range inputs {
		if inputs[i].Info != nil && os.SameFile(inputs[i].Info, info) {
			f := problem(CodeConflict, filepath.ToSlash(output),
				fmt.Sprintf("output is the same file as the input %s", inputs[i].Name), "use -i to write in place")
			return &f
		}
	}
	return nil
}

// FolderTargets gives the output file of each input below folder, and a finding for each one that is an input or
// belongs to two inputs.
func FolderTargets(inputs []Input, folder string) ([]string, []policy.Finding) {
	var problems []policy.Finding
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		problems = append(problems, problem(CodeIO, filepath.ToSlash(folder), "cannot write below it: not a folder", ""))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, ioProblem(filepath.ToSlash(folder), "write below the folder", err))
	}
	targets := make([]string, len(inputs))
	owner := make(map[string]string)
	for i, input := range inputs {
		targets[i] = filepath.Join(folder, input.Rel)
		if first, taken := owner[targets[i]]; taken {
			problems = append(problems, problem(CodeConflict, filepath.ToSlash(targets[i]),
				fmt.Sprintf("two inputs have this output: %s and %s", first, input.Name), "run once for each of them"))
		}
		owner[targets[i]] = input.Name
		if f := Conflict(inputs, targets[i]); f != nil {
			problems = append(problems, *f)
		}
	}
	return targets, problems
}
