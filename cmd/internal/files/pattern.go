package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pattern expands a name with * ? or [ that the shell left alone: quoted, or on a system whose shell expands nothing.
// As in a shell, a hidden name is matched only by an element that starts with a dot. Folders that match are left out.
func (r *resolution) pattern(pattern string) {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		r.fail(CodeUsage, r.display(pattern), "malformed pattern", "close every [ with a ]")
		return
	}
	matches = slices.DeleteFunc(matches, func(path string) bool { return hidden(pattern, path) })
	slices.SortFunc(matches, func(a, b string) int {
		return strings.Compare(filepath.ToSlash(a), filepath.ToSlash(b))
	})
	found := false
	for _, path := range matches {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found = true
			r.fail(CodeNoInput, r.display(path), missing(path), "")
		case err != nil:
			found = true
			r.problems = append(r.problems, ioProblem(r.display(path), "read", err))
		case !info.IsDir():
			found = true
			r.file(path, localOrBase(path), info)
		}
	}
	if !found {
		r.fail(CodeNoInput, r.display(pattern), "pattern matches no file", "")
	}
}

// hidden tells whether path has an element that starts with a dot where the pattern's element does not.
func hidden(pattern, path string) bool {
	want := strings.Split(filepath.ToSlash(filepath.Clean(pattern)), "/")
	got := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	for i, element := range got {
		if i < len(want) && strings.HasPrefix(element, ".") && !strings.HasPrefix(want[i], ".") {
			return true
		}
	}
	return false
}
