package print

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
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
		if last >= 0 && r.Variant != "" && joins(out[last], r) {
			out[last] = append(out[last], r)
			continue
		}
		out = append(out, []lifecycle.Result{r})
	}
	return out
}

// joins tells whether r is one more variant of a group. A variant that is there already begins another workload, which
// only has the same name.
func joins(group []lifecycle.Result, r lifecycle.Result) bool {
	return group[0].Variant != "" && workloadName(group[0]) == workloadName(r) &&
		!slices.ContainsFunc(group, func(other lifecycle.Result) bool { return other.Variant == r.Variant })
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
