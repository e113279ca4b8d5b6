package manifest

import "fmt"

// Joiner tells what to write between the texts of several sources that go to one stream: a line end where the source
// before lacks one, and a separator where the next does not start with its own. A single source gains nothing.
// The zero value is ready to use.
type Joiner struct {
	begun bool
	json  bool // everything so far was JSON
	enc   Encoding
	last  []byte // the last bytes written
	eol   string // the last line end seen
	ended bool   // the last line is an end marker
}

// mixedEncodings says that sources of different encodings cannot share a stream.
type mixedEncodings struct{ a, b Encoding }

func (e mixedEncodings) Error() string {
	return fmt.Sprintf("sources in %s and %s cannot be written to one stream", e.a, e.b)
}

// Begin is asked before the first document of each source, with its text as it will be written, whether that is JSON,
// and the encoding of the source. It gives the bytes (UTF-8) to put before and how many bytes of first to drop: a byte
// order mark is only kept at the start of the stream. A source of no bytes needs no call. The error says that the
// encodings differ.
func (j *Joiner) Begin(first []byte, json bool, enc Encoding) (glue []byte, drop int, err error) {
	if len(first) == 0 {
		return nil, 0, nil
	}
	if !j.begun {
		j.begun, j.json, j.enc, j.eol = true, json, enc, "\n"
		return nil, 0, nil
	}
	if enc != j.enc {
		return nil, 0, mixedEncodings{j.enc, enc}
	}
	if hasBOM(first, 0) {
		drop = len(bom)
	}
	if len(j.last) > 0 && breakBefore(j.last, len(j.last)) == 0 {
		glue = append(glue, j.eol...)
	}
	switch {
	case j.json && json:
		return glue, drop, nil
	case drop < len(first) && first[drop] == '%':
		// A directive is one only after an end marker.
		if !j.ended {
			glue = append(append(glue, "..."...), j.eol...)
		}
	case markerAt(first, drop) != '-':
		glue = append(append(glue, "---"...), j.eol...)
	}
	j.json = j.json && json
	return glue, drop, nil
}

// Wrote notes text that went to the stream.
func (j *Joiner) Wrote(text []byte) {
	if len(text) == 0 {
		return
	}
	end := len(text) - breakBefore(text, len(text))
	start := end
	for start > 0 && breakBefore(text, start) == 0 {
		start--
	}
	eol := text[end:]
	if len(eol) == 0 {
		eol = text[start-breakBefore(text, start) : start]
	}
	switch string(eol) {
	case "":
	case "\r\n", "\r":
		j.eol = string(eol)
	default:
		j.eol = "\n"
	}
	j.ended = markerAt(text[:end], start) == '.'
	j.last = append(j.last[:0], text[max(0, len(text)-4):]...)
}
