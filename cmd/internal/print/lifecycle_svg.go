package print

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// Measures of the drawing, in pixels.
const (
	svgLabel  = 160 // column of names
	svgPlot   = 800 // longest phase
	svgMargin = 16
	svgRow    = 24
	svgWidth  = svgLabel + svgPlot + svgMargin
)

// svgStyle holds every colour, light and dark. Text keeps a contrast of 4.5:1 against its ground, bars and lines 3:1.
const svgStyle = `<style>
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}
.head{font-weight:bold}.dim{fill:#59636e}.bad{fill:#b3261e}.warning{fill:#8a5a00}
.ground{fill:#ffffff}.grid{stroke:#d1d9e0}
.run{fill:#3f86d0}.init{fill:#8f7cc9}.wait{fill:#7d8a97}.hook{fill:#3a9385}.drain{fill:#bf7d10}
.loss{fill:#d32f2f;fill-opacity:.4;stroke:#d32f2f;stroke-width:2}
.term{stroke:#1f2328;stroke-width:2}.kill{stroke:#b3261e;stroke-width:4}.ready{stroke:#1a7f37;stroke-width:2}.exit{stroke:#59636e;stroke-width:1}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.dim{fill:#9198a1}.bad{fill:#ff8a80}.warning{fill:#e3b341}
.ground{fill:#0d1117}.grid{stroke:#30363d}
.run{fill:#4a90d9}.init{fill:#9d8be0}.wait{fill:#6b7682}.hook{fill:#4db6a5}.drain{fill:#c9902b}
.loss{fill:#ff5252;stroke:#ff5252}
.term{stroke:#e6edf3}.kill{stroke:#ff8a80}.ready{stroke:#56d364}.exit{stroke:#9198a1}
}
</style>
`

// drawing grows downwards.
type drawing struct {
	body bytes.Buffer
	y    int
}

// LifecycleSVG writes one picture of all results, without script, in light and dark: a group for each phase, a row for
// each container, bars with their times as titles, losses in red over the row that causes them, and the warnings and
// errors below. Both phases share a scale unless one would shrink below a quarter of the width.
func LifecycleSVG(w io.Writer, results []lifecycle.Result) error {
	d := &drawing{y: 8}
	label := "lifecycle"
	for _, group := range lifecycleGroups(results) {
		label = workloadName(group[0]) + " timeline"
		d.group(group)
	}
	if len(results) == 0 {
		d.text(4, "nothing to draw", "dim")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		svgWidth, d.y+8, svgWidth, d.y+8, xmlText(label))
	b.WriteString(svgStyle)
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", svgWidth, d.y+8)
	b.Write(d.body.Bytes())
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (d *drawing) group(group []lifecycle.Result) {
	names := sidecarName(group[0].Sidecar)
	if len(group) > 1 {
		names = "compared"
	}
	d.text(4, strings.ReplaceAll(lifecycleHead(group[0], names), "  ", " · "), "head")
	lengths := map[lifecycle.Phase]time.Duration{}
	longest := time.Duration(0)
	for _, phase := range []lifecycle.Phase{lifecycle.Start, lifecycle.Stop} {
		for _, t := range variantTimelines(group, phase) {
			lengths[phase] = max(lengths[phase], t.Length)
			longest = max(longest, t.Length)
		}
	}
	for _, phase := range []lifecycle.Phase{lifecycle.Start, lifecycle.Stop} {
		scale := longest
		if lengths[phase]*4 < longest {
			scale = lengths[phase]
		}
		d.phase(variantTimelines(group, phase), scale)
	}
	d.legend()
	for _, r := range group {
		d.verdicts(r, len(group) > 1)
	}
	d.y += 8
}

// text writes a line of text at the left and moves below it.
func (d *drawing) text(x int, text, class string) {
	d.y += 18
	fmt.Fprintf(&d.body, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, d.y-4, class, xmlText(text))
}

// svgX places a moment.
func svgX(at, scale time.Duration) string {
	x := svgLabel + float64(at)*svgPlot/float64(scale)
	return strconv.FormatFloat(float64(int64(x*10+0.5))/10, 'f', -1, 64)
}

func svgLength(span, scale time.Duration) string {
	x := float64(span) * svgPlot / float64(scale)
	return strconv.FormatFloat(max(1, float64(int64(x*10+0.5))/10), 'f', -1, 64)
}

func (d *drawing) phase(timelines []variantTimeline, scale time.Duration) {
	if len(timelines) == 0 {
		return
	}
	zero := "start (0 = sandbox ready, images present)"
	if timelines[0].Phase == lifecycle.Stop {
		zero = "stop (0 = deletion)"
	}
	fmt.Fprintf(&d.body, `<g class="%s">`+"\n", timelines[0].Phase)
	d.text(4, zero, "dim")
	rows := 0
	for _, t := range timelines {
		rows += len(t.Rows)
		if t.name != "" {
			rows++
		}
	}
	d.axis(scale, rows)
	for _, t := range timelines {
		if t.name != "" {
			fmt.Fprintf(&d.body, `<text x="4" y="%d" class="head">%s</text>`+"\n", d.y+15, xmlText(t.name))
			d.y += svgRow
		}
		for _, r := range t.Rows {
			d.row(r, scale)
		}
	}
	d.body.WriteString("</g>\n")
	d.y += 8
}

// axis draws labelled grid lines over the rows to come.
func (d *drawing) axis(scale time.Duration, rows int) {
	step := readableStep(scale, 10, []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200})
	top := d.y + 16
	for at := time.Duration(0); at <= scale; at += step {
		x := svgX(at, scale)
		fmt.Fprintf(&d.body, `<line class="grid" x1="%s" y1="%d" x2="%s" y2="%d"/><text class="dim" x="%s" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, top, x, top+rows*svgRow, x, top-3, lifecycle.FormatDuration(at))
	}
	d.y = top
}

func (d *drawing) row(r lifecycle.Row, scale time.Duration) {
	name := Clean(r.Name)
	fmt.Fprintf(&d.body, `<g transform="translate(0,%d)"><text x="4" y="16">%s<title>%s</title></text>`+"\n",
		d.y, xmlText(shorten(name, 20)), xmlText(name))
	for _, b := range r.Bars {
		d.bar(string(b.State), stateText(b.State), b, scale)
	}
	for _, b := range r.Losses {
		d.bar("loss", string(b.Verdict), b, scale)
	}
	for _, m := range r.Marks {
		class, text := svgMark(m.Kind)
		x := svgX(m.At, scale)
		fmt.Fprintf(&d.body, `<line class="%s" x1="%s" y1="2" x2="%s" y2="22"><title>%s %s</title></line>`+"\n",
			class, x, x, text, lifecycle.FormatDuration(m.At))
	}
	d.body.WriteString("</g>\n")
	d.y += svgRow
}

func (d *drawing) bar(class, text string, b lifecycle.Bar, scale time.Duration) {
	fmt.Fprintf(&d.body, `<rect class="%s" x="%s" y="4" width="%s" height="16"><title>%s %s–%s</title></rect>`+"\n",
		class, svgX(b.From, scale), svgLength(b.To-b.From, scale), text,
		lifecycle.FormatDuration(b.From), lifecycle.FormatDuration(b.To))
}

func svgMark(k lifecycle.Kind) (class, text string) {
	switch k {
	case lifecycle.SignalTerm:
		return "term", "SIGTERM"
	case lifecycle.SignalKill:
		return "kill", "SIGKILL"
	case lifecycle.ContainerExit:
		return "exit", "exit"
	default:
		return "ready", "ready"
	}
}

// legend explains bars and lines.
func (d *drawing) legend() {
	d.y += 4
	x := svgLabel
	for _, s := range []struct{ class, text string }{
		{"init", "init"},
		{"wait", "not ready"},
		{"hook", "hook"},
		{"run", "running"},
		{"drain", "draining"},
		{"loss", "trouble"},
	} {
		fmt.Fprintf(&d.body, `<rect class="%s" x="%d" y="%d" width="12" height="12"/><text x="%d" y="%d">%s</text>`+"\n",
			s.class, x, d.y, x+17, d.y+10, s.text)
		x += 17 + 8*len(s.text) + 16
	}
	for _, s := range []string{"ready", "term", "kill"} {
		text := map[string]string{"ready": "ready", "term": "SIGTERM", "kill": "SIGKILL"}[s]
		fmt.Fprintf(&d.body, `<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/><text x="%d" y="%d">%s</text>`+"\n",
			s, x, d.y-1, x, d.y+13, x+7, d.y+10, text)
		x += 7 + 8*len(text) + 16
	}
	d.y += 18
}

// verdicts lists warnings and errors with their times, or says that there are none.
func (d *drawing) verdicts(r lifecycle.Result, named bool) {
	prefix := ""
	if named {
		prefix = Clean(r.Variant) + ": "
	}
	any := false
	for _, v := range byWeight(r.Verdicts) {
		if v.Severity == policy.Info {
			continue
		}
		any = true
		class := "warning"
		if v.Severity == policy.Error {
			class = "bad"
		}
		line := prefix + v.Severity.String() + " " + string(v.ID)
		if v.Phase != lifecycle.Whole {
			line += ", " + string(v.Phase)
		}
		if when := v.When(); when != "" {
			line += " " + when
		}
		d.text(4, line, class)
	}
	if !any {
		d.text(4, prefix+"nothing is lost", "dim")
	}
}
