package print

import (
	"io"
	"strings"
	"sync"
	"time"
)

// When a progress line appears, and how often it is rewritten.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// WantProgress decides whether a command shows progress: on a terminal, not when it was told to be quiet, and not when
// its output goes to a terminal too, where the two would mix.
func WantProgress(stdout, stderr Terminal, quiet bool) bool {
	return stderr.IsTerminal && stderr.Term != "dumb" && !stdout.IsTerminal && !quiet
}

// Progress is one line on a terminal that is rewritten while work goes on and erased at the end. Short work shows
// none. A nil Progress shows nothing, for streams that are no terminal. Its methods may be called at the same time.
type Progress struct {
	w     io.Writer
	now   func() time.Time
	width int

	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown int // columns that hold text
	ended bool
}

// NewProgress starts a progress line on w, which should be the terminal behind stderr. now is the clock; width is the
// terminal's number of columns, zero for the usual 80.
func NewProgress(w io.Writer, now func() time.Time, width int) *Progress {
	if width < 2 {
		width = 80
	}
	return &Progress{w: w, now: now, width: width, start: now()}
}

// Show puts text on the line, unless it is too early for that. An error of the terminal is no error of the work, so
// there is none.
func (p *Progress) Show(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.ended || now.Sub(p.start) < progressAfter || !p.last.IsZero() && now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	// One column stays free: a full line makes some terminals scroll.
	runes := []rune(Clean(text))
	for width(runes) > p.width-1 {
		runes = runes[:len(runes)-1]
	}
	n := width(runes)
	_, _ = io.WriteString(p.w, "\r"+string(runes)+strings.Repeat(" ", max(0, p.shown-n)))
	p.shown = max(p.shown, n)
}

// Done erases the line. Whatever is called later shows nothing.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown > 0 && !p.ended {
		_, _ = io.WriteString(p.w, "\r"+strings.Repeat(" ", p.shown)+"\r")
	}
	p.ended = true
}
