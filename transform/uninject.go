package transform

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/pod/legacy"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Uninjector takes sidecars out again. It needs no configuration: the pod's status and overrides say what was put in,
// and the restore record what they do not tell. It is safe for concurrent use.
type Uninjector struct{ *Injector }

// NewUninjector gives an uninjector for the kinds of a registry.
func NewUninjector(r workload.Registry) *Uninjector {
	return &Uninjector{&Injector{
		opts: Options{Registry: r, EngineName: "uninject"}, kinds: kindSet(r), schema: &typed.Schema{},
	}}
}

// Stream is [Injector.Stream] the other way.
func (u *Uninjector) Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(Batch) error) error {
	return stream(ctx, file, r, workers, u.Document, emit)
}

// Document takes the sidecars of one document out. What carries none leaves as its own bytes. Workloads of the result
// are the templates that carried one, with the action Injected where they were changed.
func (u *Uninjector) Document(d manifest.Document) Result {
	if !bytes.Contains(d.Raw, []byte(policy.AnnotationStatus)) {
		return Result{Raw: d.Raw}
	}
	rec, rest, broken := cutRecord(d)
	if rec == nil && bytes.Contains(d.Raw, []byte(`"`+policy.AnnotationRestore+`"`)) {
		rec, rest, _ = cutAnnotation(u, d)
	}
	r := u.inverse(rest)
	if r.Failed() || !r.Changed {
		r.Raw, r.Changed = d.Raw, false
		return r
	}
	if broken != nil {
		r.Findings = append(r.Findings, *broken)
	}
	if rec != nil && u.restore(&r, *rec, rest) {
		// Byte for byte: whatever the pod alone did not tell is back.
		r.Findings = slices.DeleteFunc(r.Findings, func(f policy.Finding) bool { return f.Code == pod.CodeNotRestored })
		for i := range r.Workloads {
			r.Workloads[i].Reason = ""
		}
	}
	return r
}

// inverse takes out what the document itself says was put in.
func (u *Uninjector) inverse(d manifest.Document) Result {
	r := Result{Raw: d.Raw, Findings: d.Findings}
	parsed, fs := d.Parse()
	r.Findings = append(r.Findings[:len(r.Findings):len(r.Findings)], fs...)
	if parsed == nil || parsed.Root == nil {
		return r
	}
	w := &documentWork{Injector: u.Injector, parsed: parsed, result: &r}
	found := workload.Find(u.opts.Registry, parsed.Root)
	for _, o := range found.Objects {
		for _, t := range o.Templates {
			w.strip(o, t)
		}
	}
	if len(w.changes) == 0 || policy.HasErrors(r.Findings) {
		return r
	}
	if res, ok := w.splice(w.changes); ok {
		r.Raw, r.Changed = res.Raw, res.Changed
	}
	return r
}

// strip files the changes that take one template's sidecar out.
func (w *documentWork) strip(o workload.Object, t workload.Template) {
	v := w.view(o, t)
	if _, ok := v.template.Annotations[policy.AnnotationStatus]; !ok {
		return
	}
	record := Workload{
		Resource: o.Resource, File: w.parsed.Doc.File, Document: w.parsed.Doc.Index,
		Line: w.parsed.Position(o.Node).Line, Template: t.Field(o), Engine: w.opts.EngineName, Action: Unchanged,
	}
	for _, p := range v.problems {
		w.add(policy.Finding{
			Code: p.Code, Severity: policy.Error, Message: p.Message, Hint: p.Hint, Field: joinField(t.Field(o), p.Path),
		}, p.Node, o.Resource)
	}
	if len(v.problems) == 0 {
		after, notes := stripped(v)
		for _, n := range notes {
			if n.Severity == policy.Info {
				record.Reason = strings.TrimPrefix(record.Reason+"; "+n.Message, "; ")
			} else {
				w.warnings(v, []policy.Finding{n})
			}
		}
		n := len(w.changes)
		if !w.difference(v, &after, nil) {
			record.Action = Failed
		} else if len(w.changes) > n {
			record.Action = Injected
		}
	}
	w.result.Workloads = append(w.result.Workloads, record)
}

// stripped is the template without its sidecar, by the format of its status.
func stripped(v view) (after podTemplate, notes []policy.Finding) {
	if legacy.HasStatus(&v.template) {
		return legacy.Strip(v.template, legacy.Stripping{})
	}
	s, notes := pod.Strip(v.template)
	return s.Template, notes
}
