package print

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
)

// snippetWidth is how many characters of a line are shown; of a longer one a window around the place.
const snippetWidth = 100

// snippet writes the line that a finding is about, and a mark below its place:
//
//	   |
//	12 |   sidecar.istio.io/inject: "yes"
//	   |                            ^~~~~
func snippet(b *bytes.Buffer, f policy.Finding, o Options) {
	if o.Source == nil || f.Position.Line < 1 || couldBeSecret(f) {
		return
	}
	source, ok := o.Source(f.Position.File, f.Position.Line)
	if !ok {
		return
	}
	line := []rune(strings.TrimRight(source, "\r\n"))
	number := strconv.Itoa(f.Position.Line)
	margin := strings.Repeat(" ", len(number))
	start, end := markedRange(line, f)
	line, start, end, before, after := window(line, start, end)

	b.WriteString(o.Style.Cyan(margin+" |") + "\n")
	b.WriteString(o.Style.Cyan(number+" |") + " " + before + cleanSource(line) + after + "\n")
	if end > start {
		pad := strings.Repeat(" ", utf8.RuneCountInString(before)) + padding(line[:min(start, len(line))])
		mark := "^" + strings.Repeat("~", max(0, width(line[min(start, len(line)):min(end, len(line))])-1))
		b.WriteString(o.Style.Cyan(margin+" |") + " " + pad + o.Style.Green(mark) + "\n")
	}
}

// couldBeSecret keeps values of Secrets and of environment variables out of logs.
func couldBeSecret(f policy.Finding) bool {
	return f.Resource.Kind == "Secret" || strings.Contains(f.Field, "env[")
}

// markedRange gives the characters of the line to mark, from 0, the end excluded; equal numbers mean none. Without an
// end in this line the mark covers the word at the start.
func markedRange(line []rune, f policy.Finding) (start, end int) {
	start = f.Position.Column - 1
	if start < 0 || start > len(line) {
		return 0, 0
	}
	switch {
	case f.EndLine == f.Position.Line && f.EndColumn > f.Position.Column:
		end = min(f.EndColumn-1, len(line))
	case f.EndLine > f.Position.Line:
		end = len(line)
	default:
		for end = start; end < len(line) && !unicode.IsSpace(line[end]); end++ {
		}
	}
	return start, max(end, start+1)
}

// window cuts a long line down to the surroundings of the mark; before and after say that something was cut.
func window(line []rune, start, end int) (cut []rune, s, e int, before, after string) {
	if len(line) <= snippetWidth {
		return line, start, end, "", ""
	}
	from := min(max(0, start-snippetWidth/3), len(line)-snippetWidth)
	to := from + snippetWidth
	if from > 0 {
		before = "…"
	}
	if to < len(line) {
		after = "…"
	}
	return line[from:to], start - from, min(end, to) - from, before, after
}

// cleanSource is Clean, but for tabs: they keep their width, and the padding below repeats them.
func cleanSource(line []rune) string {
	parts := strings.Split(string(line), "\t")
	for i := range parts {
		parts[i] = Clean(parts[i])
	}
	return strings.Join(parts, "\t")
}

// padding is blank and as wide as the text on a terminal.
func padding(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteString(strings.Repeat(" ", runeWidth(r)))
	}
	return b.String()
}

func width(text []rune) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is the number of columns that a terminal gives a character: wide for East Asian scripts and emoji, none
// for marks on the character before.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff,
		r >= 0x1f900 && r <= 0x1f9ff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
