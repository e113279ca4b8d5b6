package files

import (
	"errors"
	"io"
	"io/fs"
	"sync"
)

// faultyDisk is the machine's disk, but before each step it asks at, which may let it fail.
type faultyDisk struct {
	System
	at func(step, name string) error

	mu    sync.Mutex
	steps []string
}

func (d *faultyDisk) ask(step, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps = append(d.steps, step)
	if d.at == nil {
		return nil
	}
	return d.at(step, name)
}

func (d *faultyDisk) Stat(name string) (fs.FileInfo, error) {
	if err := d.ask("stat", name); err != nil {
		return nil, err
	}
	return d.System.Stat(name)
}

func (d *faultyDisk) Lstat(name string) (fs.FileInfo, error) {
	if err := d.ask("lstat", name); err != nil {
		return nil, err
	}
	return d.System.Lstat(name)
}

func (d *faultyDisk) Open(name string) (io.ReadCloser, error) {
	if err := d.ask("open", name); err != nil {
		return nil, err
	}
	return d.System.Open(name)
}

func (d *faultyDisk) OpenWrite(name string) (io.WriteCloser, error) {
	if err := d.ask("openwrite", name); err != nil {
		return nil, err
	}
	return d.System.OpenWrite(name)
}

func (d *faultyDisk) Create(name string, perm fs.FileMode) (Temporary, error) {
	if err := d.ask("create", name); err != nil {
		return nil, err
	}
	t, err := d.System.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{t, d, name}, nil
}

func (d *faultyDisk) Mkdir(name string) error {
	return errors.Join(d.ask("mkdir", name), d.System.Mkdir(name))
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.ask("rename", to); err != nil {
		return err
	}
	return d.System.Rename(from, to)
}

func (d *faultyDisk) Remove(name string) error {
	if err := d.ask("remove", name); err != nil {
		return err
	}
	return d.System.Remove(name)
}

func (d *faultyDisk) SyncDir(name string) error {
	if err := d.ask("syncdir", name); err != nil {
		return err
	}
	return d.System.SyncDir(name)
}

// faultyFile is a temporary file of a faultyDisk. A write that fails has written half of its bytes.
type faultyFile struct {
	Temporary
	disk *faultyDisk
	name string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.ask("write", f.name); err != nil {
		n, _ := f.Temporary.Write(p[:len(p)/2])
		return n, err
	}
	return f.Temporary.Write(p)
}

func (f *faultyFile) Chmod(mode fs.FileMode) error {
	if err := f.disk.ask("chmod", f.name); err != nil {
		return err
	}
	return f.Temporary.Chmod(mode)
}

func (f *faultyFile) Chown(uid, gid int) error {
	if err := f.disk.ask("chown", f.name); err != nil {
		return err
	}
	return f.Temporary.Chown(uid, gid)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.ask("sync", f.name); err != nil {
		return err
	}
	return f.Temporary.Sync()
}

func (f *faultyFile) Close() error {
	err := f.disk.ask("close", f.name)
	return errors.Join(err, f.Temporary.Close())
}
