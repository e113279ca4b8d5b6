package print

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// LifecycleMarkdown writes results as code hosts show them: a Mermaid gantt and a table of verdicts for each; variants
// of one workload share a gantt for each phase and a table that compares them.
func LifecycleMarkdown(w io.Writer, results []lifecycle.Result) error {
	var b bytes.Buffer
	for i, group := range lifecycleGroups(results) {
		if i > 0 {
			b.WriteByte('\n')
		}
		sidecar := sidecarName(group[0].Sidecar)
		if len(group) > 1 {
			sidecar = "compared"
		}
		fmt.Fprintf(&b, "## %s\n\n", markdownText(workloadName(group[0])))
		fmt.Fprintf(&b, "%s, Kubernetes %s, Istio %s, grace period %ds\n",
			sidecar, group[0].Options.Kubernetes, group[0].Options.Istio, group[0].Grace)
		for _, phase := range []lifecycle.Phase{lifecycle.Start, lifecycle.Stop} {
			markdownGantt(&b, group, phase)
		}
		if len(group) > 1 {
			b.WriteByte('\n')
			markdownTable(&b, comparisonTable(group))
		}
		for _, r := range group {
			markdownVerdicts(&b, r, len(group) > 1)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// markdownGantt writes one Mermaid gantt; sections are containers, and in a comparison variant and container.
func markdownGantt(b *bytes.Buffer, group []lifecycle.Result, phase lifecycle.Phase) {
	timelines := variantTimelines(group, phase)
	if len(timelines) == 0 {
		return
	}
	length := time.Duration(0)
	for _, t := range timelines {
		length = max(length, t.Length)
	}
	title := "start (0 = sandbox ready)"
	if phase == lifecycle.Stop {
		title = "stop (0 = deletion)"
	}
	fmt.Fprintf(b, "\n```mermaid\ngantt\n    title %s\n    dateFormat HH:mm:ss.SSS\n    axisFormat %s\n", title, axisFormat(length))
	for _, t := range timelines {
		for _, r := range chartRows(t.Timeline) {
			name := r.Name
			if t.name != "" {
				name = t.name + " " + name
			}
			fmt.Fprintf(b, "    section %s\n", mermaidText(name))
			for _, bar := range r.Bars {
				mermaidTask(b, bar)
			}
			for _, m := range r.Marks {
				if text := markText(m.Kind); text != "" {
					fmt.Fprintf(b, "    %s %s :milestone, %s, 0s\n", text, lifecycle.FormatDuration(m.At), clockTime(m.At))
				}
			}
		}
	}
	b.WriteString("```\n")
}

func axisFormat(length time.Duration) string {
	if length >= time.Hour {
		return "%H:%M:%S"
	}
	return "%M:%S"
}

// clockTime prints a moment as Mermaid's dateFormat above reads it; a picture ends at the end of the day.
func clockTime(d time.Duration) string {
	d = min(d, 24*time.Hour-time.Millisecond)
	s := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d.%03d", s/3600, s/60%60, s%60, d%time.Second/time.Millisecond)
}

// mermaidTask writes a bar. Losses are critical, running is active, the rest plain.
func mermaidTask(b *bytes.Buffer, bar lifecycle.Bar) {
	tag := ""
	text := stateText(bar.State)
	switch bar.State {
	case lifecycle.Loss:
		tag, text = "crit, ", string(bar.Verdict)
	case lifecycle.Running:
		tag = "active, "
	}
	fmt.Fprintf(b, "    %s :%s%s, %s\n", text, tag, clockTime(bar.From), clockTime(bar.To))
}

func stateText(s lifecycle.State) string {
	switch s {
	case lifecycle.Initialising:
		return "init"
	case lifecycle.Waiting:
		return "not ready"
	case lifecycle.Hooking:
		return "hook"
	case lifecycle.Draining:
		return "draining"
	case lifecycle.Loss:
		return "lost"
	default:
		return "running"
	}
}

// markText names the events that are worth a milestone.
func markText(k lifecycle.Kind) string {
	switch k {
	case lifecycle.SignalTerm:
		return "SIGTERM"
	case lifecycle.SignalKill:
		return "SIGKILL"
	case lifecycle.ProxyReady:
		return "ready"
	}
	return ""
}

// mermaidText takes out what ends a section's name or a task's.
func mermaidText(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(":;#,%{}<>`", r) {
			return '-'
		}
		return r
	}, Clean(text))
}

func markdownTable(b *bytes.Buffer, table [][]string) {
	for i, row := range table {
		cells := make([]string, len(row))
		for j, c := range row {
			cells[j] = markdownText(c)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
}

func markdownVerdicts(b *bytes.Buffer, r lifecycle.Result, named bool) {
	b.WriteByte('\n')
	if named {
		fmt.Fprintf(b, "### %s\n\n", markdownText(Clean(r.Variant)))
	}
	b.WriteString("| Severity | Verdict | Phase | When | Why | Fix |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, v := range byWeight(r.Verdicts) {
		fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s | %s |\n", v.Severity, v.ID, v.Phase, v.When(),
			markdownText(Clean(v.Message)), markdownText(Clean(v.Advice())))
	}
	if len(r.Flips) > 0 {
		b.WriteString("\nSensitivity:\n\n")
		for _, phrase := range lifecycle.Phrases(r.Flips) {
			fmt.Fprintf(b, "- %s\n", markdownText(phrase))
		}
	}
}
