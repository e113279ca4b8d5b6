package manifest

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
)

// Encoding is how the text of a stream is written as bytes. The zero value is UTF-8.
type Encoding int

// The encodings a stream may have; UTF-16 needs a byte order mark.
const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
)

// String names the encoding as messages do.
func (e Encoding) String() string {
	switch e {
	case UTF16LE:
		return "UTF-16LE"
	case UTF16BE:
		return "UTF-16BE"
	default:
		return "UTF-8"
	}
}

// Encode turns UTF-8 text, as the documents hold it, back into the bytes of the encoding. The byte order mark is part
// of the text. UTF-8 is returned as it is.
func (e Encoding) Encode(text []byte) []byte {
	if e == UTF8 {
		return text
	}
	var order binary.AppendByteOrder = binary.LittleEndian
	if e == UTF16BE {
		order = binary.BigEndian
	}
	out := make([]byte, 0, 2*len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if r >= 0x10000 {
			hi, lo := utf16.EncodeRune(r)
			out = order.AppendUint16(out, uint16(hi))
			out = order.AppendUint16(out, uint16(lo))
			continue
		}
		out = order.AppendUint16(out, uint16(r))
	}
	return out
}

// Decode turns the bytes of one file into UTF-8 text. UTF-8 comes back as it is; UTF-16 with a byte order mark is
// decoded, mark included. The finding is E_ENCODING, nil where all is well.
func Decode(file string, data []byte) ([]byte, Encoding, *policy.Finding) {
	if f, ok := sniffEncoding(file, data); ok {
		return nil, UTF8, &f
	}
	enc := markOf(data)
	if enc == UTF8 {
		return data, enc, nil
	}
	text, err := io.ReadAll(&utf16Reader{file: file, enc: enc, raw: data, eof: true, line: 1, col: 1})
	if err != nil {
		f, ok := err.(policy.Finding)
		if !ok {
			f = policy.Finding{Code: "E_ENCODING", Severity: policy.Error, Message: err.Error()}
		}
		return nil, enc, &f
	}
	return text, enc, nil
}

// markOf reads the byte order mark.
func markOf(b []byte) Encoding {
	switch {
	case len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe:
		return UTF16LE
	case len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff:
		return UTF16BE
	}
	return UTF8
}

// sniffEncoding refuses what is not readable: UTF-32, and UTF-16 without a mark.
func sniffEncoding(file string, b []byte) (policy.Finding, bool) {
	name := ""
	if len(b) >= 4 {
		nul := [4]bool{b[0] == 0, b[1] == 0, b[2] == 0, b[3] == 0}
		switch {
		case b[0] == 0xff && b[1] == 0xfe && nul[2] && nul[3], nul[0] && nul[1] && b[2] == 0xfe && b[3] == 0xff,
			nul == [4]bool{false, true, true, true}, nul == [4]bool{true, true, true, false}:
			name = "UTF-32"
		case markOf(b) != UTF8:
			return policy.Finding{}, false
		case nul == [4]bool{false, true, false, true}, nul == [4]bool{true, false, true, false}:
			name = "UTF-16 without a byte order mark"
		}
	}
	if name == "" {
		return policy.Finding{}, false
	}
	return policy.Finding{
		Code: "E_ENCODING", Severity: policy.Error, Position: policy.Position{File: file, Line: 1, Column: 1},
		Message: "file looks like " + name, Hint: "save it as UTF-8",
	}, true
}

// encodingFinding describes the first bad byte of the document.
func (d Document) encodingFinding() policy.Finding {
	i := d.facts.bad
	what := "invalid UTF-8"
	switch c := d.Raw[i]; {
	case c == 0:
		what = "NUL byte"
	case c < 0x20:
		what = fmt.Sprintf("control character U+%04X", c)
	}
	hint := "save the file as UTF-8"
	if d.Raw[i] < 0x20 {
		hint = "remove it; inside a double-quoted string write it as an escape"
	}
	f := d.finding("E_ENCODING", policy.Error, i, what, hint)
	f.Document = 0
	return f
}

// utf16Reader decodes UTF-16 into UTF-8 while it reads.
type utf16Reader struct {
	file      string
	enc       Encoding
	src       io.Reader
	raw       []byte // undecoded
	out       []byte // decoded, not yet handed over
	eof       bool
	line, col int
	err       error
}

// Read gives decoded text; a unit that is half a pair is E_ENCODING.
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		if !u.eof && len(u.raw) < 4 {
			if err := u.more(); err != nil {
				return 0, err
			}
			continue
		}
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) more() error {
	buf := make([]byte, len(u.raw), firstBlock)
	copy(buf, u.raw)
	n, err := u.src.Read(buf[len(buf):cap(buf)])
	u.raw = buf[:len(buf)+n]
	if err == io.EOF {
		u.eof = true
		return nil
	}
	return err
}

// decode moves everything that is complete from raw to out.
func (u *utf16Reader) decode() {
	unit := func(i int) rune {
		if u.enc == UTF16BE {
			return rune(u.raw[i])<<8 | rune(u.raw[i+1])
		}
		return rune(u.raw[i+1])<<8 | rune(u.raw[i])
	}
	i := 0
	u.out = u.out[:0]
	for i+2 <= len(u.raw) {
		r, n := unit(i), 2
		if utf16.IsSurrogate(r) {
			if i+4 > len(u.raw) && !u.eof {
				break
			}
			low := rune(0)
			if i+4 <= len(u.raw) {
				low = unit(i + 2)
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				u.fail("unpaired surrogate in UTF-16")
				break
			}
			n = 4
		}
		u.count(r)
		u.out = utf8.AppendRune(u.out, r)
		i += n
	}
	u.raw = u.raw[i:]
	if u.err == nil && u.eof && len(u.raw) < 2 {
		if len(u.raw) == 1 {
			u.fail("half a character at the end of UTF-16 text")
			return
		}
		u.err = io.EOF
	}
}

// count follows line and column for the message of a bad unit.
func (u *utf16Reader) count(r rune) {
	switch r {
	case '\n', 0x85, 0x2028, 0x2029:
		u.line, u.col = u.line+1, 1
	case 0xfeff:
	default:
		u.col++
	}
}

func (u *utf16Reader) fail(text string) {
	u.err = policy.Finding{
		Code: "E_ENCODING", Severity: policy.Error, Message: text, Hint: "save the file as UTF-8",
		Position: policy.Position{File: u.file, Line: u.line, Column: u.col},
	}
}
