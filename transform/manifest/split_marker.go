package manifest

import "bytes"

// lookahead is how many bytes behind a marker must be known to be sure of it.
const lookahead = 8

// markerAt tells '-' or '.' where a separator or an end marker stands at b[i], which must start a line.
func markerAt(b []byte, i int) byte {
	if i+3 > len(b) || b[i] != '-' && b[i] != '.' || b[i+1] != b[i] || b[i+2] != b[i] {
		return 0
	}
	if i+3 < len(b) && !isBlank(b[i+3]) && breakAt(b, i+3) == 0 {
		return 0
	}
	return b[i]
}

// lineStart tells whether b[i] is in column 1; a byte order mark before it does not count.
func lineStart(b []byte, i int) bool {
	if i == 0 || breakBefore(b, i) > 0 {
		return true
	}
	return i >= 3 && hasBOM(b, i-3) && lineStart(b, i-3)
}

// marker finds the next separator or end marker at or behind from; kind 0 means the stream ends without one.
func (s *splitter) marker(b []byte, from int, eof bool) (pos int, kind byte, ok bool) {
	for {
		dash := s.nextDash(b, from)
		limit := len(b)
		if dash >= 0 {
			limit = dash
		}
		for dot := nextRun(b[:limit], from, "..."); dot >= 0; {
			if dot+lookahead > len(b) && !eof {
				return 0, 0, false
			}
			if lineStart(b, dot) && markerAt(b, dot) != 0 {
				return dot, '.', true
			}
			for dot < limit && b[dot] == '.' {
				dot++
			}
			dot = nextRun(b[:limit], dot, "...")
		}
		if dash < 0 {
			return len(b), 0, eof
		}
		if dash+lookahead > len(b) && !eof {
			return 0, 0, false
		}
		if lineStart(b, dash) {
			if markerAt(b, dash) != 0 {
				return dash, '-', true
			}
			if b[dash+3] != '-' && s.fresh(dash) {
				s.glued = append(s.glued, dash)
			}
		}
		for from = dash; from < len(b) && b[from] == '-'; {
			from++
		}
	}
}

// nextDash finds the next "---" at or behind from. It remembers how far it looked, so that a stream of end markers alone
// is not searched to its end for each document.
func (s *splitter) nextDash(b []byte, from int) int {
	start := max(from, int(s.dashFree-s.offset))
	i := nextRun(b, start, "---")
	if i < 0 {
		s.dashFree = max(s.dashFree, s.offset+int64(len(b)-2))
		return -1
	}
	s.dashFree = s.offset + int64(i)
	return i
}

// fresh keeps a glued separator from being noted twice when the search starts again a little earlier.
func (s *splitter) fresh(i int) bool {
	return len(s.glued) == 0 || s.glued[len(s.glued)-1] < i
}

func nextRun(b []byte, from int, run string) int {
	if from >= len(b) {
		return -1
	}
	i := bytes.Index(b[from:], []byte(run))
	if i < 0 {
		return -1
	}
	return from + i
}
