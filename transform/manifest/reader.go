package manifest

import "io"

// Reader cuts a stream into documents while it reads. It keeps about one block and the largest document in memory,
// and gives the same documents as [Split] on the decoded text.
type Reader struct {
	src   io.Reader
	split splitter
	enc   Encoding
	begun bool
	buf   []byte
	start int
	eof   bool
	err   error
}

const (
	firstBlock = 64 << 10
	blockSize  = 1 << 20
)

// NewReader reads the stream r; file is the name used in messages.
func NewReader(file string, r io.Reader) *Reader {
	return &Reader{src: r, split: splitter{file: file, line: 1}}
}

// Encoding tells how the stream was encoded; it is known after the first call of Next.
func (r *Reader) Encoding() Encoding { return r.enc }

// Next gives the next document and io.EOF behind the last one. Any other error is final: a [policy.Finding] with
// code E_ENCODING and its place, or what the underlying reader said.
func (r *Reader) Next() (Document, error) {
	if r.err != nil {
		return Document{}, r.err
	}
	if !r.begun {
		if err := r.begin(); err != nil {
			return Document{}, r.fail(err)
		}
	}
	for {
		if r.start < len(r.buf) {
			rest := r.buf[r.start:]
			if n, ok := r.split.measure(rest, r.eof); ok {
				d, bad := r.split.take(rest[:n:n])
				if bad != nil {
					return Document{}, r.fail(*bad)
				}
				r.start += n
				return d, nil
			}
		}
		if r.eof {
			return Document{}, r.fail(io.EOF)
		}
		if err := r.fill(); err != nil {
			return Document{}, r.fail(err)
		}
	}
}

func (r *Reader) fail(err error) error {
	r.err = err
	return err
}

// begin looks at the first bytes for a UTF-16 or UTF-32 mark.
func (r *Reader) begin() error {
	r.begun = true
	for len(r.buf) < 4 && !r.eof {
		if err := r.fill(); err != nil {
			return err
		}
	}
	if f, ok := sniffEncoding(r.split.file, r.buf); ok {
		return f
	}
	r.enc = markOf(r.buf)
	if r.enc == UTF8 {
		return nil
	}
	head := r.buf
	r.buf, r.start = nil, 0
	r.src = &utf16Reader{file: r.split.file, enc: r.enc, src: r.src, raw: head, eof: r.eof, line: 1, col: 1}
	r.eof = false
	return nil
}

// fill reads one more block. Documents handed out share the old buffer, so nothing in it is moved or overwritten:
// a full buffer is left to them and its rest is copied to a new one.
func (r *Reader) fill() error {
	if cap(r.buf)-len(r.buf) < 512 {
		rest := r.buf[r.start:]
		size := blockSize
		if r.buf == nil {
			size = firstBlock
		}
		buf := make([]byte, len(rest), max(size, 2*len(rest)))
		copy(buf, rest)
		r.buf, r.start = buf, 0
	}
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	if err == io.EOF {
		r.eof = true
		return nil
	}
	return err
}
