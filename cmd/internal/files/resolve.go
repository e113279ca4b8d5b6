package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Inputs is what the names of a command line are resolved with. The zero value resolves files, without recursion.
type Inputs struct {
	// Stdin is read for "-" and where no name is given.
	Stdin io.Reader
	// StdinTerminal says that Stdin is a terminal: then it is never read unless "-" asks for it.
	StdinTerminal bool
	// Recursive descends into folders.
	Recursive bool
	// InPlace refuses every input that cannot be replaced.
	InPlace bool
	// WorkDir, where given, makes absolute names below it relative in messages.
	WorkDir string
}

// resolution is the state of one Resolve.
type resolution struct {
	Inputs
	inputs   []Input
	notices  []policy.Finding
	problems []policy.Finding
	// seen holds the inputs by facts that a file and its other names share, so that not every pair is compared.
	seen  map[fileKey][]int
	stdin bool
}

// fileKey is equal for two names of one file; unequal files may share it too.
type fileKey struct {
	size, modified int64
	mode           fs.FileMode
}

// Resolve turns names into inputs, in the order of the names; a folder's files come in byte order of their paths.
// A name is a file, a folder, "-", or a pattern that no existing file is called. No name means standard input.
//
// Notices are findings of severity info. Where there are problems, the inputs are those without one, and nothing
// should be processed.
func (in Inputs) Resolve(names []string) (inputs []Input, notices, problems []policy.Finding) {
	r := &resolution{Inputs: in, seen: make(map[fileKey][]int)}
	if len(names) == 0 {
		r.implicitStdin()
	}
	for _, name := range names {
		r.name(name)
	}
	return r.inputs, r.notices, r.problems
}

func (r *resolution) fail(code, name, message, hint string) {
	r.problems = append(r.problems, problem(code, name, message, hint))
}

func (r *resolution) implicitStdin() {
	if r.StdinTerminal {
		r.fail(CodeUsage, "", "no input", "name files with -f FILE, or pipe manifests in; -f - reads what you type")
		return
	}
	r.addStdin()
}

// name resolves one word of the command line.
func (r *resolution) name(name string) {
	switch {
	case name == "":
		r.fail(CodeUsage, "", "an input has an empty name", "name a file, a folder, or - for standard input")
	case name == "-" || name == "/dev/stdin":
		r.addStdin()
	case isURL(name):
		r.fail(CodeURL, name, "input is an address", "inject works offline; download the file first")
	default:
		r.path(name)
	}
}

func isURL(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// addStdin adds standard input; it can be read only once.
func (r *resolution) addStdin() {
	switch {
	case r.stdin:
		r.fail(CodeUsage, StdinName, "standard input is named twice", "it can be read only once")
	case r.InPlace:
		r.fail(CodeUsage, StdinName, "standard input cannot be replaced in place", "leave -i out, or name files")
	case r.Stdin == nil:
		r.fail(CodeIO, StdinName, "standard input is closed", "")
	default:
		input := Input{Name: StdinName, Rel: "stdin.yaml", Stream: true, stdin: r.Stdin}
		if f, ok := r.Stdin.(interface{ Stat() (fs.FileInfo, error) }); ok {
			if info, err := f.Stat(); err == nil {
				input.Info = info
			}
		}
		r.inputs = append(r.inputs, input)
	}
	r.stdin = true
}

// path resolves a name that is looked up on the disk; only a name that does not exist can be a pattern.
func (r *resolution) path(name string) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		r.folder(name)
	case err == nil:
		r.file(name, localOrBase(name), info)
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?["):
		r.pattern(name)
	case errors.Is(err, fs.ErrNotExist):
		r.fail(CodeNoInput, r.display(name), missing(name), "check the name; it counts from the folder you are in")
	default:
		r.problems = append(r.problems, ioProblem(r.display(name), "read", err))
	}
}

// missing tells a link that leads nowhere from a name that is not there.
func missing(name string) string {
	if _, err := os.Lstat(name); err == nil {
		return "symbolic link leads to no file"
	}
	return "no such file or folder"
}

// file adds one file unless it is there already.
func (r *resolution) file(path, rel string, info fs.FileInfo) {
	input := Input{
		Name: r.display(path), Path: path, Rel: rel, JSON: filepath.Ext(path) == ".json",
		Stream: !info.Mode().IsRegular(), Info: info,
	}
	if input.Stream && r.InPlace {
		r.fail(CodeUsage, input.Name, "not a regular file, so it cannot be replaced in place", "leave -i out")
		return
	}
	key := fileKey{size: info.Size(), modified: info.ModTime().UnixNano(), mode: info.Mode()}
	for _, i := range r.seen[key] {
		if os.SameFile(r.inputs[i].Info, info) {
			r.notices = append(r.notices, policy.Finding{
				Code: CodeSameFile, Severity: policy.Info, Position: policy.Position{File: input.Name},
				Message: fmt.Sprintf("same file as %s; processed once", r.inputs[i].Name),
			})
			return
		}
	}
	r.seen[key] = append(r.seen[key], len(r.inputs))
	r.inputs = append(r.inputs, input)
}

// display is the name that messages print.
func (r *resolution) display(path string) string {
	clean := filepath.Clean(path)
	if r.WorkDir != "" && filepath.IsAbs(clean) {
		if rel, err := filepath.Rel(r.WorkDir, clean); err == nil && filepath.IsLocal(rel) {
			clean = rel
		}
	}
	return filepath.ToSlash(clean)
}

// localOrBase is the path as it was named where that stays below a folder, else its last element.
func localOrBase(path string) string {
	if clean := filepath.Clean(path); filepath.IsLocal(clean) {
		return clean
	}
	return filepath.Base(path)
}
