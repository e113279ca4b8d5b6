package transform

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// reinjects tells whether one of the changed templates carried a sidecar already.
func (w *documentWork) reinjects() bool {
	for _, want := range w.want {
		if _, ok := want.before.Annotations[policy.AnnotationStatus]; ok {
			return true
		}
	}
	return false
}

// reinject gives the document the bytes that injecting the original would give: the earlier injection is taken out of
// the bytes and the new one put in. Where that ends in the very bytes that came, nothing was out of date.
func (w *documentWork) reinject() {
	u := &Uninjector{w.Injector}
	back := u.Document(w.parsed.Doc)
	if back.Failed() || !back.Changed {
		return
	}
	original, ok := w.resplit(back.Raw)
	if !ok {
		return
	}
	again := w.sealing().Document(original)
	if again.Failed() {
		return
	}
	w.result.Raw = again.Raw
	w.result.Changed = !bytes.Equal(again.Raw, w.parsed.Doc.Raw)
	from, to := Injected, Unchanged
	if w.result.Changed {
		from, to = Unchanged, Injected
	}
	for i := range w.result.Workloads {
		if w.result.Workloads[i].Action == from {
			w.result.Workloads[i].Action = to
		}
	}
}

// recorded tells whether a template that is to be injected carries a sidecar, and its document a restore record.
func (w *documentWork) recorded() bool {
	if !bytes.Contains(w.parsed.Doc.Raw, []byte(policy.AnnotationRestore)) {
		return false
	}
	return slices.ContainsFunc(w.result.Workloads, func(r Workload) bool { return r.Action == Unchanged })
}

// recordJSON is record for a document that has no comments: the record is an annotation of the first changed object.
func (w *documentWork) recordJSON(u *Uninjector) {
	at := w.objectPath()
	back := func(text string) (Result, manifest.Result, bool) {
		changes := append(w.changes[:len(w.changes):len(w.changes)], manifest.Change{
			Op: manifest.Set, Path: at.With(manifest.Key("metadata"), manifest.Key("annotations"), manifest.Key(policy.AnnotationRestore)),
			Value: stringNode(text),
		})
		res, fs := manifest.Apply(w.parsed, changes)
		if policy.HasErrors(fs) || res.Reencoded {
			return Result{}, res, false
		}
		d, ok := w.resplit(res.Raw)
		if !ok {
			return Result{}, res, false
		}
		_, rest, _ := cutAnnotation(u, d)
		return u.inverse(rest), res, true
	}
	injected, ok := w.resplit(w.result.Raw)
	if !ok || bytes.Equal(u.inverse(injected).Raw, w.parsed.Doc.Raw) {
		return
	}
	plain, _, ok := back("{}")
	if !ok {
		return
	}
	text := w.recordText(plain.Raw)
	if _, res, ok := back(text); ok {
		w.result.Raw = res.Raw
	}
}

// objectPath leads to the object of the first changed template.
func (w *documentWork) objectPath() manifest.Path {
	for _, o := range workload.Find(w.opts.Registry, w.parsed.Root).Objects {
		for _, t := range o.Templates {
			if manifest.Path(t.Path).String() == w.want[0].path.String() {
				return manifest.Path(o.Path)
			}
		}
	}
	return nil
}

func stringNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
}

// cutAnnotation gives the record that an object of a JSON document carries, and the document without it.
func cutAnnotation(u *Uninjector, d manifest.Document) (*record, manifest.Document, bool) {
	parsed, fs := d.Parse()
	if parsed == nil || parsed.Root == nil || policy.HasErrors(fs) {
		return nil, d, false
	}
	for _, o := range workload.Find(u.opts.Registry, parsed.Root).Objects {
		annotations := typed.Get(o.Metadata, "annotations")
		value := typed.Get(annotations, policy.AnnotationRestore)
		if value == nil {
			continue
		}
		at := manifest.Path(o.Path).With(manifest.Key("metadata"))
		if len(o.Metadata.Content) > 2 || len(annotations.Content) > 2 {
			at = at.With(manifest.Key("annotations"))
		}
		if len(annotations.Content) > 2 {
			at = at.With(manifest.Key(policy.AnnotationRestore))
		}
		res, fs := manifest.Apply(parsed, []manifest.Change{{Op: manifest.Remove, Path: at}})
		docs, _ := manifest.Split(d.File, res.Raw)
		if policy.HasErrors(fs) || len(docs) != 1 {
			return nil, d, false
		}
		out := docs[0]
		out.Index, out.Line, out.Offset = d.Index, d.Line, d.Offset
		var rec record
		if json.Unmarshal([]byte(value.Value), &rec) != nil || rec.Version != 1 {
			return nil, out, true
		}
		return &rec, out, true
	}
	return nil, d, false
}
