package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// SetKind is the way a set expression's values are read.
type SetKind int

// The kinds, after Helm's flags.
const (
	// SetTyped reads true, false, null and whole numbers as such and all else as text (--set).
	SetTyped SetKind = iota
	// SetString reads everything as text (--set-string).
	SetString
	// SetJSON reads JSON (--set-json).
	SetJSON
)

// Flag is the flag of the kind.
func (k SetKind) Flag() string { return [...]string{"--set", "--set-string", "--set-json"}[k] }

// assignment is one path and its value; a step of the path is a string (a key) or an int (an index).
type assignment struct {
	path  []any
	value any
}

// The limits of Helm's parser.
const (
	maxSetIndex = 65536
	maxSetDepth = 30
)

// parseSet reads a set expression, key=value,key=value (Helm, pkg/strvals/parser.go, v4). A backslash takes the meaning
// from the next character, {a,b} is a list, key[0] an item of one. Where Helm silently drops an expression that ends in
// the middle of a key ("a.", "a[0]"), this is an error.
func parseSet(kind SetKind, s string) ([]assignment, error) {
	if trimmed := strings.TrimSpace(s); kind == SetJSON && strings.HasPrefix(trimmed, "{") {
		return parseSetObject(trimmed)
	}
	p := setParser{kind: kind, in: []rune(s)}
	var out []assignment
	for p.at < len(p.in) {
		path, err := p.key()
		if err != nil {
			return nil, err
		}
		value, err := p.value()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", showSteps(path), err)
		}
		out = append(out, assignment{path: path, value: value})
	}
	if len(out) == 0 {
		return nil, errors.New("it is empty")
	}
	return out, nil
}

// parseSetObject reads a whole JSON object, which is merged key by key.
func parseSetObject(s string) ([]assignment, error) {
	var object map[string]any
	if err := json.Unmarshal([]byte(s), &object); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	var out []assignment
	var walk func(path []any, v map[string]any)
	walk = func(path []any, m map[string]any) {
		for _, k := range sortedKeys(m) {
			at := append(path[:len(path):len(path)], k)
			if inner, ok := m[k].(map[string]any); ok && len(inner) > 0 {
				walk(at, inner)
				continue
			}
			out = append(out, assignment{path: at, value: m[k]})
		}
	}
	walk(nil, object)
	if len(out) == 0 {
		return nil, errors.New("it is empty")
	}
	return out, nil
}

type setParser struct {
	kind SetKind
	in   []rune
	at   int
}

// until reads to one of the stop characters, which it consumes; end is 0 where the input ends first.
func (p *setParser) until(stop string) (read string, end rune) {
	var b strings.Builder
	for p.at < len(p.in) {
		r := p.in[p.at]
		p.at++
		switch {
		case strings.ContainsRune(stop, r):
			return b.String(), r
		case r == '\\':
			if p.at < len(p.in) {
				b.WriteRune(p.in[p.at])
				p.at++
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), 0
}

// key reads a path and the equals sign after it.
func (p *setParser) key() ([]any, error) {
	var path []any
	names := 0
	for {
		name, end := p.until("=[,.")
		switch {
		case end == 0 || end == ',':
			return nil, fmt.Errorf("key %s has no value", quote(showSteps(append(path, name))))
		case name == "":
			return nil, fmt.Errorf("the key before %q is empty", end)
		}
		path = append(path, name)
		if names++; names > maxSetDepth+1 {
			return nil, fmt.Errorf("the key has more than %d levels", maxSetDepth)
		}
		for end == '[' {
			index, err := p.index()
			if err != nil {
				return nil, err
			}
			path = append(path, index)
			var rest string
			if rest, end = p.until("[.="); rest != "" {
				return nil, fmt.Errorf("unexpected %s after the index in %s", quote(rest), showSteps(path))
			}
			if end == 0 {
				return nil, fmt.Errorf("key %s has no value", quote(showSteps(path)))
			}
		}
		if end == '=' {
			return path, nil
		}
	}
}

func (p *setParser) index() (int, error) {
	text, end := p.until("]")
	n, err := strconv.Atoi(text)
	switch {
	case end == 0 || err != nil:
		return 0, fmt.Errorf("%s is no list index", quote(text))
	case n < 0 || n > maxSetIndex:
		return 0, fmt.Errorf("index %d is not within 0 and %d", n, maxSetIndex)
	}
	return n, nil
}

// value reads the value and the comma after it.
func (p *setParser) value() (any, error) {
	if p.kind == SetJSON {
		return p.json()
	}
	if p.at < len(p.in) && p.in[p.at] == '{' {
		p.at++
		return p.list()
	}
	text, _ := p.until(",")
	return p.typed(text), nil
}

func (p *setParser) list() (any, error) {
	list := []any{}
	for {
		text, end := p.until(",}")
		if end == 0 {
			return nil, errors.New("the list has no closing brace")
		}
		list = append(list, p.typed(text))
		if end == '}' {
			if p.at < len(p.in) && p.in[p.at] == ',' {
				p.at++
			}
			return list, nil
		}
	}
}

func (p *setParser) json() (any, error) {
	if p.blank() {
		return nil, nil
	}
	rest := string(p.in[p.at:])
	dec := json.NewDecoder(strings.NewReader(rest))
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("the value is no JSON: %w", err)
	}
	p.at += len([]rune(rest[:dec.InputOffset()]))
	p.blank()
	return v, nil
}

// blank skips spaces, and a comma after them; it says whether there was nothing else before comma or end.
func (p *setParser) blank() bool {
	for p.at < len(p.in) {
		switch r := p.in[p.at]; {
		case r == ',':
			p.at++
			return true
		case !unicode.IsSpace(r):
			return false
		}
		p.at++
	}
	return true
}

// typed reads a scalar. Helm makes int64 of whole numbers; templates must see float64, as from JSON.
func (p *setParser) typed(s string) any {
	if p.kind == SetString {
		return s
	}
	switch {
	case strings.EqualFold(s, "true"):
		return true
	case strings.EqualFold(s, "false"):
		return false
	case strings.EqualFold(s, "null"):
		return nil
	case s == "0":
		return float64(0)
	}
	if s != "" && s[0] != '0' {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return float64(i)
		}
	}
	return s
}

// showSteps prints a path for messages.
func showSteps(path []any) string {
	var b strings.Builder
	for i, s := range path {
		switch s := s.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}
