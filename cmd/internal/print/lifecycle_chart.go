package print

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// chart draws timelines of one phase on a common axis.
type chart struct {
	style  Style
	phase  lifecycle.Phase
	length time.Duration
	column time.Duration
	cells  int
	label  int
	used   string
}

func newChart(timelines []lifecycle.Timeline, style Style) *chart {
	c := &chart{style: style, phase: timelines[0].Phase}
	length := time.Duration(0)
	for _, t := range timelines {
		length = max(length, t.Length)
		for _, r := range chartRows(t) {
			c.label = max(c.label, utf8.RuneCountInString(Clean(r.Name)))
		}
	}
	c.label = min(c.label, lifecycleLabel)
	c.column = columnWidth(length)
	c.length = length
	c.cells = int((length+c.column-1)/c.column) + 1
	return c
}

// chartRows are the rows of a timeline with the losses behind.
func chartRows(t lifecycle.Timeline) []lifecycle.Row {
	rows := slices.Clone(t.Rows)
	for _, r := range []lifecycle.Row{t.Inbound, t.Outbound} {
		if len(r.Bars) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// columnWidth is a sixtieth of length, rounded up to a readable step.
func columnWidth(length time.Duration) time.Duration {
	return readableStep(length, 60, []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600})
}

// readableStep gives the first of the steps (in seconds) that goes at most parts times into length; whole days beyond.
func readableStep(length time.Duration, parts int, steps []float64) time.Duration {
	for _, s := range steps {
		if d := time.Duration(s * float64(time.Second)); length <= d*time.Duration(parts) {
			return d
		}
	}
	const day = 24 * time.Hour
	return (length/time.Duration(parts)/day + 1) * day
}

func (c *chart) axis(b *bytes.Buffer) {
	zero := "0 = sandbox ready, images present"
	if c.phase == lifecycle.Stop {
		zero = "0 = deletion"
	}
	fmt.Fprintf(b, "%s: %s, one column = %s\n", c.phase, zero, lifecycle.FormatDuration(c.column))
	step := c.tick()
	line := []byte(strings.Repeat(" ", c.label+1))
	for col := 0; col < c.cells; col += step {
		text := lifecycle.FormatDuration(time.Duration(col) * c.column)
		if c.label+1+col+len(text) > lifecycleWidth {
			break
		}
		for len(line) < c.label+1+col {
			line = append(line, ' ')
		}
		line = append(line, text...)
	}
	b.Write(line)
	b.WriteByte('\n')
}

// tick is the number of columns between labels: a readable time with a blank behind every label.
func (c *chart) tick() int {
	for _, s := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400} {
		d := time.Duration(s * float64(time.Second))
		if d%c.column == 0 && int(d/c.column) >= c.widest(d)+1 {
			return int(d / c.column)
		}
	}
	return c.cells
}

// widest is the length of the longest label at multiples of d; it need not be the last: 0.8s is longer than 1s.
func (c *chart) widest(d time.Duration) int {
	longest := 0
	for at := time.Duration(0); at < time.Duration(c.cells)*c.column; at += d {
		longest = max(longest, len(lifecycle.FormatDuration(at)))
	}
	return longest
}

func (c *chart) rows(b *bytes.Buffer, t lifecycle.Timeline, indent string) {
	for _, r := range chartRows(t) {
		c.row(b, r, indent)
	}
}

func (c *chart) row(b *bytes.Buffer, r lifecycle.Row, indent string) {
	cells := []byte(strings.Repeat(".", c.cells))
	for _, bar := range r.Bars {
		sign := stateSign(bar.State)
		for i := range cells {
			at := time.Duration(i) * c.column
			// what lasts to the end of the picture, and a loss, fill the column of their end too
			last := at == bar.To && (bar.State == lifecycle.Loss || at == c.length)
			if at >= bar.From && (at < bar.To || last) {
				cells[i] = sign
			}
		}
		if first := (bar.From + c.column - 1) / c.column; bar.State == lifecycle.Loss && first*c.column >= bar.To {
			cells[min(int(bar.From/c.column), c.cells-1)] = sign // between two edges, but it must not be overlooked
		}
	}
	weight := make([]int, c.cells)
	for _, m := range r.Marks {
		if sign, n := markSign(m.Kind); n > weight[m.At/c.column] {
			cells[m.At/c.column], weight[m.At/c.column] = sign, n
		}
	}
	line := strings.TrimRight(string(cells), ".")
	c.used += line
	name := shorten(indent+Clean(r.Name), c.label)
	fmt.Fprintf(b, "%s%s %s\n", name, strings.Repeat(" ", c.label-utf8.RuneCountInString(name)), c.paint(line))
}

// paint colours losses and signals of a row.
func (c *chart) paint(line string) string {
	if !c.style.On {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		j := i
		for j < len(line) && line[j] == line[i] {
			j++
		}
		run := line[i:j]
		switch line[i] {
		case '!', 'K':
			run = c.style.Red(run)
		case '~', 'h':
			run = c.style.Yellow(run)
		case '=', 'R':
			run = c.style.Green(run)
		case 'T', 'X':
			run = c.style.Bold(run)
		}
		b.WriteString(run)
		i = j
	}
	return b.String()
}

// shorten keeps both ends of a name that is too long.
func shorten(name string, width int) string {
	runes := []rune(name)
	if len(runes) <= width {
		return name
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

func stateSign(s lifecycle.State) byte {
	switch s {
	case lifecycle.Initialising:
		return 'i'
	case lifecycle.Waiting:
		return 's'
	case lifecycle.Hooking:
		return 'h'
	case lifecycle.Draining:
		return '~'
	case lifecycle.Loss:
		return '!'
	default:
		return '='
	}
}

// markSign gives the sign of an event and its weight: the heavier one is shown.
func markSign(k lifecycle.Kind) (sign byte, weight int) {
	switch k {
	case lifecycle.ContainerExit:
		return 'X', 4
	case lifecycle.SignalKill:
		return 'K', 3
	case lifecycle.SignalTerm:
		return 'T', 2
	default:
		return 'R', 1
	}
}

// legend explains the signs that were used.
func legend(b *bytes.Buffer, used string) {
	var parts []string
	for _, s := range []string{
		"i init", "s not ready", "h hook", "= running", "~ draining", "! lost", "R ready", "T SIGTERM", "K SIGKILL", "X exit",
	} {
		if strings.Contains(used, s[:1]) {
			parts = append(parts, s)
		}
	}
	if len(parts) > 0 {
		wrapTo(b, "("+strings.Join(parts, ", ")+")", "", " ", nil)
	}
}
