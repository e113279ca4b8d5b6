package manifest

import (
	"bytes"
	"errors"
	"slices"
)

// Splice applies edits to text. Edits that overlap or leave the text are an error.
func Splice(text []byte, edits []Edit) ([]byte, error) {
	return splice(text, slices.Clone(edits), 0, len(text))
}

// Inverse gives the edits that lead from Raw back to the text before; before must be that text.
func (r Result) Inverse(before []byte) []Edit {
	out := make([]Edit, 0, len(r.Edits))
	shift := 0
	for _, e := range r.Edits {
		start := e.Start + shift
		out = append(out, Edit{start, start + len(e.Text), bytes.Clone(before[e.Start:e.End])})
		shift += len(e.Text) - (e.End - e.Start)
	}
	return out
}

func sortEdits(edits []Edit) {
	slices.SortStableFunc(edits, func(a, b Edit) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		// What is inserted at a place comes before what is deleted from there on.
		return min(a.End-a.Start, 1) - min(b.End-b.Start, 1)
	})
}

// splice applies edits to raw[from:to]; offsets are those of raw. It sorts the edits.
func splice(raw []byte, edits []Edit, from, to int) ([]byte, error) {
	sortEdits(edits)
	size := to - from
	for _, e := range edits {
		size += len(e.Text) - (e.End - e.Start)
	}
	out := make([]byte, 0, max(size, 0))
	at := from
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > to {
			return nil, errors.New("changes overlap in the text")
		}
		out = append(out, raw[at:e.Start]...)
		out = append(out, e.Text...)
		at = e.End
	}
	return append(out, raw[at:to]...), nil
}
