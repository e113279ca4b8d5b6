package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity ranks findings; the zero value is Info.
type Severity int

// The three severities, in rising order.
const (
	Info Severity = iota
	Warning
	Error
)

// String gives the lower-case word that reports print.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "info"
	}
}

// Position is a place in an input. Line and Column count from 1, Column in characters; zero means unknown.
type Position struct {
	File   string
	Line   int
	Column int
}

// String prints file:line:column, leaving out what is unknown.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// Compare orders positions by file, line and column.
func (p Position) Compare(q Position) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Resource names a Kubernetes object, or an item of a list document.
type Resource struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	// GenerateName stands in for Name where the object has only that.
	GenerateName string
	// Item is the path inside a list document, such as items[2]; empty elsewhere.
	Item string
}

// String prints "apps/v1 Deployment shop/web"; a missing namespace is left out and a generateName ends in "*".
func (r Resource) String() string {
	if r.Kind == "" {
		return r.Item
	}
	name := r.Name
	if name == "" && r.GenerateName != "" {
		name = r.GenerateName + "*"
	}
	if r.Namespace != "" && name != "" {
		name = r.Namespace + "/" + name
	}
	parts := make([]string, 0, 4)
	for _, s := range []string{r.APIVersion, r.Kind, name} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if r.Item != "" {
		parts = append(parts, r.Item)
	}
	return strings.Join(parts, " ")
}

// Finding is one thing a person should read: an error, a warning or advice, with its place.
// It is an error value, so that a function with one problem can return it as such.
type Finding struct {
	// Code is stable: E_… and W_… for the engine, a rule id for lint and lifecycle.
	Code     string
	Severity Severity
	Position Position
	// EndLine and EndColumn close the range that starts at Position; zero where only the start is known.
	EndLine, EndColumn int
	// Document counts from 1 within the file; zero where the finding is not about a document.
	Document int
	Resource Resource
	// Field is the dotted path in the object, list indexes in brackets.
	Field string
	// Message says what is wrong, Hint what to do; both are one line and name no Go types.
	Message string
	Hint    string
	// Fix is a change that mends the finding without asking; nil where there is none.
	Fix *Fix
}

// Fix is a change of one object in its own terms.
type Fix struct {
	// Summary says in a few words what the fix does.
	Summary string
	Edits   []FixEdit
}

// FixEdit sets or removes the field at Path (mapping keys and decimal list indexes, from the document's root).
type FixEdit struct {
	Path   []string
	Remove bool
	// Value is a string, bool, float64, int64, []any or map[string]any.
	Value any
}

// Error prints the finding as one line without its hint.
func (f Finding) Error() string {
	var b strings.Builder
	if s := f.Position.String(); s != "" {
		b.WriteString(s + ": ")
	}
	b.WriteString(f.Severity.String() + ": ")
	var where []string
	if f.Document > 0 {
		where = append(where, fmt.Sprintf("doc %d", f.Document))
	}
	if s := f.Resource.String(); s != "" {
		where = append(where, s)
	}
	if f.Field != "" {
		where = append(where, f.Field)
	}
	if len(where) > 0 {
		b.WriteString(strings.Join(where, ", ") + ": ")
	}
	b.WriteString(f.Message)
	if f.Code != "" {
		b.WriteString(" [" + f.Code + "]")
	}
	return b.String()
}

// SortFindings orders by file, line, column, code and message, and drops exact repeats.
func SortFindings(fs []Finding) []Finding {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(a.Position.Compare(b.Position), strings.Compare(a.Code, b.Code),
			strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(fs, func(a, b Finding) bool {
		return a.Position == b.Position && a.Code == b.Code && a.Message == b.Message && a.Field == b.Field &&
			a.Resource == b.Resource && a.Document == b.Document
	})
}

// HasErrors tells whether an error is among the findings.
func HasErrors(fs []Finding) bool {
	for i := range fs {
		if fs[i].Severity == Error {
			return true
		}
	}
	return false
}

// Errors gives the errors among the findings, in their order; nil where there is none.
func Errors(fs []Finding) []Finding {
	var out []Finding
	for i := range fs {
		if fs[i].Severity == Error {
			out = append(out, fs[i])
		}
	}
	return out
}
