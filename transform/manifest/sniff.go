package manifest

import "bytes"

// KindSet says which kind words can name a workload. The value of a word lists the API groups that must be named
// somewhere in the document for it to count; a word with an empty list always counts. Kinds that are only known as
// switched off are entered with their group, so that a core Service is not parsed for the sake of Knative's.
type KindSet map[string][]string

// Class is what a glance at the bytes of a document tells.
type Class int

const (
	// Pass: the document holds no workload; its bytes go through unparsed.
	Pass Class = iota
	// Parse: it may hold one.
	Parse
)

// Sniff classifies the document without parsing it, and gives the kind word it saw for messages, empty where it saw
// none for certain. It errs only towards Parse: a document it passes is provably no workload, so errors inside of it
// need not stop a run.
func (d Document) Sniff(kinds KindSet) (Class, string) {
	if d.Index == 0 {
		return Pass, ""
	}
	body := d.Raw[min(d.body, len(d.Raw)):]
	if !bytes.Contains(body, []byte("kind")) && !d.hidesKey(body) {
		return Pass, ""
	}
	if d.contentOnSeparator() {
		return Parse, ""
	}
	word := d.kindWord(body)
	if word == nil || !isLetter(word[0]) {
		// A kind that is a number is no kind, and worth a notice.
		return Parse, ""
	}
	if bytes.HasSuffix(word, []byte("List")) || string(word) == "Template" {
		return Parse, string(word)
	}
	groups, known := kinds[string(word)]
	if !known {
		return Pass, ""
	}
	for _, g := range groups {
		if bytes.Contains(body, []byte(g)) {
			return Parse, string(word)
		}
	}
	if len(groups) > 0 {
		return Pass, ""
	}
	return Parse, string(word)
}

// LooksJSON tells whether the content of the document starts as JSON does, with a brace or a bracket.
func (d Document) LooksJSON() bool {
	i := skipSpace(d.Raw, min(d.body, len(d.Raw)))
	return i < len(d.Raw) && (d.Raw[i] == '{' || d.Raw[i] == '[')
}

// contentOnSeparator: something other than a comment follows --- on its line.
func (d Document) contentOnSeparator() bool {
	if d.sep < 0 {
		return false
	}
	i := skipBlanks(d.Raw, d.sep+3)
	return i < len(d.Raw) && d.Raw[i] != '#' && breakAt(d.Raw, i) == 0
}

// hidesKey: a key may be written with escapes, or a template action may produce one.
func (d Document) hidesKey(body []byte) bool {
	for i := 0; ; {
		k := bytes.IndexByte(body[i:], '{')
		if k < 0 {
			break
		}
		i += k + 1
		if i < len(body) && (body[i] == '{' || body[i] == '%') && onlyBlanksBefore(body, i-1) {
			return true
		}
	}
	for i := 0; ; {
		k := bytes.IndexByte(body[i:], '\\')
		if k < 0 {
			return false
		}
		i += k
		start := i
		for start > 0 && breakBefore(body, start) == 0 {
			start--
		}
		end := lineEnd(body, i)
		if bytes.IndexByte(body[start:i], '"') >= 0 {
			// A quoted key may be followed by its colon on the same line only, except after "?".
			if bytes.IndexByte(body[i:end], ':') >= 0 || bytes.IndexByte(body[start:i], '?') >= 0 {
				return true
			}
		}
		i = end
	}
}

func onlyBlanksBefore(b []byte, i int) bool {
	for i > 0 && isBlank(b[i-1]) {
		i--
	}
	return i == 0 || breakBefore(b, i) > 0
}

// kindWord gives the word of the one column-1 line "kind: word", nil where that is not certain.
func (d Document) kindWord(body []byte) []byte {
	var word []byte
	first := true
	for i := 0; i < len(body); {
		end := d.lineEnd(body, i)
		if end > i {
			c := body[i]
			switch {
			case c == '"' || c == '\'' || c == 'k':
				if w, is := kindLine(body[i:end]); is {
					if w == nil || word != nil {
						return nil
					}
					word = w
				} else if c == '"' && bytes.IndexByte(body[i:end], '\\') >= 0 {
					return nil
				}
			case c == '?' || c == '{' || c == '&' || c == '!' || c == '*':
				return nil
			case c == '<' && end > i+1 && body[i+1] == '<':
				return nil
			}
			if first {
				if j := skipBlanks(body, i); j < end && body[j] != '#' {
					if j > i || c == '[' || c == '-' {
						return nil
					}
					first = false
				}
			}
		}
		i = end + breakAt(body, end)
	}
	return word
}

// lineEnd is lineEnd with the fast path for text whose only break is the line feed.
func (d Document) lineEnd(b []byte, i int) int {
	if d.facts.odd || d.facts.bad >= 0 || d.facts.loneCR {
		return lineEnd(b, i)
	}
	k := bytes.IndexByte(b[i:], '\n')
	if k < 0 {
		return len(b)
	}
	if k > 0 && b[i+k-1] == '\r' {
		k--
	}
	return i + k
}

// kindLine reads a line that may be "kind: word"; is tells that the key is kind, and the word is nil where the value
// is anything but one plain or simply quoted word.
func kindLine(line []byte) (word []byte, is bool) {
	i := 0
	if line[0] == '"' || line[0] == '\'' {
		i = 1
	}
	if !bytes.HasPrefix(line[i:], []byte("kind")) {
		return nil, false
	}
	i += 4
	if i < len(line) && (line[i] == '"' || line[i] == '\'') {
		i++
	}
	if i = skipBlanks(line, i); i >= len(line) || line[i] != ':' {
		return nil, false
	}
	from := skipBlanks(line, i+1)
	if from == i+1 || from >= len(line) {
		return nil, true
	}
	quote := byte(0)
	if line[from] == '"' || line[from] == '\'' {
		quote = line[from]
		from++
	}
	to := from
	for to < len(line) && isWordByte(line[to]) {
		to++
	}
	end := to
	if quote != 0 {
		if end >= len(line) || line[end] != quote {
			return nil, true
		}
		end++
	}
	rest := skipBlanks(line, end)
	if to == from || rest < len(line) && (rest == end || line[rest] != '#') {
		return nil, true
	}
	return line[from:to], true
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' || c == '/'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
