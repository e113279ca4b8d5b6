package manifest

import (
	"bytes"
	"strings"
)

// AppendComment gives the text of the document with one more line at its end, before an end marker. The line must be
// a comment; it gets the document's line end, and a text without a last line end stays so. JSON has no comments: the
// text comes back as it is. Where the text ends inside of a block scalar without a line break the comment gives it
// one; compare with [Equal] where that matters.
func (d Document) AppendComment(line string) []byte {
	if d.LooksJSON() {
		return d.Raw
	}
	at := min(d.tail, len(d.Raw))
	eol := "\n"
	if i := lineEnd(d.Raw, 0); breakAt(d.Raw, i) > 0 && (d.Raw[i] == '\r' || d.Raw[i] == '\n') {
		eol = string(d.Raw[i : i+breakAt(d.Raw, i)])
	}
	out := bytes.Clone(d.Raw[:at])
	if at > 0 && breakBefore(d.Raw, at) == 0 {
		return append(append(out, eol+line...), d.Raw[at:]...)
	}
	return append(append(out, line+eol...), d.Raw[at:]...)
}

// CutComment looks for the last line of the document that is a comment in column 1 and starts with prefix. It gives
// what follows the prefix and the text without the line, exactly as it was before [Document.AppendComment].
func (d Document) CutComment(prefix string) (rest string, without []byte, ok bool) {
	at := min(d.tail, len(d.Raw))
	end := at - breakBefore(d.Raw, at)
	start := end
	for start > 0 && breakBefore(d.Raw, start) == 0 {
		start--
	}
	line := string(d.Raw[start:end])
	if !strings.HasPrefix(line, "#") || !strings.HasPrefix(line, prefix) {
		return "", nil, false
	}
	if end == at {
		start -= breakBefore(d.Raw, start)
	}
	return line[len(prefix):], append(bytes.Clone(d.Raw[:start]), d.Raw[at:]...), true
}
