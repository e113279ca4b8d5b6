package manifest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml2 "go.yaml.in/yaml/v2"

	"github.com/kube-inject/inject/policy"
)

// syntaxFinding turns an error of the parser into a finding with the best place that can be had: the parser itself
// reports the start of the context, which is often lines away.
func (d Document) syntaxFinding(text []byte, err error) policy.Finding {
	if _, ok := err.(errSecond); ok {
		return d.finding("E_INTERNAL", policy.Error, d.body, "the parser sees more than one document here", "please report this file")
	}
	if f, ok := d.templateLine(); ok {
		return f
	}
	line, phrase := splitError(err)
	if name, ok := strings.CutPrefix(phrase, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "' referenced")
		return d.unknownAnchor(name)
	}
	if strings.HasPrefix(phrase, "exceeded max depth") {
		return d.finding("E_LIMIT", policy.Error, d.lineOffset(line), fmt.Sprintf("nested deeper than %d levels", maxDepth), "")
	}
	tab := -1
	end := d.tail
	if end < d.body {
		end = len(d.Raw)
	}
	l := lex(d.Raw[:end], d.body, func(e lexEvent, start, _ int) bool {
		if e == lexTab && tab < 0 {
			tab = start
		}
		return true
	})
	switch {
	case strings.HasPrefix(phrase, "found unexpected end of stream"), strings.HasPrefix(phrase, "found unexpected document indicator"):
		at := d.lineOffset(line)
		if l.quote >= 0 {
			at = l.quote
		}
		return d.finding("E_SYNTAX", policy.Error, at, "quoted scalar is not closed", "add the closing quote")
	case tab >= 0 && (strings.Contains(phrase, "tab character") || strings.Contains(phrase, "cannot start any token") ||
		strings.HasPrefix(phrase, "did not find expected") || strings.HasPrefix(phrase, "could not find expected")):
		return d.finding("E_SYNTAX", policy.Error, tab, "tab used as indentation", "indent with spaces")
	case len(l.flow) > 0 && (strings.HasPrefix(phrase, "did not find expected ','") ||
		strings.HasPrefix(phrase, "did not find expected node content") || strings.Contains(phrase, "<stream-end>")):
		at := l.flow[len(l.flow)-1]
		name := "flow mapping {"
		if d.Raw[at] == '[' {
			name = "flow sequence ["
		}
		return d.finding("E_SYNTAX", policy.Error, at, name+" is not closed", "add the closing bracket")
	}
	if n, p := secondOpinion(text); n > 0 {
		line = n
		if p != "" {
			phrase = p
		}
	}
	at := d.lineOffset(line)
	message, hint := explainPhrase(phrase, d.Raw, at)
	f := d.finding("E_SYNTAX", policy.Error, at, message, hint)
	return f
}

// splitError takes "yaml: line 3: text" apart; line is 0 where there is none.
func splitError(err error) (line int, phrase string) {
	phrase = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, ok := strings.CutPrefix(phrase, "line ")
	if !ok {
		return 0, phrase
	}
	num, text, ok := strings.Cut(rest, ": ")
	n, bad := strconv.Atoi(num)
	if !ok || bad != nil {
		return 0, phrase
	}
	return n, text
}

// secondOpinion asks the older parser behind the cluster's decoder, which reports the line of the problem itself:
// counted from 0 for errors of its grammar, from 1 for those of its scanner.
func secondOpinion(text []byte) (line int, phrase string) {
	var nothing struct{}
	err := yaml2.Unmarshal(text, &nothing)
	if err == nil {
		return 0, ""
	}
	line, phrase = splitError(err)
	if line > 0 && strings.HasPrefix(phrase, "did not find expected") {
		line++
	}
	return line, phrase
}

// lineOffset gives the offset of the first character on a line of the document, counted from 1.
func (d Document) lineOffset(line int) int {
	i := 0
	for ; line > 1 && i < len(d.Raw); line-- {
		i = nextLine(d.Raw, i)
	}
	if j := skipBlanks(d.Raw, i); j < len(d.Raw) && breakAt(d.Raw, j) == 0 {
		return j
	}
	return min(i, len(d.Raw))
}

// unknownAnchor finds the alias that names no anchor.
func (d Document) unknownAnchor(name string) policy.Finding {
	at := d.body
	known := false
	lex(d.Raw, d.body, func(e lexEvent, start, end int) bool {
		if (e != lexAlias && e != lexAnchor) || string(d.Raw[start+1:end]) != name {
			return true
		}
		if e == lexAnchor {
			known = true
			return true
		}
		at = start
		return known
	})
	return d.finding("E_ALIAS", policy.Error, at, "alias *"+name+" has no anchor before it",
		"put the value in quotes if the * is text")
}

// explainPhrase puts what the parser says into words that help.
func explainPhrase(phrase string, raw []byte, at int) (message, hint string) {
	has := func(s string) bool { return strings.Contains(phrase, s) }
	switch {
	case has("did not find expected key"):
		return "bad indentation or stray text: expected a key", "line it up with the keys around it"
	case has("did not find expected '-' indicator"):
		return "bad indentation: expected a list item", "line it up with the list around it"
	case has("block sequence entries are not allowed"):
		return "a list item is not allowed here: bad indentation, or a value and a list on one line", ""
	case has("mapping values are not allowed"):
		return "a second ': ' on the line, or bad indentation", "put a value that holds ': ' in quotes"
	case has("could not find expected ':'"):
		return "expected ':' after a key; stray text or bad indentation", ""
	case has("',' or ']'"):
		return "flow sequence [: expected ',' or ']'", ""
	case has("',' or '}'"):
		return "flow mapping {: expected ',' or '}'", ""
	case has("did not find expected node content"):
		return "expected a value", ""
	case has("cannot start any token"):
		c, _ := utf8.DecodeRune(raw[min(at, len(raw)):])
		for i, r := range string(raw[min(at, len(raw)):lineEnd(raw, min(at, len(raw)))]) {
			if strings.ContainsRune("@`%\t", r) || i == 0 && r == '\t' {
				c = r
				break
			}
		}
		if c == '\t' {
			return "tab used as indentation", "indent with spaces"
		}
		return fmt.Sprintf("a value cannot start with %q", c), "put it in quotes"
	case has("unknown escape character"):
		return "unknown escape in a double-quoted string", "use single quotes, or double the backslash"
	case has("undefined tag handle"):
		return "tag with an undefined handle", ""
	case has("tab character"):
		return "tab used as indentation", "indent with spaces"
	case has("<document start>"):
		return "expected a new document ---; stray text after the end of the value, or bad indentation", ""
	}
	return "invalid YAML: " + cut(phrase, 80), ""
}

// controlFinding refuses characters that no YAML parser takes, in a document that must be parsed.
func (d Document) controlFinding() (policy.Finding, bool) {
	for i := 0; i < len(d.Raw); {
		r, n := utf8.DecodeRune(d.Raw[i:])
		if r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff {
			return d.finding("E_ENCODING", policy.Error, i, fmt.Sprintf("control character U+%04X is not allowed in YAML", r),
				"inside a double-quoted string write it as an escape"), true
		}
		i += n
	}
	return policy.Finding{}, false
}
