package transform

import (
	"context"
	"io"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// LifecycleOptions say how a [LifecycleReader] reads pods.
type LifecycleOptions struct {
	// AsIs takes every pod as it stands, with a sidecar or without.
	AsIs bool
	// Variants are names of [lifecycle.Variants], in the order in which each pod is wanted; none gives every pod once.
	Variants []string
	// IstioVersion is --istio-version; where it is empty the proxy's image says which agent runs.
	IstioVersion string
}

// Sidecar says where the sidecar of a pod to play came from.
type Sidecar int

// The three ways.
const (
	// NoSidecar: the pod is played as it stands, because a rule is against injection or [LifecycleOptions].AsIs was asked.
	NoSidecar Sidecar = iota
	// OwnSidecar: the manifest holds an injected pod, which is played as it stands.
	OwnSidecar
	// AddedSidecar: the pod was injected in memory.
	AddedSidecar
)

// LifecyclePod is a pod as package lifecycle plays it.
type LifecyclePod struct {
	lifecycle.Pod
	// Variant is the name of the variant that Pod is; empty where none was asked for.
	Variant string
	// Istio is the version of the agent that runs in it.
	Istio lifecycle.Version
	// Base is what findings about the pod have in common: place, document, resource, field of the pod template.
	Base policy.Finding
	// Sidecar says where the sidecar came from.
	Sidecar Sidecar
}

// LifecycleReader gives the pods of documents as they will run: injected by the same engine as [Injector] does it, but
// in memory. It writes nothing. It is safe for concurrent use.
type LifecycleReader struct {
	*Injector
	opts  LifecycleOptions
	istio lifecycle.Version
	// hold says that mesh config or values ask for holdApplicationUntilProxyStarts.
	hold   bool
	legacy bool
}

// NewLifecycleReader makes a reader of a loaded and compiled configuration.
func NewLifecycleReader(b *config.Bundle, c *Compiled, o LifecycleOptions) *LifecycleReader {
	return &LifecycleReader{
		Injector: New(c.Options), opts: o, legacy: c.Legacy,
		istio: lifecycle.Version{Major: b.Istio.Version.Major, Minor: b.Istio.Version.Minor},
		hold:  holdInValues(b) || b.Mesh.Config.GetDefaultConfig().GetHoldApplicationUntilProxyStarts().GetValue(),
	}
}

// holdInValues tells whether the values ask for hold (Istio, files/injection-template.yaml, 1.7 to 1.30).
func holdInValues(b *config.Bundle) bool {
	global, _ := b.Values.Tree["global"].(map[string]any)
	proxy, _ := global["proxy"].(map[string]any)
	hold, _ := proxy["holdApplicationUntilProxyStarts"].(bool)
	return hold
}

// Stream reads the documents of r as [Injector.Stream] injects them.
func (l *LifecycleReader) Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(Batch) error) error {
	return stream(ctx, file, r, workers, l.Document, emit)
}

// Document reads the pods of one document; each workload of the result holds those of its template. With an error
// among the findings a workload has none.
func (l *LifecycleReader) Document(d manifest.Document) Result {
	r := Result{Raw: d.Raw, Findings: d.Findings}
	class, kind := d.Sniff(l.kinds)
	if class == manifest.Pass && !l.Injector.opts.Strict {
		return r
	}
	parsed, fs := d.Parse()
	r.Findings = append(r.Findings[:len(r.Findings):len(r.Findings)], named(fs, kind)...)
	if parsed == nil || parsed.Root == nil {
		return r
	}
	w := &documentWork{Injector: l.Injector, parsed: parsed, result: &r}
	found := workload.Find(w.opts.Registry, parsed.Root)
	for _, n := range found.Notices {
		w.notice(n)
	}
	for _, o := range found.Objects {
		for _, t := range o.Templates {
			l.template(w, w.view(o, t))
		}
	}
	return r
}

// template reads one pod template.
func (l *LifecycleReader) template(w *documentWork, v view) {
	o, t := v.object, v.place
	record := Workload{
		Resource: o.Resource, File: w.parsed.Doc.File, Document: w.parsed.Doc.Index,
		Line: w.parsed.Position(o.Node).Line, Template: t.Field(o), Engine: w.opts.EngineName,
	}
	facts := w.facts(v)
	record.Decision = policy.Decide(facts)
	record.Place = w.decisionPlace(v, record.Decision)
	before := len(w.result.Findings)
	base := l.base(w, v)
	switch {
	case carriesProxy(&v.template):
		record.Action = Unchanged
		base.Sidecar = OwnSidecar
		record.Pods = l.asItStands(w, v, base)
	case l.opts.AsIs || !record.Decision.Inject:
		record.Action = Skipped
		record.Pods = l.asItStands(w, v, base)
	default:
		record.Action = Injected
		base.Sidecar = AddedSidecar
		w.warnings(v, record.Decision.Warnings)
		record.Pods, record.Trace = l.injected(w, v, base, facts.Namespace)
		if record.Trace != nil && record.Trace.Skipped != "" {
			record.Action = Skipped
		}
	}
	if policy.HasErrors(w.result.Findings[before:]) {
		record.Action, record.Pods = Failed, nil
	}
	w.result.Workloads = append(w.result.Workloads, record)
}

// carriesProxy tells whether a pod was injected before: a status, and the container that it speaks of. A pod that has
// only the user's own settings of istio-proxy was not.
func carriesProxy(t *corev1.PodTemplateSpec) bool {
	return t.Annotations[policy.AnnotationStatus] != "" && hasProxyContainer(&t.Spec)
}

func hasProxyContainer(spec *corev1.PodSpec) bool {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if list[i].Name == policy.ContainerProxy {
				return true
			}
		}
	}
	return false
}

// base fills in what does not depend on injection.
func (l *LifecycleReader) base(w *documentWork, v view) LifecyclePod {
	o, t := v.object, v.place
	p := LifecyclePod{Istio: l.istio, Base: policy.Finding{
		Position: w.parsed.Position(t.Node), Document: w.parsed.Doc.Index, Resource: o.Resource, Field: t.Field(o),
	}}
	p.Kind, p.Namespace, p.Name = o.Resource.Kind, o.Resource.Namespace, o.Resource.Name
	if p.Name == "" && o.Resource.GenerateName != "" {
		p.Name = o.Resource.GenerateName + "*"
	}
	if t.Shape == workload.Pod {
		for _, owner := range v.template.OwnerReferences {
			if owner.Controller != nil && *owner.Controller && owner.Kind == "Job" {
				p.Kind, p.Name = owner.Kind, owner.Name // a Job's pod ends as one, however it comes
			}
		}
	}
	if len(o.Templates) > 1 {
		p.Name += " " + t.Field(o) // several pods of one object need names of their own
	}
	p.ActiveDeadlineSeconds = deadlineBeside(w, v)
	p.HoldRequested = l.hold
	return p
}

// deadlineBeside reads activeDeadlineSeconds where it stands beside a Job's pod template.
func deadlineBeside(w *documentWork, v view) *int64 {
	kind := v.object.Resource.Kind
	if kind != "Job" && kind != "CronJob" || v.place.Shape != workload.PodTemplate {
		return nil
	}
	at := manifest.Path(v.place.Path)
	n := typed.Get(w.parsed.Get(at[:len(at)-1]), "activeDeadlineSeconds")
	var seconds int64
	if n == nil || n.Kind != yaml.ScalarNode || n.Decode(&seconds) != nil {
		return nil
	}
	return &seconds
}

// asItStands gives the pod of the manifest itself.
func (l *LifecycleReader) asItStands(w *documentWork, v view, p LifecyclePod) []LifecyclePod {
	for _, problem := range v.problems {
		w.add(policy.Finding{
			Code: problem.Code, Severity: policy.Error, Message: problem.Message, Hint: problem.Hint,
			Field: joinField(v.place.Field(v.object), problem.Path),
		}, problem.Node, v.object.Resource)
	}
	if len(v.problems) > 0 {
		return nil
	}
	p = l.with(p, &v.template)
	if len(l.opts.Variants) == 0 {
		return []LifecyclePod{p}
	}
	var out []LifecyclePod
	for _, name := range l.opts.Variants {
		if made, ok := p.rearranged(name); ok {
			out = append(out, made)
		}
	}
	if len(out) == 0 {
		w.warnings(v, []policy.Finding{{
			Code: CodeNoVariant, Severity: policy.Warning, Message: "the pod has no sidecar, so there is nothing to compare",
			Hint: "inject it, or leave it out: inject lifecycle KIND/NAME",
		}})
		return []LifecyclePod{p}
	}
	return out
}

// with takes over labels, annotations and spec of a template, and the version that the proxy's image names.
func (l *LifecycleReader) with(p LifecyclePod, t *corev1.PodTemplateSpec) LifecyclePod {
	p.Labels, p.Annotations, p.Spec = t.Labels, t.Annotations, t.Spec
	if l.opts.IstioVersion == "" {
		if v, ok := agentVersion(&t.Spec); ok {
			p.Istio = v
		}
	}
	return p
}
