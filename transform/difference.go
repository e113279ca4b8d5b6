package transform

import (
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

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
	if policy.HasErrors(fs) {
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
