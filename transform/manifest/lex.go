package manifest

// lexEvent is what the rough scan of a broken document meets at an offset.
type lexEvent byte

const (
	lexPlain  lexEvent = 'p' // a plain scalar, or the part of one on this line
	lexAlias  lexEvent = '*'
	lexAnchor lexEvent = '&'
	lexAction lexEvent = '{' // text that starts with {{ or {%
	lexTab    lexEvent = 't' // a tab in the indentation of a line
)

// lexer scans YAML that the parser refused, or may refuse: well enough to say where a quote or a bracket opens and
// which text is data. It never fails; on text that is no YAML at all its answers are guesses.
type lexer struct {
	b     []byte
	visit func(e lexEvent, start, end int) bool // false stops the scan

	i       int
	flow    []int // offsets of open brackets
	quote   int   // offset of a quote that is never closed, -1
	stopped bool
	keyCol  int // column of the last key or dash of the line, for block scalars
}

// lex runs over b from offset from to the end.
func lex(b []byte, from int, visit func(e lexEvent, start, end int) bool) *lexer {
	l := &lexer{b: b, i: from, quote: -1, visit: visit}
	for l.i < len(b) && !l.stopped {
		l.line()
	}
	return l
}

func (l *lexer) emit(e lexEvent, start, end int) {
	if l.visit != nil && !l.stopped && !l.visit(e, start, end) {
		l.stopped = true
	}
}

// line scans one line from its start, and what lines a scalar on it takes along.
func (l *lexer) line() {
	start := l.i
	end := lineEnd(l.b, start)
	first := skipBlanks(l.b, start)
	if first >= end || l.b[first] == '#' {
		l.i = end + breakAt(l.b, end)
		return
	}
	for k := start; k < first; k++ {
		if l.b[k] == '\t' && len(l.flow) == 0 {
			l.emit(lexTab, k, first)
			break
		}
	}
	l.i = first
	l.keyCol = first - start
	for l.i < len(l.b) && breakAt(l.b, l.i) == 0 && !l.stopped {
		l.token(start)
	}
	if l.i < len(l.b) {
		l.i += breakAt(l.b, l.i)
	}
}

// token scans one token of the line that starts at start.
func (l *lexer) token(start int) {
	b, i := l.b, l.i
	next := byte('\n')
	if i+1 < len(b) {
		next = b[i+1]
	}
	ends := isBlank(next) || breakAt(b, i+1) > 0 || i+1 >= len(b)
	switch c := b[i]; {
	case isBlank(c):
		l.i++
		if l.i < len(b) && b[l.i] == '#' {
			l.i = lineEnd(b, l.i)
		}
	case c == '"' || c == '\'':
		l.quoted(c)
	case c == '{' && (next == '{' || next == '%'):
		l.emit(lexAction, i, lineEnd(b, i))
		l.flow = append(l.flow, i)
		l.i++
	case c == '{' || c == '[':
		l.flow = append(l.flow, i)
		l.i++
	case (c == '}' || c == ']') && len(l.flow) > 0:
		l.flow = l.flow[:len(l.flow)-1]
		l.i++
	case c == ',' && len(l.flow) > 0:
		l.i++
	case (c == '-' || c == '?' || c == ':') && ends:
		l.i = skipBlanks(b, i+1)
		if c != ':' {
			l.keyCol = i - start
			if l.i < len(b) && b[l.i] != '|' && b[l.i] != '>' && breakAt(b, l.i) == 0 {
				l.keyCol = l.i - start
			}
		}
		if l.i < len(b) && b[l.i] == '#' {
			l.i = lineEnd(b, l.i)
		}
	case (c == '*' || c == '&') && !ends:
		e := i + 1
		for e < len(b) && !isBlank(b[e]) && breakAt(b, e) == 0 && (len(l.flow) == 0 || !isFlowByte(b[e])) {
			e++
		}
		l.emit(lexEvent(c), i, e)
		l.i = e
	case (c == '|' || c == '>') && len(l.flow) == 0 && l.block():
	default:
		l.plain()
	}
}

func isFlowByte(c byte) bool { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}' }

// quoted moves over a quoted scalar, over as many lines as it takes.
func (l *lexer) quoted(q byte) {
	open := l.i
	for l.i++; l.i < len(l.b); l.i++ {
		switch c := l.b[l.i]; {
		case c == '\\' && q == '"':
			l.i++
		case c == q && q == '\'' && l.i+1 < len(l.b) && l.b[l.i+1] == q:
			l.i++
		case c == q:
			l.i++
			return
		}
	}
	l.i = len(l.b)
	l.quote = open
}

// plain moves over the part of a plain scalar on this line.
func (l *lexer) plain() {
	start := l.i
	for l.i < len(l.b) && breakAt(l.b, l.i) == 0 {
		c := l.b[l.i]
		if c == ':' && (l.i+1 >= len(l.b) || isBlank(l.b[l.i+1]) || breakAt(l.b, l.i+1) > 0) {
			break
		}
		if c == '#' && l.i > start && isBlank(l.b[l.i-1]) {
			break
		}
		if len(l.flow) > 0 && isFlowByte(c) {
			break
		}
		l.i++
	}
	l.emit(lexPlain, start, l.i)
	if l.i < len(l.b) && l.b[l.i] == '#' {
		l.i = lineEnd(l.b, l.i)
	}
	if l.i == start {
		l.i++
	}
}

// block moves over a block scalar; false where the text is not its header.
func (l *lexer) block() bool {
	j := l.i + 1
	for j < len(l.b) && (l.b[j] == '+' || l.b[j] == '-' || l.b[j] >= '0' && l.b[j] <= '9') {
		j++
	}
	j = skipBlanks(l.b, j)
	if j < len(l.b) && l.b[j] != '#' && breakAt(l.b, j) == 0 {
		return false
	}
	j = nextLine(l.b, j)
	for j < len(l.b) {
		first := j
		for first < len(l.b) && l.b[first] == ' ' {
			first++
		}
		blank := skipBlanks(l.b, first)
		if (blank < len(l.b) && breakAt(l.b, blank) == 0) && first-j <= l.keyCol {
			break
		}
		j = nextLine(l.b, first)
	}
	// The caller moves over the line break in front of j.
	l.i = j - breakBefore(l.b, j)
	return true
}
