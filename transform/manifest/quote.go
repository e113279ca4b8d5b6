package manifest

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// plainSafe tells whether a string written without quotes reads back as the same string, under YAML 1.1 and 1.2.
func plainSafe(s string, flow bool) bool { return plainText(s, flow) && !readsAsOther(s) }

// plainText tells whether text can be written without quotes at all, whatever it is read as.
func plainText(s string, flow bool) bool {
	if s == "" || isBlank(s[0]) || isBlank(s[len(s)-1]) || s[len(s)-1] == ':' {
		return false
	}
	switch s[0] {
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '-', '?', ':':
		if flow || len(s) == 1 || isBlank(s[1]) || strings.HasPrefix(s, "---") {
			return false
		}
	case '.':
		if strings.HasPrefix(s, "...") {
			return false
		}
	}
	for i, r := range s {
		switch {
		case r < 0x20 || r == 0x7f || r == utf8.RuneError || !printable(r):
			return false
		case r == ':' && (flow || i+1 < len(s) && s[i+1] == ' '):
			return false
		case r == '#' && i > 0 && s[i-1] == ' ':
			return false
		case flow && r < utf8.RuneSelf && isFlowByte(byte(r)):
			return false
		}
	}
	return true
}

// printable tells whether a character may stand in the text of a scalar as it is.
func printable(r rune) bool {
	switch {
	case r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
		return false
	case r >= 0x7f && r < 0xa0:
		return false
	}
	return r >= 0x20 || r == '\t' || r == '\n'
}

// readsAsOther tells whether a plain scalar would be a boolean, null, number, date or merge key to any parser.
func readsAsOther(s string) bool {
	if len(s) <= 5 {
		switch strings.ToLower(s) {
		case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<", ".nan", ".inf", "+.inf", "-.inf":
			return true
		}
	}
	c := s[0]
	if c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.' {
		if readsAsNumber(s) || readsAsDate(s) {
			return true
		}
		return (&yaml.Node{Kind: yaml.ScalarNode, Value: s}).ShortTag() != "!!str"
	}
	return false
}

// readsAsNumber covers the integers, floats and base-60 numbers of YAML 1.1 and the octals of 1.2.
func readsAsNumber(s string) bool {
	t := strings.TrimLeft(s, "+-")
	if t == "" || len(s)-len(t) > 1 {
		return false
	}
	only := func(t, set string) bool {
		return t != "" && strings.Trim(t, set) == "" && strings.ContainsAny(t, set[:len(set)-1])
	}
	if len(t) > 1 && t[0] == '0' {
		switch t[1] {
		case 'x', 'X':
			return only(t[2:], "0123456789abcdefABCDEF_")
		case 'o', 'O':
			return only(t[2:], "01234567_")
		case 'b', 'B':
			return only(t[2:], "01_")
		}
	}
	if strings.Contains(t, ":") {
		head, rest, _ := strings.Cut(t, ":")
		whole, _, _ := strings.Cut(rest, ".")
		return only(head, "0123456789_") && only(strings.ReplaceAll(whole, ":", ""), "0123456789_") &&
			strings.Trim(rest, "0123456789:._") == ""
	}
	i := strings.IndexAny(t, "eE")
	if i >= 0 {
		exp := strings.TrimLeft(t[i+1:], "+-")
		if len(t[i+1:])-len(exp) > 1 || !only(exp, "0123456789_") {
			return false
		}
		t = t[:i]
	}
	whole, frac, _ := strings.Cut(t, ".")
	return only(whole+frac, "0123456789_")
}

// readsAsDate covers the timestamps of YAML 1.1.
func readsAsDate(s string) bool {
	digits := func(i, least, most int) int {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' && i-from < most {
			i++
		}
		if i-from < least {
			return -1
		}
		return i
	}
	i := digits(0, 4, 4)
	if i < 0 || i >= len(s) || s[i] != '-' {
		return false
	}
	if i = digits(i+1, 1, 2); i < 0 || i >= len(s) || s[i] != '-' {
		return false
	}
	if i = digits(i+1, 1, 2); i < 0 {
		return false
	}
	return i == len(s) || s[i] == 'T' || s[i] == 't' || isBlank(s[i])
}

// appendQuoted writes a string in quotes: single ones where they are asked for and can hold it.
func appendQuoted(b []byte, s string, quote byte) []byte {
	if quote == '\'' && singleSafe(s) {
		b = append(b, '\'')
		b = append(b, strings.ReplaceAll(s, "'", "''")...)
		return append(b, '\'')
	}
	return appendDouble(b, s)
}

func singleSafe(s string) bool {
	for _, r := range s {
		if r < 0x20 || !printable(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

const hexDigits = "0123456789abcdef"

// appendDouble writes a double-quoted scalar with escapes that YAML and JSON share.
func appendDouble(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < 0x20 || !printable(r):
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// literalSafe tells whether a string of several lines can be written as a literal block scalar.
func literalSafe(s string) bool {
	if !strings.Contains(s, "\n") || strings.Trim(s, "\n") == "" {
		return false
	}
	for i, r := range s {
		switch {
		case r == '\n':
			if i > 0 && isBlank(s[i-1]) {
				return false
			}
		case r == '\t':
			if i == 0 || s[i-1] == '\n' {
				return false
			}
		case r < 0x20 || !printable(r) || r == utf8.RuneError:
			return false
		}
	}
	return !isBlank(s[len(s)-1])
}
