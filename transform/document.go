package transform

import (
	"fmt"
	"strings"

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
	case hasErrors(w.result.Findings):
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
		if record.Action == Skipped && hasErrors(w.result.Findings[before:]) {
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
	if hasErrors(fs) {
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

// difference files the changes from the template in the document to another one. Like gives the order of new keys.
func (w *documentWork) difference(v view, after *corev1.PodTemplateSpec, like *yaml.Node) bool {
	at := manifest.Path(v.place.Path)
	var d typed.Difference
	if v.place.Shape == workload.PodSpec {
		d = w.schema.Diff(&v.template.Spec, &after.Spec, at, v.place.Node, typed.Get(like, "spec"))
		d.Changes = append(d.Changes, w.stateChanges(v, after)...)
	} else {
		d = w.schema.Diff(&v.template, after, at, v.place.Node, like)
	}
	for _, p := range d.Duplicates {
		w.add(policy.Finding{
			Code: workload.CodeDupName, Severity: policy.Error, Field: p[len(v.object.Path):].String(),
			Message: "an earlier element of this list has the same key", Hint: "remove one of them",
		}, w.parsed.Get(p), v.object.Resource)
	}
	if len(d.Duplicates) > 0 {
		return false
	}
	if len(d.Changes) > 0 {
		w.changes = append(w.changes, d.Changes...)
		w.want = append(w.want, wanted{
			path: at, shape: v.place.Shape, before: v.template, template: *after, workload: len(w.result.Workloads),
			object: v.object, place: v.place,
		})
	}
	return true
}

// stateKeys are the annotations in which an injected pod says what was done to it.
func stateKeys() []string {
	return []string{policy.AnnotationStatus, policy.AnnotationOverrides, policy.AnnotationSealed}
}

// stateChanges keep a bare pod spec's state in the annotations of its object.
func (w *documentWork) stateChanges(v view, after *corev1.PodTemplateSpec) []manifest.Change {
	at := manifest.Path(v.object.Path).With(manifest.Key("metadata"), manifest.Key("annotations"))
	var changes []manifest.Change
	for _, key := range stateKeys() {
		now, ok := after.Annotations[key]
		was, had := v.template.Annotations[key]
		switch {
		case ok && (!had || now != was):
			changes = append(changes, manifest.Change{
				Op: manifest.Set, Path: at.With(manifest.Key(key)),
				Value: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: now},
			})
		case had && !ok:
			changes = append(changes, manifest.Change{Op: manifest.Remove, Path: at.With(manifest.Key(key))})
		}
	}
	return changes
}

// mergedOrder gives the overlay whose key order new text follows: the first; later ones only add to it.
func mergedOrder(overlays []pod.Overlay) *yaml.Node {
	if len(overlays) == 0 {
		return nil
	}
	return overlays[0].Node
}

// apply splices the changes, checks that every template now reads as intended, and makes sure of the way back.
func (w *documentWork) apply() {
	res, ok := w.splice(w.changes)
	if !ok {
		w.result.Workloads = failed(w.result.Workloads)
		return
	}
	w.result.Raw, w.result.Changed = res.Raw, res.Changed
	if res.Reencoded {
		for _, want := range w.want {
			w.result.Workloads[want.workload].Reencoded = true
			w.result.Workloads[want.workload].Reason = res.Reason
		}
	}
	if w.reinjects() {
		w.reinject()
		return
	}
	if !w.opts.NoRecord {
		w.record(res)
	}
}

// splice applies changes and verifies the result.
func (w *documentWork) splice(changes []manifest.Change) (manifest.Result, bool) {
	res, fs := manifest.Options{NoReencode: w.opts.NoReencode}.Apply(w.parsed, changes)
	for _, f := range append(fs, res.Notices...) {
		w.add(f, nil, policy.Resource{})
	}
	if hasErrors(fs) {
		return res, false
	}
	for _, want := range w.want {
		if !w.reads(res.Root, want) {
			w.add(policy.Finding{
				Code: "E_VERIFY", Severity: policy.Error, Field: want.path.String(),
				Message: "the edited document does not read as the intended pod",
				Hint:    "this is a defect of inject: please report it with this document",
			}, nil, w.result.Workloads[want.workload].Resource)
			return res, false
		}
	}
	return res, true
}

func failed(ws []Workload) []Workload {
	for i := range ws {
		if ws[i].Action == Injected {
			ws[i].Action = Failed
		}
	}
	return ws
}

// reads decodes a template of the new tree and compares it with the intended one.
func (w *documentWork) reads(root *yaml.Node, want wanted) bool {
	n := root
	for _, s := range want.path {
		if s.IsIndex {
			if n = typed.Deref(n); n == nil || s.Index >= len(n.Content) {
				return false
			}
			n = n.Content[s.Index]
		} else {
			n = typed.Get(n, s.Key)
		}
	}
	if n = typed.Deref(n); n == nil {
		return false
	}
	var got corev1.PodTemplateSpec
	if want.shape == workload.PodSpec {
		return len(w.decode(n, &got.Spec)) == 0 && w.schema.Equal(&got.Spec, &want.template.Spec)
	}
	if len(w.decode(n, &got)) > 0 {
		return false
	}
	if want.shape == workload.Pod {
		hideTransport(got.Annotations)
	}
	return w.schema.Equal(&got, &want.template)
}
