package lifecycle

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Findings gives the warnings and errors of r as findings. base holds what they have in common: position, document,
// resource and field of the pod template. Remedies become the hint; they are offered, never applied unasked.
func (r Result) Findings(base policy.Finding) []policy.Finding {
	var out []policy.Finding
	for _, v := range r.Verdicts {
		if v.Severity == policy.Info {
			continue
		}
		f := base
		f.Code, f.Severity, f.Message, f.Hint, f.Fix = string(v.ID), v.Severity, v.Sentence(), v.Advice(), nil
		out = append(out, f)
	}
	return out
}

// Sentence gives the message with the phase it is about in front.
func (v Verdict) Sentence() string {
	switch v.Phase {
	case Start:
		return "at the start: " + v.Message
	case Stop:
		return "at the stop: " + v.Message
	default:
		return v.Message
	}
}

// Advice joins the texts of the remedies; empty where there is none.
func (v Verdict) Advice() string {
	texts := make([]string, len(v.Remedies))
	for i, r := range v.Remedies {
		texts[i] = r.Text
	}
	return strings.Join(texts, ", or ")
}

// When gives the span of a verdict as text: "5s to 8s", "15s", "from 61s on", or nothing.
func (v Verdict) When() string {
	switch {
	case !v.Timed:
		return ""
	case v.To >= Never:
		return "from " + FormatDuration(v.From) + " on"
	case v.To <= v.From:
		return FormatDuration(v.From)
	default:
		return FormatDuration(v.From) + " to " + FormatDuration(v.To)
	}
}
