package print

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// lifecycleWidth is the width texts are wrapped at, lifecycleLabel the most that a row's name takes.
const (
	lifecycleWidth = 80
	lifecycleLabel = 18
)

// LifecycleText writes results as charts of characters, verdicts and remedies. Lines fit into 80 columns. Several
// results of one workload with a Variant each become one picture on a common axis and a table.
func LifecycleText(w io.Writer, results []lifecycle.Result, style Style) error {
	var b bytes.Buffer
	for i, group := range lifecycleGroups(results) {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(group) > 1 {
			lifecycleComparison(&b, group, style)
			continue
		}
		lifecycleSingle(&b, group[0], style)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// lifecycleGroups puts variants of the same workload that follow each other together.
func lifecycleGroups(results []lifecycle.Result) [][]lifecycle.Result {
	var out [][]lifecycle.Result
	for _, r := range results {
		last := len(out) - 1
		if last >= 0 && r.Variant != "" && out[last][0].Variant != "" && workloadName(out[last][0]) == workloadName(r) {
			out[last] = append(out[last], r)
			continue
		}
		out = append(out, []lifecycle.Result{r})
	}
	return out
}

// workloadName is namespace/name (Kind).
func workloadName(r lifecycle.Result) string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return Clean(fmt.Sprintf("%s (%s)", name, r.Kind))
}

func sidecarName(s lifecycle.Sidecar) string {
	if s == lifecycle.None {
		return "no sidecar"
	}
	return string(s) + " sidecar"
}

// lifecycleHead names workload, kind of sidecar, versions and grace period.
func lifecycleHead(r lifecycle.Result, sidecar string) string {
	return workloadName(r) + "  " + sidecar + "  " + lifecycleSetting(r)
}

func lifecycleSetting(r lifecycle.Result) string {
	return fmt.Sprintf("Kubernetes %s  Istio %s  grace %ds", r.Options.Kubernetes, r.Options.Istio, r.Grace)
}

// textHead writes the head in one line, or the settings in a second one.
func textHead(b *bytes.Buffer, r lifecycle.Result, sidecar string, style Style) {
	if head := lifecycleHead(r, sidecar); utf8.RuneCountInString(head) <= lifecycleWidth {
		fmt.Fprintln(b, style.Bold(head))
		return
	}
	wrapTo(b, workloadName(r)+"  "+sidecar, "", "  ", style.Bold)
	fmt.Fprintln(b, "  "+lifecycleSetting(r))
}

func lifecycleSingle(b *bytes.Buffer, r lifecycle.Result, style Style) {
	sidecar := sidecarName(r.Sidecar)
	if r.Variant != "" {
		sidecar = Clean(r.Variant) + ": " + sidecar
	}
	textHead(b, r, sidecar, style)
	used := ""
	for _, t := range r.Timelines() {
		c := newChart([]lifecycle.Timeline{t}, style)
		c.axis(b)
		c.rows(b, t, "")
		used += c.used
	}
	legend(b, used)
	for _, v := range byWeight(r.Verdicts) {
		textVerdict(b, v, style)
	}
	textFlips(b, r.Flips)
}

// byWeight puts errors first, then warnings, then the rest; within them the start comes before the stop.
func byWeight(verdicts []lifecycle.Verdict) []lifecycle.Verdict {
	out := slices.Clone(verdicts)
	slices.SortStableFunc(out, func(a, b lifecycle.Verdict) int {
		if a.Severity != b.Severity {
			return int(b.Severity - a.Severity)
		}
		return phasePlace(a.Phase) - phasePlace(b.Phase)
	})
	return out
}

func phasePlace(p lifecycle.Phase) int {
	return slices.Index([]lifecycle.Phase{lifecycle.Start, lifecycle.Whole, lifecycle.Stop}, p)
}

func textVerdict(b *bytes.Buffer, v lifecycle.Verdict, style Style) {
	word := strings.ToUpper(v.Severity.String())
	head := func(line string) string {
		return strings.Replace(line, word, severityWord(style, v.Severity), 1)
	}
	wrapTo(b, fmt.Sprintf("%s %s: %s", word, v.ID, Clean(v.Message)), "", "      ", head)
	if advice := v.Advice(); advice != "" {
		wrapTo(b, "fix: "+Clean(advice), "      ", "           ", nil)
	}
}

// severityWord is the coloured head of a verdict.
func severityWord(style Style, s policy.Severity) string {
	word := strings.ToUpper(s.String())
	switch s {
	case policy.Error:
		return style.Red(word)
	case policy.Warning:
		return style.Yellow(word)
	default:
		return style.Cyan(word)
	}
}

func textFlips(b *bytes.Buffer, flips []lifecycle.Flip) {
	if len(flips) == 0 {
		return
	}
	wrapTo(b, "sensitivity: "+strings.Join(lifecycle.Phrases(flips), "; "), "", "      ", nil)
}

// wrapTo writes text in lines of at most 80 columns, broken at blanks; longer words stand alone. first is given the
// first line to colour it.
func wrapTo(b *bytes.Buffer, text, indent, hang string, first func(string) string) {
	line, width, lines := indent, utf8.RuneCountInString(indent), 0
	empty := true
	flush := func() {
		if lines == 0 && first != nil {
			line = first(line)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		lines++
	}
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		if i > 0 && !empty && width+1+n > lifecycleWidth && word != "" {
			flush()
			line, width, empty = hang, utf8.RuneCountInString(hang), true
		}
		if !empty || i > 0 && line != hang {
			line += " "
			width++
		}
		line += word
		width += n
		empty = false
	}
	flush()
}

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

// tick is the number of columns between labels: a readable time with two blanks between the longest labels.
func (c *chart) tick() int {
	for _, s := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400} {
		d := time.Duration(s * float64(time.Second))
		last := d * time.Duration(int64(time.Duration(c.cells)*c.column/d))
		if d%c.column == 0 && int(d/c.column) >= len(lifecycle.FormatDuration(last))+2 {
			return int(d / c.column)
		}
	}
	return c.cells
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
