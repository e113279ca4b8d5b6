package config

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
)

// decoded gives a source as UTF-8. What Windows PowerShell writes to a file is UTF-16 with a byte order mark; a dump of a
// cluster may well be one. Anything else stays as it is.
func decoded(s Source) Source {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(s.Data, []byte{0xff, 0xfe, 0, 0}), len(s.Data) < 2, len(s.Data)%2 != 0:
		return s
	case s.Data[0] == 0xff && s.Data[1] == 0xfe:
	case s.Data[0] == 0xfe && s.Data[1] == 0xff:
		order = binary.BigEndian
	default:
		return s
	}
	units := make([]uint16, 0, len(s.Data)/2)
	for i := 2; i < len(s.Data); i += 2 {
		units = append(units, order.Uint16(s.Data[i:]))
	}
	return Source{Name: s.Name, Data: []byte(string(utf16.Decode(units)))}
}

// encodingFinding points to the first byte that is no UTF-8, where there is one. The YAML library says neither where it
// is nor, for some, that it is.
func encodingFinding(t text) *policy.Finding {
	line, start := 1, 0
	for i := 0; i < len(t.data); {
		r, size := utf8.DecodeRune(t.data[i:])
		if r == utf8.RuneError && size == 1 {
			return &policy.Finding{
				Code: CodeSyntax, Severity: policy.Error, Position: t.at(line, 1+utf8.RuneCount(t.data[start:i])), Document: t.document,
				Message: t.name() + " is not UTF-8: here is a byte that no character has", Hint: "Save the file as UTF-8.",
			}
		}
		i += size
		if r == '\n' {
			line, start = line+1, i
		}
	}
	return nil
}
