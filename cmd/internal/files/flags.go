package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// maxFlagsFile is the size up to which a flags file is read; a longer one is surely another kind of file.
const maxFlagsFile = 1 << 20

// ExpandFlags replaces each argument @FILE by the arguments in that file, one flag a line:
//
//	# everything that this repository injects with
//	--profile deploy/mesh
//	--set global.hub=registry.example/istio
//	--strict
//
// Blank lines and lines that start with # are left out. A line that starts with a dash is a flag; what follows its
// first blank is its value, unless an equals sign comes first. Nothing is quoted and nothing expanded, so a value may
// hold blanks and quotes. Any other line is one argument. A flags file cannot name another. Arguments behind "--" stay
// as they are, and a manifest whose name starts with @ is written ./@name.
//
// Paths inside the file are relative to the working directory, not to the file.
func ExpandFlags(args []string) ([]string, []policy.Finding) {
	var out []string
	var problems []policy.Finding
	for i, arg := range args {
		name, isFile := strings.CutPrefix(arg, "@")
		switch {
		case arg == "--":
			return append(out, args[i:]...), problems
		case !isFile:
			out = append(out, arg)
		default:
			lines, found := flagsFile(name)
			out = append(out, lines...)
			problems = append(problems, found...)
		}
	}
	return out, problems
}

// flagsFile reads one flags file.
func flagsFile(name string) ([]string, []policy.Finding) {
	display := filepath.ToSlash(filepath.Clean(name))
	if name == "" {
		return nil, []policy.Finding{problem(CodeUsage, "", "@ names no flags file", "write @FILE")}
	}
	text, err := readFlags(name)
	if err != nil {
		return nil, []policy.Finding{ioProblem(display, "read the flags file", err)}
	}
	var args []string
	var problems []policy.Finding
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "@"):
			f := problem(CodeUsage, display, "a flags file cannot name another", "name both on the command line")
			f.Position.Line, f.Position.Column = i+1, 1
			problems = append(problems, f)
		default:
			args = append(args, splitFlag(line)...)
		}
	}
	return args, problems
}

func readFlags(name string) (text string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(io.LimitReader(f, maxFlagsFile+1))
	if err == nil && len(data) > maxFlagsFile {
		err = fmt.Errorf("larger than %d bytes", maxFlagsFile)
	}
	return string(data), err
}

// splitFlag parts a flag from its value.
func splitFlag(line string) []string {
	blank := strings.IndexAny(line, " \t")
	if !strings.HasPrefix(line, "-") || blank < 0 || strings.Contains(line[:blank], "=") {
		return []string{line}
	}
	return []string{line[:blank], strings.TrimSpace(line[blank:])}
}
