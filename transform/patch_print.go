package transform

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

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
	if n := noNumber(parsed.Root); n != nil {
		r.Findings = append(r.Findings, policy.Finding{
			Code: "E_TYPE", Severity: policy.Error, Document: d.Index, Position: parsed.Position(n),
			Message: "JSON has no number " + n.Value, Hint: "quote it, if it is text",
		})
		return r
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	if err := enc.Encode(typed.Generic(parsed.Root)); err != nil {
		panic("plain data cannot be printed as JSON: " + err.Error())
	}
	r.Raw = b.Bytes()
	return r
}

// Stream is [Injector.Stream] for JSON.
func (p JSONPrinter) Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(Batch) error) error {
	return stream(ctx, file, r, workers, p.Document, emit)
}

// noNumber finds a scalar that YAML takes for infinity or not-a-number. Trees are no deeper than the parser lets them be.
func noNumber(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode {
		text := strings.ToLower(strings.TrimLeft(n.Value, "+-"))
		if (text == ".inf" || text == ".nan") && typed.ScalarKind(n) == typed.Float {
			return n
		}
		return nil
	}
	for _, c := range n.Content {
		if bad := noNumber(c); bad != nil {
			return bad
		}
	}
	return nil
}
