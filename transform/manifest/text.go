package manifest

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// textFacts is what one pass over the bytes of a document learns; later passes choose their fast path by it.
type textFacts struct {
	// breaks counts line breaks as the YAML parser does.
	breaks int
	// wide: bytes above ASCII occur, so columns and byte offsets differ.
	wide bool
	// cr: a carriage return occurs; loneCR: one without its line feed.
	cr, loneCR bool
	// odd: U+0085, U+2028 or U+2029 occurs, each of which ends a line for the parser.
	odd bool
	// control: DEL or a C1 control or a non-character occurs: legal in a stream, refused inside YAML that is parsed.
	control bool
	// bad is the offset of the first byte that no manifest may hold, -1 where there is none.
	bad int
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// scanText checks every byte once, eight at a time where they are ASCII.
func scanText(b []byte) textFacts {
	f := textFacts{bad: -1}
	i, n := 0, len(b)
	for i < n {
		if i+8 <= n {
			w := binary.LittleEndian.Uint64(b[i:])
			if w&highs == 0 {
				// A byte below 0x20 leaves its high bit clear after adding 0x60; no carry can cross bytes here.
				if low := ^(w + 0x60*ones) & highs; low != 0 {
					nl := zeroBytes(w ^ '\n'*ones)
					cr := zeroBytes(w ^ '\r'*ones)
					if bad := low &^ (nl | cr | zeroBytes(w^'\t'*ones)); bad != 0 {
						f.bad = i + bits.TrailingZeros64(bad)/8
						return f
					}
					f.breaks += bits.OnesCount64(nl)
					f.cr = f.cr || cr != 0
				}
				if zeroBytes(w^0x7f*ones) != 0 {
					f.control = true
				}
				i += 8
				continue
			}
		}
		c := b[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '\n':
				f.breaks++
			case c == '\r':
				f.cr = true
			case c < 0x20 && c != '\t':
				f.bad = i
				return f
			case c == 0x7f:
				f.control = true
			}
			i++
			continue
		}
		f.wide = true
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			f.bad = i
			return f
		}
		switch {
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			f.odd = true
			f.breaks++
		case r < 0xa0 || r == 0xfffe || r == 0xffff:
			f.control = true
		}
		i += size
	}
	if f.cr {
		lone := bytes.Count(b, []byte{'\r'}) - bytes.Count(b, []byte("\r\n"))
		f.breaks += lone
		f.loneCR = lone > 0
	}
	return f
}

// zeroBytes marks the high bit of every zero byte of w, whose bytes must all be below 0x80.
func zeroBytes(w uint64) uint64 { return ^(w + 0x7f*ones) & highs }

// breakAt gives the length of the line break at b[i], zero where there is none.
func breakAt(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	switch b[i] {
	case '\n':
		return 1
	case '\r':
		if i+1 < len(b) && b[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if i+1 < len(b) && b[i+1] == 0x85 {
			return 2
		}
	case 0xe2:
		if i+2 < len(b) && b[i+1] == 0x80 && (b[i+2] == 0xa8 || b[i+2] == 0xa9) {
			return 3
		}
	}
	return 0
}

// breakBefore gives the length of the line break that ends at b[i].
func breakBefore(b []byte, i int) int {
	switch {
	case i >= 2 && b[i-2] == '\r' && b[i-1] == '\n':
		return 2
	case i >= 1 && (b[i-1] == '\n' || b[i-1] == '\r'):
		return 1
	case i >= 2 && b[i-2] == 0xc2 && b[i-1] == 0x85:
		return 2
	case i >= 3 && b[i-3] == 0xe2 && b[i-2] == 0x80 && (b[i-1] == 0xa8 || b[i-1] == 0xa9):
		return 3
	}
	return 0
}

// lineEnd finds the end of the content of the line that holds b[i]; the break, if any, starts there.
func lineEnd(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case '\n', '\r':
			return i
		case 0xc2, 0xe2:
			if breakAt(b, i) > 0 {
				return i
			}
		}
	}
	return len(b)
}

// nextLine finds the start of the line after the one that holds b[i], len(b) at the end.
func nextLine(b []byte, i int) int {
	e := lineEnd(b, i)
	return e + breakAt(b, e)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// skipBlanks moves over spaces and tabs.
func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

const bom = "\xef\xbb\xbf"

func hasBOM(b []byte, i int) bool {
	return i+3 <= len(b) && b[i] == 0xef && b[i+1] == 0xbb && b[i+2] == 0xbf
}
