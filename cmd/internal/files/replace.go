package files

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Replacement is a file and what shall be in it.
type Replacement struct {
	// Name is what messages call the file.
	Name string
	// Path is the file; where it is a symbolic link, what the link leads to is replaced and the link stays.
	Path string
	// Read describes the file as it was when its content was read (see [Input.Open]). Replacing fails with
	// CodeChanged where the file is another by now. It is nil for an output that was not read.
	Read fs.FileInfo
	// Content is the new content.
	Content Content
}

// Result says what Replace did. The names are those of the replacements.
type Result struct {
	// Written are the files that have their new content, also when a later one failed.
	Written []string
	// Unchanged are the files that had that content already and were not touched.
	Unchanged []string
	// Notices are warnings about files that were written: other hard links, another owner.
	Notices []policy.Finding
}

// step is one replacement on its way; the fields are filled in from above to below.
type step struct {
	Replacement
	target    string      // Path with links resolved
	old       fs.FileInfo // the target as it is, nil where there is none
	direct    bool        // the target is a device or FIFO: written to, never replaced
	unchanged bool
	temporary string
}

// replacing is the state of one Replace.
type replacing struct {
	ctx     context.Context
	disk    Disk
	steps   []*step
	folders []string       // made by this run, outer before inner
	next    map[string]int // number of the next temporary file of a folder
	result  Result
	found   []policy.Finding
}

// Replace gives every file its new content, each in one step: at any moment a file holds all of its old content or
// all of its new one. All files are checked, and all new contents complete beside them, before the first file is
// replaced; up to there any problem, and the end of ctx, leaves every file as it was and no temporary file behind.
// Should a rename itself fail, Replace stops there, and the finding lists the files that are done.
//
// Files whose content is already right are not touched. Mode and owner are kept; another owner's file may only be
// kept in mode (CodeOwner), and its other hard links keep the old content (CodeHardLink). Extended attributes and
// access control lists are not kept.
func Replace(ctx context.Context, disk Disk, replacements []Replacement) (Result, []policy.Finding) {
	r := &replacing{ctx: ctx, disk: disk, next: make(map[string]int)}
	for i := range replacements {
		r.steps = append(r.steps, &step{Replacement: replacements[i]})
	}
	if !r.check() || !r.stage() || !r.recheck() {
		r.undo()
		return Result{}, r.found
	}
	r.commit()
	return r.result, r.found
}

// fail notes a problem and gives false, for the caller to return.
func (r *replacing) fail(f policy.Finding) bool {
	r.found = append(r.found, f)
	return false
}

// check looks at every file, so that all problems that can be known beforehand are reported together.
func (r *replacing) check() bool {
	for _, s := range r.steps {
		if r.interrupted() {
			return false
		}
		if r.locate(s) {
			r.compare(s)
		}
	}
	return len(r.found) == 0
}

// interrupted notes that the run was told to stop.
func (r *replacing) interrupted() bool {
	if r.ctx.Err() == nil {
		return false
	}
	r.fail(problem(CodeIO, "", "interrupted; no file was changed", ""))
	return true
}

// locate finds the file to replace and whether that is allowed.
func (r *replacing) locate(s *step) bool {
	s.target = s.Path
	link, err := r.disk.Lstat(s.Path)
	switch {
	case isMissing(err) && s.Read == nil:
		return true
	case isMissing(err):
		return r.fail(problem(CodeChanged, s.Name, "file is gone since it was read", "run again"))
	case err != nil:
		return r.fail(ioProblem(s.Name, "write", err))
	}
	if link.Mode()&fs.ModeSymlink != 0 {
		if s.target, err = r.disk.Resolve(s.Path); err != nil {
			return r.fail(ioProblem(s.Name, "follow the symbolic link", err))
		}
	}
	if s.old, err = r.disk.Stat(s.target); err != nil {
		return r.fail(ioProblem(s.Name, "write", err))
	}
	return r.allowed(s)
}

// allowed refuses what is no file, and a file without write permission: a rename would not ask for one.
func (r *replacing) allowed(s *step) bool {
	switch {
	case s.old.IsDir():
		return r.fail(problem(CodeIO, s.Name, "cannot write: is a folder", "end the name with / to write one file per input"))
	case !s.old.Mode().IsRegular() && s.Read != nil:
		return r.fail(problem(CodeIO, s.Name, "not a regular file, so it cannot be replaced in place", ""))
	case !s.old.Mode().IsRegular():
		s.direct = true
		return true
	}
	w, err := r.disk.OpenWrite(s.target)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return r.fail(ioProblem(s.Name, "write", err))
	}
	return true
}

// compare finds the files that hold the wanted content already.
func (r *replacing) compare(s *step) {
	if s.old == nil || s.direct || s.old.Size() != s.Content.Len() {
		return
	}
	same, err := r.same(s)
	if err != nil {
		r.fail(ioProblem(s.Name, "read", err))
	}
	s.unchanged = same
}

// commit replaces the files. The interruption of the run no longer counts: what is left takes a moment, and stopping
// would leave some files done and some not.
func (r *replacing) commit() {
	for _, s := range r.steps {
		if s.direct && !r.writeDirect(s) {
			r.undo()
			return
		}
	}
	for _, s := range r.steps {
		if s.temporary == "" {
			continue
		}
		if !r.unchangedSince(s) {
			r.stopped()
			return
		}
		if err := r.disk.Rename(s.temporary, s.target); err != nil {
			r.fail(ioProblem(s.Name, "replace", err))
			r.stopped()
			return
		}
		s.temporary = ""
		r.result.Written = append(r.result.Written, s.Name)
		r.noticeLinks(s)
	}
	r.syncFolders()
	for _, s := range r.steps {
		if s.unchanged {
			r.result.Unchanged = append(r.result.Unchanged, s.Name)
		}
	}
}

// stopped ends a commit half-way: the finding that is there learns which files are done.
func (r *replacing) stopped() {
	last := &r.found[len(r.found)-1]
	if len(r.result.Written) == 0 {
		last.Hint = "no file was changed"
	} else {
		last.Hint = "already replaced: " + strings.Join(r.result.Written, ", ") + "; the files after them are as before"
	}
	r.undo()
	r.syncFolders()
}

func (r *replacing) noticeLinks(s *step) {
	if s.old != nil && hardLinks(s.old) > 1 {
		r.result.Notices = append(r.result.Notices, policy.Finding{
			Code: CodeHardLink, Severity: policy.Warning, Position: policy.Position{File: s.Name},
			Message: "file has other hard links; they keep the old content",
		})
	}
}

// syncFolders makes the new names durable, each folder once.
func (r *replacing) syncFolders() {
	done := make(map[string]bool)
	written := make(map[string]bool)
	for _, name := range r.result.Written {
		written[name] = true
	}
	for _, s := range r.steps {
		folder := filepath.Dir(s.target)
		if done[folder] || !written[s.Name] || s.direct {
			continue
		}
		done[folder] = true
		if err := r.disk.SyncDir(folder); err != nil {
			f := ioProblem(s.Name, "make the new name durable", err)
			f.Hint = "the file has its new content, but a power failure now could bring the old one back"
			r.fail(f)
		}
	}
}

// undo removes the temporary files, and the folders that were made for them. Nobody can mend a failure here, and the
// finding that led here matters more.
func (r *replacing) undo() {
	for _, s := range r.steps {
		if s.temporary != "" {
			_ = r.disk.Remove(s.temporary)
			s.temporary = ""
		}
	}
	for i := len(r.folders) - 1; i >= 0; i-- {
		_ = r.disk.Remove(r.folders[i]) // fails, as it should, where the folder holds a file that is done
	}
}
