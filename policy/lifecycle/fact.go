package lifecycle

import (
	"slices"
	"time"
)

// fact is a verdict before it has words: what the simulation found, and where.
type fact struct {
	id       ID
	phase    Phase
	from, to time.Duration
	// spans says that from and to mean something; to may be Never for "to the end".
	spans     bool
	container string
	// a is a time that the message names: see the message of each id.
	a time.Duration
}

type facts []fact

func (f *facts) at(id ID, phase Phase, from, to time.Duration) *fact {
	*f = append(*f, fact{id: id, phase: phase, from: from, to: to, spans: true})
	return &(*f)[len(*f)-1]
}

func (f *facts) plain(id ID, phase Phase) *fact {
	*f = append(*f, fact{id: id, phase: phase})
	return &(*f)[len(*f)-1]
}

func (f facts) has(id ID) bool {
	return slices.ContainsFunc(f, func(x fact) bool { return x.id == id })
}

// span is a stretch of time; to is not part of it.
type span struct{ from, to time.Duration }

func within(spans []span, t time.Duration) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.from <= t && t < s.to })
}

// next gives the first moment from t on that one of the rising spans covers, or [Never].
func next(spans []span, t time.Duration) time.Duration {
	for _, s := range spans {
		if t < s.to {
			return max(t, s.from)
		}
	}
	return Never
}
