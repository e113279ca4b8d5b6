package policy

import (
	"strconv"
	"strings"
)

// CodeInjectValue is the code of the warning about a value of sidecar.istio.io/inject that says neither yes nor no.
const CodeInjectValue = "W_INJECT_VALUE"

const (
	fieldInjectLabel      = "metadata.labels[" + LabelInject + "]"
	fieldInjectAnnotation = "metadata.annotations[" + AnnotationInject + "]"
	fieldSealed           = "metadata.annotations[" + AnnotationSealed + "]"
)

// injectLabel reads the label, or the value kept by sealing.
func (a *asker) injectLabel(s *TrailStep, d *Decision) {
	s.Field, s.Saw, s.Present = fieldInjectLabel, a.label, a.hasLabel
	if a.sealed {
		s.Rule, s.Field, s.Present = RuleSealed, fieldSealed, true
		s.Note = "the pod is sealed: the label's value before sealing counts"
	}
	if a.hasLabel {
		s.Result = a.table.words.of(a.label)
		a.word(s, d)
	}
}

// injectAnnotation reads the annotation unless a label hides it.
func (a *asker) injectAnnotation(s *TrailStep, d *Decision) {
	s.Field = fieldInjectAnnotation
	s.Saw, s.Present = a.facts.Annotations[AnnotationInject]
	switch {
	case !s.Present:
	case a.hasLabel && a.table.readsLabel():
		s.Result, s.Note = Ignored, "the label of that name hides it"
	default:
		s.Result = a.table.words.of(s.Saw)
		a.word(s, d)
	}
}

func (t *table) readsLabel() bool {
	for _, rule := range t.rules {
		if rule == RuleInjectLabel {
			return true
		}
	}
	return false
}

// word warns about a value that is no word of the table, and notes what the value comes to.
func (a *asker) word(s *TrailStep, d *Decision) {
	if s.Saw == "" || known(a.table.words, s.Saw) {
		return
	}
	f := Finding{
		Code: CodeInjectValue, Severity: Warning, Field: s.Field,
		Hint: `write "true" or "false"`,
	}
	if word, ok := meant(s.Saw); ok {
		f.Hint = "write " + strconv.Quote(word)
	}
	value := LabelInject + " is " + quoteCut(s.Saw)
	if s.Result == Ignored {
		s.Note = `only "true" and "false" count`
		f.Message = value + `: only "true" and "false" count, so selectors and policy decide`
		if s.Rule != RuleInjectAnnotation && a.facts.Annotations[AnnotationInject] != "" {
			f.Message += ", and the annotation of that name is hidden"
		}
	} else {
		s.Note = "any other word means no"
		f.Message = value + ": this Istio takes any word but y, yes, true and on for no"
	}
	d.Warnings = append(d.Warnings, f)
}

func known(r reading, value string) bool {
	for _, words := range [][]string{r.yes, r.no} {
		for _, word := range words {
			if value == word || r.fold && strings.EqualFold(value, word) {
				return true
			}
		}
	}
	return false
}

// meant guesses the word behind a value that says neither true nor false.
func meant(value string) (string, bool) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "y", "yes", "on", "t", "true", "1", "enable", "enabled":
		return "true", true
	case "n", "no", "off", "f", "false", "0", "disable", "disabled":
		return "false", true
	}
	return "", false
}

// quoteCut quotes a value for a message, control characters escaped and no longer than 40 characters.
func quoteCut(value string) string {
	runes := []rune(value)
	if len(runes) > 40 {
		value = string(runes[:40]) + "…"
	}
	return strconv.Quote(value)
}
