package manifest

import (
	"errors"

	"go.yaml.in/yaml/v3"
)

// differs says that edited text does not have the intended meaning.
type differs struct{}

func (differs) Error() string { return "the edited text does not read as intended" }

// verify parses new text and compares it with the intended tree.
func (p *Parsed) verify(raw []byte, want *yaml.Node) (*yaml.Node, error) {
	d := p.Doc
	var fresh *Parsed
	// The text before the content, and with it the separator, is the same; only the end may have moved.
	d.tail += len(raw) - len(d.Raw)
	d.Raw = raw
	if p.JSON {
		fresh = &Parsed{Doc: d}
		done, fs := fresh.parseJSON(p.start(p.Root), false)
		if !done || fs != nil {
			return nil, errors.New("the edited text is no JSON")
		}
	} else {
		text, f := d.parserText()
		if f != nil {
			return nil, errors.New(f.Message)
		}
		root, err := parseOne(text)
		if err != nil {
			return nil, errors.New("the edited text does not parse: " + err.Error())
		}
		fresh = &Parsed{Doc: d, Root: root}
	}
	if fresh.Root == nil || !equalTree(fresh.Root, want) {
		return nil, differs{}
	}
	c := checker{p: fresh}
	c.walk(fresh.Root)
	for _, f := range c.found {
		if f.Code != "W_TAG" {
			return nil, errors.New("the edited text has an error: " + f.Message)
		}
	}
	return fresh.Root, nil
}
