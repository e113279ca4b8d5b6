package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// DefaultSpoolLimit is how many bytes of output a run keeps in memory before it turns to a file.
const DefaultSpoolLimit = 32 << 20

// Content is finished output of a known length. WriteTo can be called more than once and starts from the first byte
// each time.
type Content interface {
	io.WriterTo
	// Len is the number of bytes that WriteTo writes.
	Len() int64
}

// Bytes is Content held in memory.
type Bytes []byte

// WriteTo writes all bytes to w.
func (b Bytes) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(b)
	return int64(n), err
}

// Len is the number of bytes.
func (b Bytes) Len() int64 { return int64(len(b)) }

// Spool gathers output until the run has succeeded: in memory up to a limit, then in a file that has no name. It is
// for one goroutine. The zero value keeps everything in memory.
type Spool struct {
	// Limit is the number of bytes kept in memory; zero means DefaultSpoolLimit.
	Limit int64
	// Dir is the folder of the temporary file; empty keeps everything in memory, whatever the limit.
	Dir string

	chunks [][]byte
	file   *os.File
	// named says that the file still has its name, because the system keeps those of open files.
	named  bool
	buffer *bufio.Writer
	size   int64
	err    error
}

// Sizes of the pieces of memory: one small document should not cost a megabyte, and a big stream not be copied as
// it grows.
const (
	firstChunk = 4 << 10
	lastChunk  = 1 << 20
)

// Write adds p. After the first error every call gives that error.
func (s *Spool) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.file == nil && s.Dir != "" && s.size+int64(len(p)) > s.limit() {
		if s.err = s.spill(); s.err != nil {
			return 0, s.err
		}
	}
	if s.file == nil {
		s.remember(p)
		s.size += int64(len(p))
		return len(p), nil
	}
	n, err := s.buffer.Write(p)
	s.size += int64(n)
	s.err = err
	return n, err
}

func (s *Spool) limit() int64 {
	if s.Limit == 0 {
		return DefaultSpoolLimit
	}
	return s.Limit
}

// remember copies p to the end of memory.
func (s *Spool) remember(p []byte) {
	if n := len(s.chunks); n > 0 {
		last := s.chunks[n-1]
		take := min(cap(last)-len(last), len(p))
		s.chunks[n-1] = append(last, p[:take]...)
		p = p[take:]
	}
	if len(p) == 0 {
		return
	}
	room := max(len(p), int(min(max(s.size, firstChunk), lastChunk)))
	s.chunks = append(s.chunks, append(make([]byte, 0, room), p...))
}

// spill moves what is in memory to a temporary file and removes the file's name, so that nothing is left behind
// however the process ends.
func (s *Spool) spill() error {
	f, err := createFirst(s.Dir, "inject-spool", os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("creating a temporary file: %w", err)
	}
	s.file = f
	s.named = os.Remove(f.Name()) != nil
	s.buffer = bufio.NewWriterSize(f, 64<<10)
	for _, chunk := range s.chunks {
		if _, err := s.buffer.Write(chunk); err != nil {
			return err
		}
	}
	s.chunks = nil
	return nil
}

// Len is the number of bytes written so far.
func (s *Spool) Len() int64 { return s.size }

// WriteTo copies everything to w. The spool stays as it is.
func (s *Spool) WriteTo(w io.Writer) (int64, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.file != nil {
		if s.err = s.buffer.Flush(); s.err != nil {
			return 0, s.err
		}
		return io.Copy(w, io.NewSectionReader(s.file, 0, s.size))
	}
	var total int64
	for _, chunk := range s.chunks {
		n, err := w.Write(chunk)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Close gives memory and file back. It is no sign of success: what counts is that WriteTo gave no error.
func (s *Spool) Close() error {
	s.chunks = nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file, s.buffer = nil, nil
	s.err = errors.New("output is closed already")
	err := f.Close()
	if s.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// createFirst creates the first file of the row name-0, name-1, … that does not exist yet.
func createFirst(dir, name string, flag int, perm os.FileMode) (*os.File, error) {
	for i := range maxTemporary {
		path := filepath.Join(dir, fmt.Sprintf(".%s-%d.tmp", name, i))
		f, err := os.OpenFile(path, flag|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
	return nil, errors.New("too many temporary files in the folder")
}
