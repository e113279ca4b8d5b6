package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kube-inject/inject/policy"
)

// maxTemporary ends the search for a free name of a temporary file.
const maxTemporary = 10_000

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// stage writes every new content to a temporary file beside its target.
func (r *replacing) stage() bool {
	for _, s := range r.steps {
		if s.unchanged || s.direct {
			continue
		}
		if r.interrupted() {
			return false
		}
		if err := r.stageOne(s); err != nil {
			if r.ctx.Err() != nil {
				return !r.interrupted()
			}
			return r.fail(ioProblem(s.Name, "write", err))
		}
	}
	return true
}

func (r *replacing) stageOne(s *step) error {
	if s.old == nil {
		if err := r.makeFolders(filepath.Dir(s.target)); err != nil {
			return err
		}
	}
	t, err := r.create(s)
	if err != nil {
		return err
	}
	if _, err := s.Content.WriteTo(&stoppableWriter{r.ctx, t}); err != nil {
		return joinClose(err, t)
	}
	if s.old != nil {
		if err := r.inherit(t, s); err != nil {
			return joinClose(err, t)
		}
	}
	if err := t.Sync(); err != nil {
		return joinClose(err, t)
	}
	return t.Close()
}

// create makes the temporary file. Its name starts with a dot, so that a folder of manifests does not seem to have
// one more; a leftover of a killed run is passed over.
func (r *replacing) create(s *step) (Temporary, error) {
	folder, perm := filepath.Dir(s.target), fs.FileMode(0o600)
	if s.old == nil {
		perm = 0o666 // what a newly created file gets; the umask takes its part away
	}
	for r.next[folder] < maxTemporary {
		path := filepath.Join(folder, fmt.Sprintf(".inject-%d.tmp", r.next[folder]))
		r.next[folder]++
		t, err := r.disk.Create(path, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			s.temporary = path
		}
		return t, err
	}
	return nil, errors.New("too many temporary files in the folder")
}

// makeFolders makes the folders that a new file needs and remembers them.
func (r *replacing) makeFolders(folder string) error {
	if _, err := r.disk.Stat(folder); !isMissing(err) {
		return err
	}
	if err := r.makeFolders(filepath.Dir(folder)); err != nil {
		return err
	}
	if err := r.disk.Mkdir(folder); err != nil {
		return err
	}
	r.folders = append(r.folders, folder)
	return nil
}

// inherit gives the temporary file the owner and mode of the file it replaces. The owner comes first, as changing it
// clears the set-user-id bits; where it cannot be kept, those bits must not be either.
func (r *replacing) inherit(t Temporary, s *step) error {
	mode := s.old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	kept, err := r.inheritOwner(t, s)
	if err != nil {
		return err
	}
	if !kept {
		mode &= fs.ModePerm
	}
	return t.Chmod(mode)
}

// inheritOwner tells whether owner and group could be kept; if not, the group alone is tried.
func (r *replacing) inheritOwner(t Temporary, s *step) (bool, error) {
	uid, gid, known := ownerOf(s.old)
	if !known {
		return true, nil
	}
	now, err := t.Stat()
	if err != nil {
		return false, err
	}
	if u, g, ok := ownerOf(now); ok && u == uid && g == gid {
		return true, nil
	}
	if t.Chown(uid, gid) == nil {
		return true, nil
	}
	_ = t.Chown(-1, gid)
	r.result.Notices = append(r.result.Notices, policy.Finding{
		Code: CodeOwner, Severity: policy.Warning, Position: policy.Position{File: s.Name},
		Message: fmt.Sprintf("owner %d:%d could not be kept", uid, gid),
		Hint:    "the file belongs to whoever ran the command; change its owner back if that matters",
	})
	return false, nil
}

// recheck makes sure, when all temporary files are complete, that the files are still those that were read.
func (r *replacing) recheck() bool {
	for _, s := range r.steps {
		r.unchangedSince(s)
	}
	return len(r.found) == 0 && !r.interrupted()
}

// unchangedSince compares the target as it is now with the file that was read: the same file, size and time.
func (r *replacing) unchangedSince(s *step) bool {
	if s.Read == nil {
		return true
	}
	now, err := r.disk.Stat(s.target)
	switch {
	case isMissing(err):
		return r.fail(problem(CodeChanged, s.Name, "file is gone since it was read", "run again"))
	case err != nil:
		return r.fail(ioProblem(s.Name, "check", err))
	case !os.SameFile(now, s.Read) || now.Size() != s.Read.Size() || !now.ModTime().Equal(s.Read.ModTime()):
		return r.fail(problem(CodeChanged, s.Name, "file changed while it was being processed", "run again"))
	}
	return true
}

// writeDirect writes to a device or FIFO, which cannot be replaced: /dev/null must stay what it is.
func (r *replacing) writeDirect(s *step) bool {
	w, err := r.disk.OpenWrite(s.target)
	if err != nil {
		return r.fail(ioProblem(s.Name, "write", err))
	}
	if _, err := s.Content.WriteTo(w); err != nil {
		return r.fail(ioProblem(s.Name, "write", joinClose(err, w)))
	}
	if err := w.Close(); err != nil {
		return r.fail(ioProblem(s.Name, "write", err))
	}
	r.result.Written = append(r.result.Written, s.Name)
	return true
}

// same compares the content of the target with the wanted one without holding either in memory.
func (r *replacing) same(s *step) (bool, error) {
	f, err := r.disk.Open(s.target)
	if err != nil {
		return false, err
	}
	c := &comparer{ctx: r.ctx, file: f}
	_, err = s.Content.WriteTo(c)
	if errors.Is(err, errDiffers) {
		return false, f.Close()
	}
	if err != nil {
		return false, joinClose(err, f)
	}
	return true, f.Close()
}

var errDiffers = errors.New("content differs")

// comparer is a writer that fails with errDiffers at the first byte that the file does not have there.
type comparer struct {
	ctx    context.Context
	file   io.Reader
	buffer []byte
}

func (c *comparer) Write(p []byte) (int, error) {
	if c.buffer == nil {
		c.buffer = make([]byte, 64<<10)
	}
	for done := 0; done < len(p); {
		if err := c.ctx.Err(); err != nil {
			return done, err
		}
		part := p[done:min(len(p), done+len(c.buffer))]
		_, err := io.ReadFull(c.file, c.buffer[:len(part)])
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return done, errDiffers
		case err != nil:
			return done, err
		case !bytes.Equal(part, c.buffer[:len(part)]):
			return done, errDiffers
		}
		done += len(part)
	}
	return len(p), nil
}

// stoppableWriter fails once its context has ended.
type stoppableWriter struct {
	ctx context.Context
	w   io.Writer
}

func (s *stoppableWriter) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}
