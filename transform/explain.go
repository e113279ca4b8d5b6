package transform

import (
	"context"
	"io"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/workload"
)

// Explanation is where the result of one pod template came from: what the pipeline recorded while it ran.
type Explanation struct {
	// Trail are the steps of the decision and of the injection in order, those behind the deciding one not reached.
	Trail []Step
	// Values are the settings of the proxy, empty where nothing is injected.
	Values []Value
	// Shutdown are the durations that decide how the pod stops; nil where nothing is injected.
	Shutdown *Shutdown
	// Changes are the fields of the pod template that injection changed, by path.
	Changes []FieldChange
	// Bootstrap previews what the agent starts; nil where nothing is injected.
	Bootstrap *Bootstrap
	// Checks are what lint says about the template.
	Checks []policy.Finding
}

// Sources is all that explanations refer to.
type Sources struct {
	// Bundle and Compiled are the configuration, Setup what the flags said.
	Bundle   *config.Bundle
	Compiled *Compiled
	Setup    Setup
	// Unset is the configuration without the set flags; nil where there are none.
	Unset *config.Bundle
	// RevisionFlag is --revision, empty where the configuration names the revision.
	RevisionFlag string
}

// Explainer runs an [Injector] and explains each pod template. It writes nothing. It is safe for concurrent use.
type Explainer struct {
	*Injector
	src    Sources
	linter *Linter
}

// NewExplainer gives the explainer of a configuration.
func NewExplainer(src Sources) *Explainer {
	e := &Explainer{Injector: New(src.Compiled.Options), src: src}
	e.linter = NewLinter(src.Bundle, src.Compiled, LintOptions{Rules: lint.Rules(), KubeVersion: src.Setup.KubeVersion})
	return e
}

// Document explains the pod templates of one document, and names the registered objects in it that have none.
func (e *Explainer) Document(d manifest.Document) Result { return e.document(d, &watch{explainer: e}) }

// Stream explains the documents of r as [Injector.Stream] injects them.
func (e *Explainer) Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(Batch) error) error {
	return stream(ctx, file, r, workers, e.Document, emit)
}

// watch is told what happens to a document. A nil watch does nothing.
type watch struct {
	explainer *Explainer
	recorder  *pod.Recorder
	out       *pod.Output
	// seen is how many findings of the document earlier templates had.
	seen int
}

// record has the engine keep its steps.
func (w *watch) record(in pod.Input) pod.Input {
	if w != nil {
		w.recorder = &pod.Recorder{}
		in.Recorder = w.recorder
	}
	return in
}

// injected takes the engine's result, nil where it failed.
func (w *watch) injected(out *pod.Output) {
	if w != nil {
		w.out = out
	}
}

// explain makes the explanation of a template whose record is complete.
func (w *watch) explain(d *documentWork, v view, facts policy.Facts, record *Workload) *Explanation {
	if w == nil {
		return nil
	}
	x := explaining{watch: w, doc: d, view: v, facts: facts, workload: record}
	out := x.run()
	w.recorder, w.out = nil, nil
	return out
}

// end adds the objects of the document that are of a registered kind and have no pod template.
func (w *watch) end(d *documentWork) {
	if w == nil {
		return
	}
	w.check(d)
	for _, o := range workload.Find(d.opts.Registry, d.parsed.Root).Objects {
		if o.Row == nil || len(o.Templates) > 0 {
			continue
		}
		d.result.Workloads = append(d.result.Workloads, Workload{
			Resource: o.Resource, File: d.parsed.Doc.File, Document: d.parsed.Doc.Index,
			Line: d.parsed.Position(o.Node).Line, Action: Skipped, Decision: policy.Decision{Rule: StepKind},
			Place:       d.parsed.Position(o.Node),
			Explanation: &Explanation{Trail: []Step{kindStop(d, o)}},
		})
	}
}

// check files what lint says with the templates that it is about.
func (w *watch) check(d *documentWork) {
	if len(d.result.Workloads) == 0 {
		return
	}
	for _, f := range w.explainer.linter.LintParsed([]*manifest.Parsed{d.parsed}).Findings {
		for i := range d.result.Workloads {
			r := &d.result.Workloads[i]
			if r.Resource == f.Resource && (f.Field == "" || underTemplate(f.Field, r, d.result.Workloads)) {
				r.Explanation.Checks = append(r.Explanation.Checks, f)
				attach(r.Explanation, f)
			}
		}
	}
}
