package files

import (
	"bytes"
	"io"
)

// Reader reads what was written so far from its first byte. Nothing may be written after that; the spool stays as it is.
func (s *Spool) Reader() io.Reader {
	if s.err != nil {
		return failing{s.err}
	}
	if s.file != nil {
		if s.err = s.buffer.Flush(); s.err != nil {
			return failing{s.err}
		}
		return io.NewSectionReader(s.file, 0, s.size)
	}
	parts := make([]io.Reader, len(s.chunks))
	for i, c := range s.chunks {
		parts[i] = bytes.NewReader(c)
	}
	return io.MultiReader(parts...)
}

// failing is a reader that has nothing but an error.
type failing struct{ err error }

// Read gives the error.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
