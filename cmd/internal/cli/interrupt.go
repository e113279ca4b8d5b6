package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// interruptible reads r until ctx ends: a read that waits for a person or a pipe must not keep the program from stopping.
// The read that is under way then is left behind, with the buffer it writes to.
type interruptible struct {
	ctx context.Context
	r   io.Reader
	buf []byte
}

// Read reads into p, or gives the error of the context.
func (i *interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	done, buf := make(chan result, 1), i.buf[:len(p)]
	go func() {
		n, err := i.r.Read(buf)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, buf[:r.n]), r.err
	case <-i.ctx.Done():
		i.buf = nil
		return 0, i.ctx.Err()
	}
}

// Stat describes what is read, where that is a file.
func (i *interruptible) Stat() (fs.FileInfo, error) {
	if f, ok := i.r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}
