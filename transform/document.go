package transform

import (
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Document injects one document. It never changes d.Raw.
func (in *Injector) Document(d manifest.Document) Result { return in.document(d, nil) }

// document injects a document; watch is told of what happens, nil for nobody.
func (in *Injector) document(d manifest.Document, watch *watch) Result {
	r := Result{Raw: d.Raw, Findings: d.Findings}
	class, kind := d.Sniff(in.kinds)
	if class == manifest.Pass && !in.opts.Strict {
		return r
	}
	parsed, fs := d.Parse()
	r.Findings = append(r.Findings[:len(r.Findings):len(r.Findings)], named(fs, kind)...)
	if parsed == nil || parsed.Root == nil {
		return r
	}
	w := &documentWork{Injector: in, parsed: parsed, result: &r, watch: watch}
	w.run()
	watch.end(w)
	return r
}

// named gives findings without a resource the kind that the sniff saw, as "(Deployment?)".
func named(fs []policy.Finding, kind string) []policy.Finding {
	for i := range fs {
		if fs[i].Resource == (policy.Resource{}) && kind != "" && fs[i].Severity == policy.Error {
			fs[i].Resource.Kind = "(" + kind + "?)"
		}
	}
	return fs
}

// documentWork is one parsed document on its way.
type documentWork struct {
	*Injector
	parsed  *manifest.Parsed
	result  *Result
	changes []manifest.Change
	// want is what each injected template must decode to in the end.
	want []wanted
	// watch explains the document; nil where nobody asks.
	watch *watch
}

// wanted is a template before and as it must read in the end.
type wanted struct {
	path             manifest.Path
	shape            workload.Shape
	before, template corev1.PodTemplateSpec
	workload         int
	object           workload.Object
	place            workload.Template
}

func (w *documentWork) run() {
	found := workload.Find(w.opts.Registry, w.parsed.Root)
	for _, n := range found.Notices {
		w.notice(n)
	}
	for _, o := range found.Objects {
		for _, t := range o.Templates {
			w.template(o, t)
		}
		w.foreign(o)
	}
	switch {
	case policy.HasErrors(w.result.Findings):
	case len(w.changes) > 0:
		w.apply()
	case w.recorded():
		// By the pod's own word nothing changes, but the record knows more than the pod tells.
		w.reinject()
	}
}

// foreign files an object whose kind is injected in other API groups only; the core group has a warning of its own.
func (w *documentWork) foreign(o workload.Object) {
	if _, known := w.kinds[o.Resource.Kind]; !known || o.Row != nil || o.Group == "" {
		return
	}
	w.result.Foreign = append(w.result.Foreign, Workload{
		Resource: o.Resource, File: w.parsed.Doc.File, Document: w.parsed.Doc.Index, Line: w.parsed.Position(o.Node).Line,
		Engine: w.opts.EngineName, Decision: policy.Decision{Rule: ruleKind},
		Reason: "kind " + o.Resource.Kind + " of group " + o.Group + " is not the one that is injected",
	})
}

// ruleKind is the id of the first question about an object: whether it has pods at all.
const ruleKind = "kind"

// view is a pod template as the steps see it.
type view struct {
	object   workload.Object
	place    workload.Template
	template corev1.PodTemplateSpec
	problems []typed.Problem
}

// template decides about one pod template and, on yes, adds the changes that inject it.
func (w *documentWork) template(o workload.Object, t workload.Template) {
	v := w.view(o, t)
	record := Workload{
		Resource: o.Resource, File: w.parsed.Doc.File, Document: w.parsed.Doc.Index,
		Line: w.parsed.Position(o.Node).Line, Template: t.Field(o), Engine: w.opts.EngineName,
	}
	facts := w.facts(v)
	record.Decision = policy.Decide(facts)
	record.Place = w.decisionPlace(v, record.Decision)
	w.warnings(v, record.Decision.Warnings)
	if record.Decision.Inject {
		before := len(w.result.Findings)
		record.Action, record.Trace = w.inject(v, facts.Namespace)
		if record.Action == Skipped && policy.HasErrors(w.result.Findings[before:]) {
			record.Action = Failed
		}
	}
	record.Explanation = w.watch.explain(w, v, facts, &record)
	w.result.Workloads = append(w.result.Workloads, record)
}

// view decodes the template.
func (w *documentWork) view(o workload.Object, t workload.Template) view {
	v := view{object: o, place: t}
	switch t.Shape {
	case workload.PodSpec:
		v.problems = w.decode(t.Node, &v.template.Spec)
		v.template.Annotations = stateOf(o.Metadata)
	default:
		v.problems = w.decode(t.Node, &v.template)
		if t.Shape == workload.Pod {
			hideTransport(v.template.Annotations)
		}
	}
	return v
}

// stateOf reads from an object's metadata the annotations in which a bare pod spec keeps its state.
func stateOf(metadata *yaml.Node) map[string]string {
	var out map[string]string
	for _, key := range stateKeys() {
		if n := typed.Get(typed.Get(metadata, "annotations"), key); n != nil {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = n.Value
		}
	}
	return out
}

// facts gathers what the decision needs.
func (w *documentWork) facts(v view) policy.Facts {
	f := policy.Facts{
		Rules: w.opts.Rules, HostNetwork: v.template.Spec.HostNetwork,
		Labels: v.template.Labels, Annotations: v.template.Annotations,
	}
	switch {
	case v.template.Namespace != "":
		f.Namespace, f.NamespacePlace = v.template.Namespace, policy.InTemplate
	case v.object.Resource.Namespace != "":
		f.Namespace, f.NamespacePlace = v.object.Resource.Namespace, policy.InWorkload
	default:
		f.Namespace, f.NamespacePlace = w.opts.Namespace, policy.InFlags
	}
	if w.opts.NamespaceLabels != nil {
		if labels, ok := w.opts.NamespaceLabels(f.Namespace); ok {
			f.NamespaceLabels = labels
		}
	}
	return f
}

// inject runs the engine and files the difference.
func (w *documentWork) inject(v view, namespace string) (Action, *pod.Trace) {
	if !w.fit(v) {
		return Failed, nil
	}
	out, fs := w.opts.Engine.Inject(w.watch.record(w.input(v, namespace)))
	w.watch.injected(out)
	if out == nil {
		w.warnings(v, fs)
		return Failed, nil
	}
	w.warnings(v, fs)
	w.warnings(v, out.Warnings)
	if policy.HasErrors(fs) {
		return Failed, nil
	}
	if w.seals(v) {
		if f := sealed(&out.Template, v.place.Shape); f != nil {
			w.warnings(v, []policy.Finding{*f})
			return Failed, nil
		}
	}
	w.restricted(v, out)
	n := len(w.changes)
	if !w.difference(v, &out.Template, mergedOrder(out.Overlays)) {
		return Failed, nil
	}
	// A copy: the trace is kept for the report, the pod and its overlays are not.
	trace := out.Trace
	if len(w.changes) == n {
		return Unchanged, &trace
	}
	return Injected, &trace
}

// fit reports what keeps a template from being injected: values of the wrong type, names that clash, annotations that
// Istio refuses.
func (w *documentWork) fit(v view) bool {
	ok := true
	for _, p := range v.problems {
		ok = false
		w.add(policy.Finding{
			Code: p.Code, Severity: policy.Error, Message: p.Message, Hint: p.Hint,
			Field: joinField(v.place.Field(v.object), p.Path),
		}, p.Node, v.object.Resource)
	}
	for _, n := range v.place.CheckNames(v.object) {
		ok = ok && n.Severity != policy.Error
		w.notice(n)
	}
	if w.opts.Validate != nil {
		for _, p := range w.opts.Validate(v.template.Annotations) {
			ok = false
			w.warnings(v, []policy.Finding{{
				Code: "E_ANNOTATION", Severity: policy.Error, Message: p.Message, Hint: p.Hint,
				Field: "metadata.annotations[" + p.Key + "]",
			}})
		}
	}
	return ok
}

// input gives the engine the pod and its owner.
func (w *documentWork) input(v view, namespace string) pod.Input {
	res := v.object.Resource
	typ := metav1.TypeMeta{APIVersion: res.APIVersion, Kind: res.Kind}
	meta := metav1.ObjectMeta{Name: res.Name, GenerateName: res.GenerateName, Namespace: res.Namespace}
	if v.place.Shape == workload.Pod || len(v.place.Path) == len(v.object.Path) {
		meta = v.template.ObjectMeta
	}
	if meta.Namespace == "" {
		meta.Namespace = w.opts.Namespace
	}
	owner := workload.OwnerOf(typ, meta)
	return pod.Input{
		Template: v.template, Namespace: namespace,
		TypeMeta: metav1.TypeMeta{APIVersion: owner.APIVersion, Kind: owner.Kind},
		Owner:    metav1.ObjectMeta{Name: owner.Name, Namespace: owner.Namespace},
	}
}
