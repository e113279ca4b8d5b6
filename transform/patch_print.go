package transform

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
)

// JSONPrinter is another Documents whose results are JSON: an object a document, printed as kubectl prints one. A
// document that is JSON already keeps its text; one without content becomes nothing.
type JSONPrinter struct{ Documents }

// Document gives one document as JSON.
func (p JSONPrinter) Document(d manifest.Document) Result {
	r := p.Documents.Document(d)
	if r.Failed() {
		return r
	}
	var parsed *manifest.Parsed
	if r.Changed {
		parsed = parseAgain(d.File, r.Raw)
	} else {
		one, fs := d.Parse()
		if one == nil {
			r.Findings = append(r.Findings, fs...)
			return r
		}
		parsed = one
	}
	raw := r.Raw
	r.Raw = nil
	if parsed == nil || parsed.Root == nil || typed.IsNull(parsed.Root) {
		return r
	}
	if text := bytes.TrimSpace(raw); parsed.JSON && json.Valid(text) {
		r.Raw = append(bytes.Clone(text), '\n')
		return r
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	if err := enc.Encode(typed.Generic(parsed.Root)); err != nil {
		r.Findings = append(r.Findings, policy.Finding{
			Code: "E_TYPE", Severity: policy.Error, Document: d.Index, Position: policy.Position{File: d.File, Line: d.Line},
			Message: "the document holds a number that JSON has not: " + err.Error(),
		})
		return r
	}
	r.Raw = b.Bytes()
	return r
}

// Stream is [Injector.Stream] for JSON.
func (p JSONPrinter) Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(Batch) error) error {
	return stream(ctx, file, r, workers, p.Document, emit)
}
