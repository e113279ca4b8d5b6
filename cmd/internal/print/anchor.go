package print

import (
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// smallPiece is the number of lines up to which go-udiff finds the shortest difference. It gives up the search at 50
// changed lines and then calls lines changed that are not; an injected sidecar alone has more.
const smallPiece = 50

// generalSpans finds the changed lines between two texts; offset is added to every place in old. Lines that occur once
// in each text, in the same order, are taken as the same; they part the texts into pieces, and the pieces likewise,
// until go-udiff finds the shortest difference of a piece. Time grows with the length, not with the length and the
// number of changes as in a search for the shortest difference of the whole.
func generalSpans(old, new string, offset int) []span {
	a := &anchored{old: splitLines(old), new: splitLines(new)}
	a.oldAt = offsets(a.old)
	a.piece(0, len(a.old), 0, len(a.new))
	for i := range a.spans {
		a.spans[i].lo += offset
		a.spans[i].hi += offset
	}
	return a.spans
}

// anchored is the state of one comparison: both texts in lines, with the offset of each old line and of the end.
type anchored struct {
	old, new []string
	oldAt    []int
	spans    []span
}

func splitLines(text string) []string {
	var lines []string
	for len(text) > 0 {
		end := strings.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		lines = append(lines, text[:end])
		text = text[end:]
	}
	return lines
}

func offsets(lines []string) []int {
	at := make([]int, len(lines)+1)
	for i, line := range lines {
		at[i+1] = at[i] + len(line)
	}
	return at
}

// piece compares the lines from a0 up to a1 of old with those from b0 up to b1 of new.
func (c *anchored) piece(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && c.old[a0] == c.new[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && c.old[a1-1] == c.new[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 || a1-a0+b1-b0 <= smallPiece {
		c.small(a0, a1, b0, b1)
		return
	}
	anchors := c.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 {
		c.small(a0, a1, b0, b1)
		return
	}
	for _, anchor := range anchors {
		c.piece(a0, anchor[0], b0, anchor[1])
		a0, b0 = anchor[0]+1, anchor[1]+1
	}
	c.piece(a0, a1, b0, b1)
}

// small gives what is left to go-udiff.
func (c *anchored) small(a0, a1, b0, b1 int) {
	if a0 == a1 && b0 == b1 {
		return
	}
	old, new := strings.Join(c.old[a0:a1], ""), strings.Join(c.new[b0:b1], "")
	for _, e := range udiff.Lines(old, new) {
		c.spans = join(c.spans, span{lo: c.oldAt[a0] + e.Start, hi: c.oldAt[a0] + e.End, new: []byte(e.New)})
	}
}

// anchors gives the pairs of lines that occur once on both sides, as many as there are in the same order.
func (c *anchored) anchors(a0, a1, b0, b1 int) [][2]int {
	type count struct{ old, new, at int }
	counts := make(map[string]*count)
	for _, line := range c.old[a0:a1] {
		if counts[line] == nil {
			counts[line] = &count{}
		}
		counts[line].old++
	}
	for i, line := range c.new[b0:b1] {
		if n := counts[line]; n != nil {
			n.new++
			n.at = b0 + i
		}
	}
	var pairs [][2]int
	for i, line := range c.old[a0:a1] {
		if n := counts[line]; n.old == 1 && n.new == 1 {
			pairs = append(pairs, [2]int{a0 + i, n.at})
		}
	}
	return increasing(pairs)
}

// increasing gives the longest row of pairs whose second numbers increase; the first ones do already.
func increasing(pairs [][2]int) [][2]int {
	// ends[n] is the pair with the smallest second number that a row of n+1 pairs can end with; before[i] is the pair
	// that comes before pair i in its row.
	var ends []int
	before := make([]int, len(pairs))
	for i, pair := range pairs {
		n, _ := slices.BinarySearchFunc(ends, pair[1], func(end, at int) int { return pairs[end][1] - at })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	row := make([][2]int, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		row[n] = pairs[i]
	}
	return row
}
