package print

import (
	"strings"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
)

// Clean makes text from a manifest harmless for every reader: invalid UTF-8, control characters, and the characters
// that reorder or hide what follows become U+FFFD; tabs and line breaks of any kind become a blank, so that the result
// is one line. A message could otherwise move a terminal's cursor, start a command of a build system, or show other
// text than it holds.
func Clean(text string) string {
	if strings.IndexFunc(text, unclean) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case isBreak(r):
			b.WriteByte(' ')
		case unclean(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r) // an invalid byte arrives as utf8.RuneError
		}
	}
	return b.String()
}

// isBreak tells the characters that stand for a blank in a single line.
func isBreak(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

func unclean(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || // C0, DEL, C1
		r == 0x2028 || r == 0x2029 || // line and paragraph separator
		r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || // direction
		r == 0xfeff || r == 0xfffe || r == 0xffff
}

// prepare gives the findings as every writer wants them: a copy, sorted, without repeats, with harmless text. The file
// alone stays as it is, as it is a key too; writers clean it when they print it.
func prepare(findings []policy.Finding) []policy.Finding {
	out := make([]policy.Finding, len(findings))
	for i, f := range findings {
		out[i] = cleanFinding(f)
	}
	return policy.SortFindings(out)
}

func cleanFinding(f policy.Finding) policy.Finding {
	f.Code = Clean(f.Code)
	f.Resource = cleanResource(f.Resource)
	f.Field = Clean(f.Field)
	f.Message = Clean(f.Message)
	f.Hint = Clean(f.Hint)
	if f.Fix != nil {
		f.Fix = &policy.Fix{Summary: Clean(f.Fix.Summary), Edits: f.Fix.Edits} // the values are data, not text
	}
	return f
}

func cleanResource(r policy.Resource) policy.Resource {
	r.APIVersion = Clean(r.APIVersion)
	r.Kind = Clean(r.Kind)
	r.Namespace = Clean(r.Namespace)
	r.Name = Clean(r.Name)
	r.GenerateName = Clean(r.GenerateName)
	r.Item = Clean(r.Item)
	return r
}
