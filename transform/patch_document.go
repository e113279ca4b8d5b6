package transform

import (
	"context"
	"io"
	"strconv"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Documents is what makes other documents of documents: an [Injector] or an [Uninjector].
type Documents interface {
	Document(d manifest.Document) Result
}

// Patch is what changes in one object.
type Patch struct {
	Target PatchTarget
	// Guard tests the name of the object's first container as it stands before the patch: an applier that was pointed to
	// the wrong object stops there. It is no part of Ops.
	Guard PatchOp
	// Ops are never empty.
	Ops []PatchOp
	// Position is where the object begins.
	Position policy.Position
}

// PatchTarget names the object that a patch is for.
type PatchTarget struct {
	APIVersion, Kind, Namespace string
	// Name is empty for an object that has only a GenerateName.
	Name, GenerateName string
	// File is the input, Index the place of the object's document in it, from 0.
	File  string
	Index int
}

// Resource names the target as findings do.
func (t PatchTarget) Resource() policy.Resource {
	return policy.Resource{APIVersion: t.APIVersion, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name, GenerateName: t.GenerateName}
}

// Patcher is another Documents whose results hold patches instead of text: RFC 6902 against each object as it stands
// in the input.
type Patcher struct {
	Documents
	// Registry says where an object's containers are.
	Registry workload.Registry
}

// Document gives the patches of one document; Raw of the result is empty.
func (p Patcher) Document(d manifest.Document) Result {
	r := p.Documents.Document(d)
	if r.Failed() || !r.Changed {
		r.Raw = nil
		return r
	}
	before, _ := d.Parse()
	after := parseAgain(d.File, r.Raw)
	r.Raw = nil
	if before == nil || after == nil {
		r.Findings = append(r.Findings, policy.Finding{
			Code: "E_VERIFY", Severity: policy.Error, Document: d.Index, Position: policy.Position{File: d.File, Line: d.Line},
			Message: "the changed document cannot be read again", Hint: "this is a defect of inject: please report it with this document",
		})
		return r
	}
	for _, o := range workload.Find(p.Registry, before.Root).Objects {
		ops := Compare(typed.Generic(o.Node), typed.Generic(after.Get(manifest.Path(o.Path))))
		if len(ops) == 0 {
			continue
		}
		r.Patches = append(r.Patches, Patch{
			Target: PatchTarget{
				APIVersion: o.Resource.APIVersion, Kind: o.Resource.Kind, Namespace: o.Resource.Namespace,
				Name: o.Resource.Name, GenerateName: nameOnly(o.Resource), File: d.File, Index: max(0, d.Index-1),
			},
			Guard: guard(o), Ops: ops, Position: before.Position(o.Node),
		})
	}
	return r
}

// Stream is [Injector.Stream] for patches.
func (p Patcher) Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(Batch) error) error {
	return stream(ctx, file, r, workers, p.Document, emit)
}

// nameOnly is the generateName of an object that has no name.
func nameOnly(r policy.Resource) string {
	if r.Name != "" {
		return ""
	}
	return r.GenerateName
}

// parseAgain parses text that was made of one document.
func parseAgain(file string, raw []byte) *manifest.Parsed {
	docs, _ := manifest.Split(file, raw)
	var out *manifest.Parsed
	for _, d := range docs {
		if p, _ := d.Parse(); p != nil && p.Root != nil {
			if out != nil {
				return nil
			}
			out = p
		}
	}
	return out
}

// guard tests the first container of an object's first pod template.
func guard(o workload.Object) PatchOp {
	if len(o.Templates) == 0 {
		return PatchOp{}
	}
	t := o.Templates[0]
	containers := typed.Deref(typed.Get(t.Spec, "containers"))
	if containers == nil || len(containers.Content) == 0 {
		return PatchOp{}
	}
	steps := t.Path[len(o.Path):]
	if t.Shape != workload.PodSpec {
		steps = append(steps[:len(steps):len(steps)], workload.Step{Key: "spec"})
	}
	at := ""
	for _, s := range steps {
		if s.IsIndex {
			at += "/" + strconv.Itoa(s.Index)
		} else {
			at += "/" + escapePointer(s.Key)
		}
	}
	return PatchOp{Op: OpTest, Path: at + "/containers/0/name", Value: typed.Generic(typed.Get(containers.Content[0], "name"))}
}
