package transform

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// add files a finding with the document's file and number, and the place of node where it has none.
func (w *documentWork) add(f policy.Finding, node *yaml.Node, res policy.Resource) {
	f.Document = w.parsed.Doc.Index
	if f.Resource == (policy.Resource{}) {
		f.Resource = res
	}
	at := policy.Position{File: w.parsed.Doc.File, Line: w.parsed.Doc.Line}
	if node != nil {
		at = w.parsed.Position(node)
	}
	if f.Position.File == "" {
		f.Position = at
	} else if f.Position.File != at.File {
		// The place is in the configuration; the document's number would be read as one of that file.
		at.Column, f.Document, f.Field = 0, 0, ""
		f.Message += MetWhile + at.String()
	}
	w.result.Findings = append(w.result.Findings, f)
}

// MetWhile stands in the message of a finding about the configuration, between what is wrong and the place of the pod that
// met it.
const MetWhile = "; met while injecting "

// notice files what the search for templates met; under --strict some of it is an error.
func (w *documentWork) notice(n workload.Notice) {
	f := n.Finding
	if n.Strict && w.opts.Strict {
		f.Severity = policy.Error
		if n.StrictCode != "" {
			f.Code = n.StrictCode
		}
	}
	w.add(f, n.Node, f.Resource)
}

// decisionPlace finds the field that decided, where it is in the manifest.
func (w *documentWork) decisionPlace(v view, d policy.Decision) policy.Position {
	var base *yaml.Node
	switch d.Place {
	case policy.InTemplate:
		base = v.place.Node
	case policy.InWorkload:
		base = v.object.Node
	default:
		return policy.Position{}
	}
	if n := walkField(base, d.Field); n != nil {
		return w.parsed.Position(n)
	}
	return policy.Position{}
}

// walkField follows a field path such as metadata.labels[sidecar.istio.io/inject] from a mapping; nil where it ends
// early.
func walkField(n *yaml.Node, field string) *yaml.Node {
	for field != "" && n != nil {
		var key string
		if rest, ok := strings.CutPrefix(field, "["); ok {
			key, field, _ = strings.Cut(rest, "]")
		} else {
			end := strings.IndexAny(field, ".[")
			if end < 0 {
				end = len(field)
			}
			key, field = field[:end], field[end:]
		}
		field = strings.TrimPrefix(field, ".")
		n = child(n, strings.Trim(key, `"`))
	}
	return n
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n = typed.Deref(n); n != nil && n.Kind == yaml.SequenceNode {
		i := 0
		if _, err := fmt.Sscanf(key, "%d", &i); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	return typed.Get(n, key)
}

// warnings files findings whose fields are relative to the pod template.
func (w *documentWork) warnings(v view, fs []policy.Finding) {
	for _, f := range fs {
		n := walkField(v.place.Node, f.Field)
		f.Field = joinField(v.place.Field(v.object), f.Field)
		w.add(f, firstNode(n, v.place.Node), v.object.Resource)
	}
}

func firstNode(nodes ...*yaml.Node) *yaml.Node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}

func joinField(a, b string) string {
	if a == "" || b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}
