package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder adds the manifests of a folder in byte order of their paths, which is also the order findings are sorted in.
func (r *resolution) folder(root string) {
	paths, folders, err := r.list(root)
	if err != nil {
		r.problems = append(r.problems, ioProblem(r.display(root), "read the folder", err))
		return
	}
	if len(paths) == 0 {
		hint := ""
		if folders && !r.Recursive {
			hint = "it has subfolders; -R descends into them"
		}
		r.fail(CodeNoInput, r.display(root), "folder has no *.yaml, *.yml or *.json file", hint)
		return
	}
	slices.SortFunc(paths, func(a, b string) int {
		return strings.Compare(filepath.ToSlash(a), filepath.ToSlash(b))
	})
	for _, rel := range paths {
		path := filepath.Join(root, rel)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.fail(CodeNoInput, r.display(path), missing(path), "")
		case err != nil:
			r.problems = append(r.problems, ioProblem(r.display(path), "read", err))
		case info.Mode().IsRegular():
			r.file(path, rel, info)
		}
		// What is left is a folder behind a link, or a FIFO, socket or device that nobody named: reading one of
		// those could wait for ever.
	}
}

// list gives the paths below root whose names ask for processing, relative to root, and whether there are folders
// that were not looked into.
func (r *resolution) list(root string) (paths []string, folders bool, err error) {
	// A link that was named is followed; those inside are not.
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, false, err
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			return skip(entry)
		case entry.IsDir() && !r.Recursive:
			folders = true
			return fs.SkipDir
		case entry.IsDir() || !isManifestName(entry.Name()):
			return nil
		}
		rel, err := filepath.Rel(root, path)
		paths = append(paths, rel)
		return err
	})
	return paths, folders, err
}

// skip leaves out a hidden entry, with all below it where it is a folder.
func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func isManifestName(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
