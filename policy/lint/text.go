package lint

import "unicode/utf8"

// Text is YAML inside an annotation, taken apart.
type Text struct {
	// Text is the whole of it.
	Text string
	// Root is nil where the text does not parse; Problem then says why, and Line where.
	Root    *Value
	Problem string
	Line    int
}

// ValueKind is the kind of a value in YAML.
type ValueKind int

// The kinds.
const (
	String ValueKind = iota
	Bool
	Int
	Float
	Null
	List
	Map
)

// String gives the word that messages use.
func (k ValueKind) String() string {
	return [...]string{"a string", "a boolean", "a number", "a number", "null", "a list", "a mapping"}[k]
}

// Spot is a place in a text: line and column count from 1, columns and length in characters. Length is zero where the
// value is written over several lines.
type Spot struct {
	Line, Column, Length int
}

// Value is one value of a text.
type Value struct {
	Spot
	Kind ValueKind
	// Text is a scalar as written, without quotes.
	Text   string
	Fields []Field
	Items  []*Value
}

// Field is one field of a mapping.
type Field struct {
	Name string
	Key  Spot
	*Value
}

// field finds a field by name; nil where there is none.
func (v *Value) field(name string) *Field {
	if v == nil {
		return nil
	}
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return &v.Fields[i]
		}
	}
	return nil
}

// value gives the value of a field; nil where there is no field.
func (f *Field) value() *Value {
	if f == nil {
		return nil
	}
	return f.Value
}

// unquoted is the spot of a text without the quotes around it.
func (s Spot) unquoted(text string) Spot {
	if s.Length == utf8.RuneCountInString(text)+2 {
		s.Column++
		s.Length -= 2
	}
	return s
}
