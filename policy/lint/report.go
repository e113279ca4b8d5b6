package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
)

// Report collects the findings of one rule about one object.
type Report struct {
	rule     *Rule
	locator  *Locator
	resource policy.Resource
	document int
	findings []*draft
}

// draft is a finding that its rule may still add to.
type draft struct {
	policy.Finding
	report *Report
}

// at files a finding about a field.
func (r *Report) at(w Where, format string, args ...any) *draft {
	s := r.locator.Span(w)
	d := r.file(format, args...)
	d.Position, d.EndLine, d.EndColumn = s.Position, s.EndLine, s.EndColumn
	d.Field = joinField(r.locator.Field(w.Place), w.Path)
	return d
}

// inText files a finding about a place in the text of proxy.istio.io/config.
func (r *Report) inText(s Spot, path []string, format string, args ...any) *draft {
	span := r.locator.InText(s.Line, s.Column, s.Length)
	d := r.file(format, args...)
	d.Position, d.EndLine, d.EndColumn = span.Position, span.EndLine, span.EndColumn
	d.Field = joinField(r.locator.Field(policy.InTemplate), []string{"metadata", "annotations", policy.AnnotationProxyConfig})
	if len(path) > 0 {
		d.Field += ": " + joinField("", path)
	}
	return d
}

// inConfig files a finding about the configuration. It names no workload, so that the same finding of many workloads
// is reported once.
func (r *Report) inConfig(p policy.Position, field, format string, args ...any) *draft {
	d := r.file(format, args...)
	d.Position, d.Field, d.Resource, d.Document = p, field, policy.Resource{}, 0
	return d
}

func (r *Report) file(format string, args ...any) *draft {
	d := &draft{report: r, Finding: policy.Finding{
		Code: r.rule.ID, Severity: r.rule.Severity, Resource: r.resource, Document: r.document,
		Message: fmt.Sprintf(format, args...), Hint: r.rule.Remedy,
	}}
	r.findings = append(r.findings, d)
	return d
}

// hint replaces the rule's own remedy by one for this case.
func (d *draft) hint(format string, args ...any) *draft {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}

// level sets another severity than the rule's, unless the user chose one.
func (d *draft) level(s policy.Severity) *draft {
	if !d.report.rule.fixed {
		d.Severity = s
	}
	return d
}

// fix adds a fix that consists of edits.
func (d *draft) fix(summary string, edits ...policy.FixEdit) *draft {
	d.Fix = &policy.Fix{Summary: summary, Edits: edits}
	return d
}

// set is the edit that gives a field a value.
func (r *Report) set(w Where, value any) policy.FixEdit {
	return policy.FixEdit{Path: r.path(w), Value: value}
}

// remove is the edit that takes a field away.
func (r *Report) remove(w Where) policy.FixEdit {
	return policy.FixEdit{Path: r.path(w), Remove: true}
}

func (r *Report) path(w Where) []string {
	return slices.Concat(r.locator.Base(w.Place), w.Path)
}

// template names a field of the pod template.
func template(path ...string) Where { return Where{Place: policy.InTemplate, Path: path} }

// own names a field of the workload.
func own(path ...string) Where { return Where{Place: policy.InWorkload, Path: path} }

// annotation names an annotation of the pod template, label a label.
func annotation(name string) Where { return template("metadata", "annotations", name) }
func label(name string) Where      { return template("metadata", "labels", name) }

// key is the place of the key of a field.
func (w Where) key() Where {
	w.Key = true
	return w
}

// joinField prints a path in the form that findings have.
func joinField(base string, path []string) string {
	var b strings.Builder
	b.WriteString(base)
	for _, p := range path {
		switch {
		case isIndex(p) || strings.ContainsAny(p, ".[]"):
			b.WriteString("[" + p + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		}
	}
	return b.String()
}

func isIndex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// quote quotes a value for a message and keeps it short.
func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// words joins words as "a, b and c".
func words(list []string) string {
	switch n := len(list); n {
	case 0:
		return "none"
	case 1:
		return list[0]
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}
