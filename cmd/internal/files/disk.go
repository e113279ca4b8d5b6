package files

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Disk is what replacing files needs of the operating system. Tests put one in its place that fails, or stops, at a
// chosen step.
type Disk interface {
	// Stat describes the file behind name; links are followed.
	Stat(name string) (fs.FileInfo, error)
	// Lstat describes name itself.
	Lstat(name string) (fs.FileInfo, error)
	// Resolve gives the name of the file that name leads to when all links are followed.
	Resolve(name string) (string, error)
	// Open reads a file.
	Open(name string) (io.ReadCloser, error)
	// OpenWrite opens an existing file for writing and changes nothing of it.
	OpenWrite(name string) (io.WriteCloser, error)
	// Create makes a new file and fails with fs.ErrExist where there is one; perm is subject to the umask.
	Create(name string, perm fs.FileMode) (Temporary, error)
	// Mkdir makes a folder.
	Mkdir(name string) error
	// Rename gives a file another name, in one step, whatever had that name before.
	Rename(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
}

// Temporary is a file that is being written beside the one it will replace.
type Temporary interface {
	io.WriteCloser
	// Stat describes the open file.
	Stat() (fs.FileInfo, error)
	// Chmod sets the mode of the open file.
	Chmod(mode fs.FileMode) error
	// Chown sets owner and group; -1 leaves one as it is.
	Chown(uid, gid int) error
	// Sync makes the content durable.
	Sync() error
}

// System is the Disk of the machine.
type System struct{}

// Stat is os.Stat.
func (System) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Lstat is os.Lstat.
func (System) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Resolve is filepath.EvalSymlinks.
func (System) Resolve(name string) (string, error) { return filepath.EvalSymlinks(name) }

// Open is os.Open.
func (System) Open(name string) (io.ReadCloser, error) { return os.Open(name) }

// OpenWrite opens without creating or truncating.
func (System) OpenWrite(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_WRONLY, 0)
}

// Create opens with O_EXCL, which follows no link.
func (System) Create(name string, perm fs.FileMode) (Temporary, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

// Mkdir makes a folder that the umask alone limits.
func (System) Mkdir(name string) error { return os.Mkdir(name, 0o777) }

// Rename is os.Rename.
func (System) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is os.Remove.
func (System) Remove(name string) error { return os.Remove(name) }

// SyncDir syncs the folder, on systems where a folder can be synced.
func (System) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil && !cannotSyncFolder(err) {
		return joinClose(err, d)
	}
	return d.Close()
}
