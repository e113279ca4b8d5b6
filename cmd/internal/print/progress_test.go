package print

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	type show struct {
		at   time.Duration
		text string
	}
	ms := time.Millisecond
	tests := map[string]struct {
		width int
		shows []show
		want  string
	}{
		"short work":     {80, []show{{0, "1"}, {100 * ms, "2"}, {499 * ms, "3"}}, ""},
		"long work":      {80, []show{{499 * ms, "1"}, {500 * ms, "2 of 9"}}, "\r2 of 9|\r      \r"},
		"ten a second":   {80, []show{{600 * ms, "a"}, {699 * ms, "b"}, {700 * ms, "c"}, {750 * ms, "d"}}, "\ra|\rc|\r \r"},
		"shorter text":   {80, []show{{600 * ms, "abc"}, {700 * ms, "x"}, {800 * ms, "yz"}}, "\rabc|\rx  |\ryz |\r   \r"},
		"narrow":         {6, []show{{600 * ms, "abcdefgh"}}, "\rabcde|\r     \r"},
		"wide letters":   {6, []show{{600 * ms, "漢漢漢"}}, "\r漢漢|\r    \r"},
		"control":        {80, []show{{600 * ms, "a\x1b\nb"}}, "\ra\ufffd b|\r    \r"},
		"default width":  {0, []show{{600 * ms, strings.Repeat("x", 100)}}, "\r" + strings.Repeat("x", 79) + "|\r" + strings.Repeat(" ", 79) + "\r"},
		"nothing at all": {80, nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
			now := start
			var out recorder
			p := NewProgress(&out, func() time.Time { return now }, test.width)
			for _, s := range test.shows {
				now = start.Add(s.at)
				p.Show(s.text)
			}
			p.Done()
			now = now.Add(time.Hour)
			p.Show("late")
			p.Done()
			if diff := cmp.Diff(test.want, strings.Join(out, "|")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWantProgress(t *testing.T) {
	t.Parallel()
	tty, pipe := Terminal{IsTerminal: true, Term: "xterm"}, Terminal{}
	tests := map[string]struct {
		stdout, stderr Terminal
		quiet, want    bool
	}{
		"output in a pipe":  {pipe, tty, false, true},
		"quiet":             {pipe, tty, true, false},
		"output is shown":   {tty, tty, false, false},
		"messages in a log": {pipe, pipe, false, false},
		"dumb":              {pipe, Terminal{IsTerminal: true, Term: "dumb"}, false, false},
	}
	for name, test := range tests {
		if got := WantProgress(test.stdout, test.stderr, test.quiet); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Where there is no terminal there is no progress, and nobody has to ask.
func TestProgressNil(t *testing.T) {
	t.Parallel()
	var p *Progress
	p.Show("x")
	p.Done()
}

// recorder keeps each write.
type recorder []string

func (r *recorder) Write(p []byte) (int, error) {
	*r = append(*r, string(p))
	return len(p), nil
}
