package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// parseJSON reads a text that starts with a brace or a bracket. It is several times faster than the YAML library on the
// values of a ConfigMap, and reads escapes that YAML does not have. ok is false where the text is no JSON: a YAML flow
// mapping starts the same way, and the YAML library's message is the better one then.
func parseJSON(t text) (n *yaml.Node, f *policy.Finding, ok bool) {
	if !json.Valid(t.data) {
		return nil, nil, false
	}
	r := jsonReader{t: t, dec: json.NewDecoder(bytes.NewReader(t.data)), line: 1}
	r.dec.UseNumber()
	n, err := r.value()
	if errors.Is(err, errDuplicate) {
		return nil, r.duplicate, true
	}
	if err != nil {
		return nil, nil, false
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, false
	}
	return n, nil, true
}

var errDuplicate = errors.New("duplicate key")

type jsonReader struct {
	t         text
	dec       *json.Decoder
	duplicate *policy.Finding
	// offset is how far line and column have been counted; lineStart is where that line began.
	offset, line, lineStart int
}

// place moves the count to the next token, which starts after spaces, commas and colons.
func (r *jsonReader) place() (line, column int) {
	data := r.t.data
	end := int(r.dec.InputOffset())
	for end < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[end]) >= 0 {
		end++
	}
	for ; r.offset < end; r.offset++ {
		if data[r.offset] == '\n' {
			r.line++
			r.lineStart = r.offset + 1
		}
	}
	return r.line, utf8.RuneCount(data[r.lineStart:end]) + 1
}

func (r *jsonReader) value() (*yaml.Node, error) {
	line, column := r.place()
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	return r.rest(tok, line, column)
}

// rest builds the node that a token begins.
func (r *jsonReader) rest(tok json.Token, line, column int) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: line, Column: column}
	switch v := tok.(type) {
	case json.Delim:
		n.Style = yaml.FlowStyle
		if v == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
			for r.dec.More() {
				c, err := r.value()
				if err != nil {
					return nil, err
				}
				n.Content = append(n.Content, c)
			}
		} else {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
			if err := r.members(n); err != nil {
				return nil, err
			}
		}
		_, err := r.dec.Token()
		return n, err
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = "!!float", v.String()
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

func (r *jsonReader) members(n *yaml.Node) error {
	seen := make(map[string]int)
	for r.dec.More() {
		k, err := r.value()
		if err != nil {
			return err
		}
		if first := seen[k.Value]; first > 0 {
			r.duplicate = duplicateKey(r.t, k.Value, r.t.at(k.Line, k.Column), r.t.at(first, 0))
			return errDuplicate
		}
		seen[k.Value] = k.Line
		c, err := r.value()
		if err != nil {
			return err
		}
		n.Content = append(n.Content, k, c)
	}
	return nil
}
