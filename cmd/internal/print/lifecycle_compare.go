package print

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// lifecycleComparison draws variants under each other on one axis for each phase, and a table.
func lifecycleComparison(b *bytes.Buffer, group []lifecycle.Result, style Style) {
	names := make([]string, len(group))
	for i, r := range group {
		names[i] = Clean(r.Variant)
	}
	textHead(b, group[0], strings.Join(names, ", "), style)
	used := ""
	for _, phase := range []lifecycle.Phase{lifecycle.Start, lifecycle.Stop} {
		timelines := variantTimelines(group, phase)
		if len(timelines) == 0 {
			continue
		}
		var all []lifecycle.Timeline
		for _, t := range timelines {
			all = append(all, t.Timeline)
		}
		c := newChart(all, style)
		c.label = min(c.label+1, lifecycleLabel)
		c.axis(b)
		for _, t := range timelines {
			fmt.Fprintln(b, style.Bold(t.name))
			c.rows(b, t.Timeline, " ")
		}
		used += c.used
	}
	legend(b, used)
	b.WriteByte('\n')
	textTable(b, comparisonTable(group), style)
}

// variantTimeline is a timeline and the variant it belongs to.
type variantTimeline struct {
	lifecycle.Timeline
	name string
}

// variantTimelines gives the pictures of a phase, all of the same length.
func variantTimelines(group []lifecycle.Result, phase lifecycle.Phase) []variantTimeline {
	var out []variantTimeline
	length := time.Duration(0)
	for _, r := range group {
		for _, t := range r.Timelines() {
			if t.Phase == phase {
				out = append(out, variantTimeline{t, Clean(r.Variant)})
				length = max(length, t.Length)
			}
		}
	}
	for i := range out {
		out[i].Timeline = out[i].Extend(length)
	}
	return out
}

// comparisonTable has a row for every moment and every warning or error, and a column for every variant.
func comparisonTable(group []lifecycle.Result) [][]string {
	head := []string{""}
	for _, r := range group {
		head = append(head, Clean(r.Variant))
	}
	table := [][]string{head}
	for _, m := range comparedMoments() {
		row, any := []string{m.name}, false
		for _, r := range group {
			at, ok := moment(r, m)
			row = append(row, at)
			any = any || ok
		}
		if any {
			table = append(table, row)
		}
	}
	for _, id := range comparedVerdicts(group) {
		row := []string{string(id)}
		for _, r := range group {
			row = append(row, verdictCell(r, id))
		}
		table = append(table, row)
	}
	row := []string{"worst"}
	for _, r := range group {
		row = append(row, worstWord(r))
	}
	return append(table, row)
}

func worstWord(r lifecycle.Result) string {
	if r.Worst() == policy.Info {
		return "ok"
	}
	return r.Worst().String()
}

// comparedMoment is an event that variants are compared by.
type comparedMoment struct {
	name  string
	phase lifecycle.Phase
	role  string // empty for events of the pod
	kinds []lifecycle.Kind
	last  bool
}

func comparedMoments() []comparedMoment {
	exit := []lifecycle.Kind{lifecycle.ContainerExit}
	return []comparedMoment{
		{"app starts", lifecycle.Start, "app", []lifecycle.Kind{lifecycle.ContainerStart}, false},
		{"proxy ready", lifecycle.Start, "proxy", []lifecycle.Kind{lifecycle.ProxyReady}, false},
		{"Job ends", lifecycle.Start, "", []lifecycle.Kind{lifecycle.PodSucceeded, lifecycle.PodFailed, lifecycle.PodDeleted}, true},
		{"app ends", lifecycle.Stop, "app", exit, true},
		{"proxy ends", lifecycle.Stop, "proxy", exit, true},
		{"pod gone", lifecycle.Stop, "", []lifecycle.Kind{lifecycle.PodGone}, true},
	}
}

func moment(r lifecycle.Result, m comparedMoment) (text string, ok bool) {
	at := time.Duration(-1)
	roles := map[string]string{}
	for _, c := range r.Containers {
		roles[c.Name] = c.Role
	}
	for _, e := range r.Events {
		if e.Phase != m.phase || roles[e.Container] != m.role || !slices.Contains(m.kinds, e.Kind) {
			continue
		}
		if at < 0 || m.last {
			at = e.At
		}
	}
	if at < 0 {
		return "-", false
	}
	return lifecycle.FormatDuration(at), true
}

// comparedVerdicts lists the warnings and errors of all variants, heavier ones first.
func comparedVerdicts(group []lifecycle.Result) []lifecycle.ID {
	var all []lifecycle.Verdict
	for _, r := range group {
		for _, v := range r.Verdicts {
			known := slices.ContainsFunc(all, func(w lifecycle.Verdict) bool { return w.ID == v.ID })
			if v.Severity > policy.Info && !known {
				all = append(all, v)
			}
		}
	}
	var ids []lifecycle.ID
	for _, v := range byWeight(all) {
		ids = append(ids, v.ID)
	}
	return ids
}

func verdictCell(r lifecycle.Result, id lifecycle.ID) string {
	for _, v := range r.Verdicts {
		if v.ID == id {
			return strings.TrimRight(v.Severity.String()+" "+shortSpan(v), " ")
		}
	}
	return "-"
}

// shortSpan is When in few characters.
func shortSpan(v lifecycle.Verdict) string {
	switch {
	case !v.Timed:
		return ""
	case v.To >= lifecycle.Never:
		return lifecycle.FormatDuration(v.From) + "-"
	case v.To <= v.From:
		return lifecycle.FormatDuration(v.From)
	}
	return lifecycle.FormatDuration(v.From) + "-" + lifecycle.FormatDuration(v.To)
}

// textTable writes columns as wide as their longest cell, two blanks apart.
func textTable(b *bytes.Buffer, table [][]string, style Style) {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range table {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		line = strings.TrimRight(line, " ")
		if n == 0 {
			line = style.Bold(line)
		}
		b.WriteString(line + "\n")
	}
}
