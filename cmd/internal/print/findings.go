package print

import (
	"bytes"
	"fmt"
	"io"

	"github.com/kube-inject/inject/policy"
)

// defaultMaxErrors is how many errors the text form shows (spec/manifest.md §2.6): a broken tree of files says the
// same thing a thousand times.
const defaultMaxErrors = 20

// Findings writes findings as text, one line each with its hint indented below:
//
//	FILE:LINE:COL: error: doc 2, apps/v1 Deployment shop/web, spec.replicas: TEXT [E_CODE]
//	    hint: TEXT
//
// The line is what [policy.Finding.Error] gives. With o.Source the line of the manifest stands in between, with a
// mark below the place. Errors above o.MaxErrors are counted instead of shown.
func Findings(w io.Writer, findings []policy.Finding, o Options) error {
	var b bytes.Buffer
	limit, hidden := o.MaxErrors, 0
	if limit == 0 {
		limit = defaultMaxErrors
	}
	shown := 0
	for _, f := range prepare(findings) {
		if f.Severity == policy.Error {
			if limit >= 0 && shown == limit {
				hidden++
				continue
			}
			shown++
		}
		textFinding(&b, f, o)
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%s; the machine formats list all\n", o.Style.Red("and "+count(hidden, "more error")))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// textFinding writes one finding.
func textFinding(b *bytes.Buffer, f policy.Finding, o Options) {
	place := Clean(f.Position.String())
	rest := f
	rest.Position = policy.Position{}
	line := rest.Error()[len(f.Severity.String()):] // what follows the severity
	if place != "" {
		b.WriteString(o.Style.Bold(place) + ": ")
	}
	b.WriteString(severityStyle(o.Style, f.Severity) + line + "\n")
	snippet(b, f, o)
	if f.Hint != "" {
		b.WriteString("    hint: " + f.Hint + "\n")
	}
}

func severityStyle(s Style, severity policy.Severity) string {
	switch severity {
	case policy.Error:
		return s.Red(severity.String())
	case policy.Warning:
		return s.Yellow(severity.String())
	}
	return s.Cyan(severity.String())
}

// count is "1 error" or "2 errors".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
