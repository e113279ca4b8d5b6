package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/kube-inject/inject/policy"
)

// Flip says that a verdict comes or goes when one option changes and all others stay.
type Flip struct {
	// Option is the flag's name, see [Flags].
	Option string
	// At is the last value with the present verdicts where Above, else the largest smaller value without them.
	At    time.Duration
	Above bool
	// Verdict is what comes (Appears) or goes.
	Verdict  ID
	Severity policy.Severity
	Appears  bool
}

// String prints the flip as a phrase: "--app-shutdown above 5s brings outbound-lost".
func (f Flip) String() string { return f.turn() + " " + f.verb() + " " + string(f.Verdict) }

func (f Flip) turn() string {
	switch {
	case f.Above:
		return fmt.Sprintf("--%s above %s", f.Option, FormatDuration(f.At))
	case f.At == 0:
		return fmt.Sprintf("--%s of 0s", f.Option)
	default:
		return fmt.Sprintf("--%s of %s or less", f.Option, FormatDuration(f.At))
	}
}

func (f Flip) verb() string {
	if f.Appears {
		return "brings"
	}
	return "ends"
}

// Phrases prints flips, those of one value of one option together: "--proxy-ready of 59.5s or less ends hold-timeout
// and app-before-proxy".
func Phrases(flips []Flip) []string {
	var out []string
	turn, verb := "", ""
	for _, f := range flips {
		switch {
		case f.turn() != turn:
			out = append(out, f.String())
		case f.verb() != verb:
			out[len(out)-1] += " and " + f.verb() + " " + string(f.Verdict)
		default:
			out[len(out)-1] += " and " + string(f.Verdict)
		}
		turn, verb = f.turn(), f.verb()
	}
	return out
}

// searchEnd is the largest estimate worth asking about; searchStep the first step away from the present value.
const (
	searchEnd  = time.Hour
	searchStep = 250 * time.Millisecond
)

// knob is an option that can be turned.
type knob struct {
	name string
	of   func(*Options) *time.Duration
	// start and stop say which phases look at the option.
	start, stop bool
}

// Sensitivity gives, for every estimate, the nearest smaller and larger value at which a warning or an error comes or
// goes, exact to the millisecond. It looks in growing steps up to an hour, so a verdict that comes and goes between
// two steps can stay unseen. The order is that of [Flags].
func Sensitivity(p Pod, o Options) []Flip {
	m := read(&p, &o)
	m.memory = make([]ranked, 0, 64)
	never := m.phases(&o, func(*trace) {}).has(AppNeverStarts)
	var out []Flip
	for _, k := range m.knobs() {
		if never && !k.start {
			continue // what never starts does not stop
		}
		turned := o
		turned.SkipStart, turned.SkipStop = o.SkipStart || !k.start, o.SkipStop || !k.stop
		base := m.bad(&turned)
		out = append(out, m.below(k, turned, base)...)
		out = append(out, m.above(k, turned, base)...)
	}
	return out
}

func (m *model) knobs() []knob {
	var list []knob
	if m.sidecar != None {
		list = append(list, knob{"proxy-ready", func(o *Options) *time.Duration { return &o.ProxyReady }, true, false})
	}
	list = append(list,
		knob{"app-shutdown", func(o *Options) *time.Duration { return &o.AppShutdown.Default }, m.job, true},
		knob{"requests-in-flight", func(o *Options) *time.Duration { return &o.RequestsInFlight }, false, true})
	if m.settings.exitOnZero {
		list = append(list, knob{"connections-open", func(o *Options) *time.Duration { return &o.ConnectionsOpen }, false, true})
	}
	list = append(list, knob{"endpoint-lag", func(o *Options) *time.Duration { return &o.EndpointLag }, false, true})
	if _, limited := m.deadline(); limited && m.job {
		list = append(list, knob{"app-duration", func(o *Options) *time.Duration { return &o.AppDuration }, true, false})
	}
	return list
}

// bad plays the pod and gives its warnings and errors, sorted.
func (m *model) bad(o *Options) []ID {
	var ids []ID
	for _, f := range m.phases(o, func(t *trace) { m.memory = t.events }) {
		if isBad(f.id) && !slices.Contains(ids, f.id) {
			ids = append(ids, f.id)
		}
	}
	slices.Sort(ids)
	return ids
}

func isBad(id ID) bool {
	switch id {
	case JobRetrying, JobFailed, JobCompletes, StartOK, StopOK:
		return false
	}
	return true
}

// at plays the pod with one knob turned to value; o is a copy.
func (m *model) at(k knob, o Options, value time.Duration) []ID {
	*k.of(&o) = value
	return m.bad(&o)
}

func (m *model) above(k knob, o Options, base []ID) []Flip {
	same := *k.of(&o)
	for step := searchStep; same+step <= searchEnd; step *= 2 {
		if !slices.Equal(m.at(k, o, same+step), base) {
			last, _, ids := m.bisect(k, o, base, same, same+step)
			return flips(k, last, true, base, ids)
		}
		same += step
	}
	return nil
}

func (m *model) below(k knob, o Options, base []ID) []Flip {
	same := *k.of(&o)
	if same >= Never {
		if same = searchEnd; !slices.Equal(m.at(k, o, same), base) {
			return nil
		}
	}
	for step := searchStep; same > 0; step *= 2 {
		to := max(0, same-step)
		if !slices.Equal(m.at(k, o, to), base) {
			_, first, ids := m.bisect(k, o, base, same, to)
			return flips(k, first, false, base, ids)
		}
		same = to
	}
	return nil
}

// bisect narrows the change between a value with the verdicts of base and one without to a millisecond; ids are the
// verdicts right behind it.
func (m *model) bisect(k knob, o Options, base []ID, same, other time.Duration) (last, first time.Duration, ids []ID) {
	ids = m.at(k, o, other)
	for max(same-other, other-same) > time.Millisecond {
		middle := (same + (other-same)/2).Truncate(time.Millisecond)
		if middle == same || middle == other {
			break
		}
		if now := m.at(k, o, middle); slices.Equal(now, base) {
			same = middle
		} else {
			other, ids = middle, now
		}
	}
	return same, other, ids
}

func flips(k knob, at time.Duration, above bool, base, ids []ID) []Flip {
	var out []Flip
	add := func(id ID, appears bool) {
		out = append(out, Flip{
			Option: k.name, At: at, Above: above, Verdict: id, Severity: rankOf(id).Severity, Appears: appears,
		})
	}
	for _, id := range base {
		if !slices.Contains(ids, id) {
			add(id, false)
		}
	}
	for _, id := range ids {
		if !slices.Contains(base, id) {
			add(id, true)
		}
	}
	return out
}
