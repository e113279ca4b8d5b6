package typed

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind is what a scalar is under YAML 1.1, which clusters read (sigs.k8s.io/yaml, 1.6.0).
type Kind int

// The kinds of scalars.
const (
	String Kind = iota
	Null
	Bool
	Int
	Float
)

// String names the kind as error messages do.
func (k Kind) String() string {
	return [...]string{"string", "null", "boolean", "number", "number"}[k]
}

// ScalarKind tells what a scalar node is: by its tag where it has one, a string where it is quoted, else by the
// spelling rules of YAML 1.1, under which yes, on and y are booleans and 0644 is octal.
func ScalarKind(n *yaml.Node) Kind {
	if n.Style&yaml.TaggedStyle != 0 {
		switch n.Tag {
		case "!!null":
			return Null
		case "!!bool":
			return Bool
		case "!!int":
			return Int
		case "!!float":
			return Float
		}
		return String
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return String
	}
	return PlainKind(n.Value)
}

// PlainKind tells what the plain scalar s is under YAML 1.1.
func PlainKind(s string) Kind {
	if s == "" {
		return Null
	}
	switch s[0] {
	case '~', 'n', 'N', 'y', 'Y', 't', 'T', 'f', 'F', 'o', 'O':
		if k, ok := word(s); ok {
			return k
		}
		return String
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return number(s)
	}
	return String
}

func word(s string) (Kind, bool) {
	switch s {
	case "~", "null", "Null", "NULL":
		return Null, true
	case "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
		"true", "True", "TRUE", "false", "False", "FALSE":
		return Bool, true
	}
	return String, false
}

func isTrue(s string) bool {
	switch s[0] {
	case 'y', 'Y', 't', 'T':
		return true
	}
	return s == "on" || s == "On" || s == "ON"
}

func number(s string) Kind {
	switch s {
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN":
		return Float
	}
	plain := strings.ReplaceAll(s, "_", "")
	if _, ok := parseInt(plain); ok {
		return Int
	}
	if _, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return Int
	}
	if floatShape(plain) {
		if _, err := strconv.ParseFloat(plain, 64); err == nil {
			return Float
		}
	}
	return String
}

// parseInt reads a plain scalar without underscores as the YAML 1.1 parser does: 0x, 0b, 0o and leading-zero octal.
func parseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil
}

// floatShape is [-+]? (digits [. digits*] | . digits) ([eE] [-+]? digits)?, YAML 1.1's decimal numbers.
func floatShape(s string) bool {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	digits := func() int {
		start := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i - start
	}
	whole := digits()
	fraction := 0
	if i < len(s) && s[i] == '.' {
		i++
		fraction = digits()
	}
	if whole == 0 && fraction == 0 {
		return false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if digits() == 0 {
			return false
		}
	}
	return i == len(s)
}

// integer gives the value of an Int or whole Float scalar.
func integer(s string) (int64, bool) {
	plain := strings.ReplaceAll(s, "_", "")
	if n, ok := parseInt(plain); ok {
		return n, true
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// float gives the value of an Int or Float scalar.
func float(s string) float64 {
	plain := strings.ReplaceAll(s, "_", "")
	if n, ok := parseInt(plain); ok {
		return float64(n)
	}
	f, _ := strconv.ParseFloat(plain, 64)
	return f
}
