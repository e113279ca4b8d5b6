package manifest

// measureJSON handles a document that starts with a brace: values of a JSON stream need no separators. It steps
// aside (is = false) for everything that is not JSON; that is flow YAML, or an error to be found by parsing.
func (s *splitter) measureJSON(b []byte, from int, eof bool) (n int, sure, is bool) {
	q := from
	for {
		q = skipSpace(b, q)
		if q < len(b) && b[q] == '#' {
			q = nextLine(b, q)
			continue
		}
		break
	}
	if q >= len(b) || b[q] != '{' {
		return 0, false, false
	}
	if !eof && len(b) < 2*s.jsonShort {
		return 0, false, true
	}
	end, state := skipJSON(b, q)
	if state == jsonBad || state == jsonShort && eof {
		return 0, false, false
	}
	if state == jsonShort {
		// A long value is read from its start again only when twice as much of it is there.
		s.jsonShort = len(b)
		return 0, false, true
	}
	r := skipSpace(b, end)
	if r+lookahead > len(b) && !eof {
		return 0, false, true
	}
	if r == len(b) {
		s.tail = len(b)
		return len(b), true, true
	}
	if b[r] != '{' {
		return 0, false, false
	}
	// The rest of the line belongs to the value before, so that a document that passes keeps its line end.
	n = skipBlanks(b, end)
	if w := breakAt(b, n); w > 0 {
		n += w
	} else {
		n = r
	}
	s.tail, s.next = n, afterJSON
	return n, true, true
}

// skipSpace moves over JSON white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}
