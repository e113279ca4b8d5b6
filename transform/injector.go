package transform

import (
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Engine injects one pod template; [pod.Engine] is the modern one.
type Engine interface {
	// Inject gives the injected template. Errors among the findings mean that there is none.
	Inject(in pod.Input) (*pod.Output, []policy.Finding)
}

// Options is one configuration of an Injector.
type Options struct {
	Engine Engine
	// EngineName is what reports call the engine.
	EngineName string
	// Registry says which kinds hold pod templates; workload.Default() unless the user adds some.
	Registry workload.Registry
	// Rules decide about each pod.
	Rules policy.Rules
	// Validate checks the annotations of a pod template before it is injected; nil checks nothing.
	Validate func(annotations map[string]string) []policy.Problem
	// Namespace stands in where neither pod nor workload have one; it is never written.
	Namespace string
	// NamespaceLabels gives the labels of a namespace, for webhook parity; nil leaves that question out.
	NamespaceLabels func(namespace string) (map[string]string, bool)
	// Seal marks injected pods so that the cluster's webhook leaves them as they are.
	Seal bool
	// Strict parses every document and makes errors of the notices that ask for it.
	Strict bool
	// NoReencode makes it an error where a document cannot be spliced.
	NoReencode bool
	// NoRecord leaves the restore record out.
	NoRecord bool

	// function says that the manifests come from an orchestrator of KRM functions.
	function bool
}

// Injector injects documents by one configuration. It is safe for concurrent use.
type Injector struct {
	opts   Options
	kinds  manifest.KindSet
	schema *typed.Schema
	// sealed are the paths of templates to seal whatever the options say, because they were.
	sealed map[string]bool
}

// New gives the injector for a configuration.
func New(opts Options) *Injector {
	in := &Injector{opts: opts, schema: &typed.Schema{}, kinds: kindSet(opts.Registry)}
	if e, ok := opts.Engine.(interface{ Schema() *typed.Schema }); ok {
		in.schema = e.Schema()
	}
	return in
}

// kindSet says which kind words may name a workload; kinds that are off count only where their group is named.
func kindSet(r workload.Registry) manifest.KindSet {
	set := manifest.KindSet{}
	on := map[string]bool{}
	for _, row := range r.Rows() {
		if row.Mode == workload.On {
			on[row.Kind] = true
			set[row.Kind] = nil
		}
	}
	for _, row := range r.Rows() {
		if !on[row.Kind] && row.Group != "" {
			set[row.Kind] = append(set[row.Kind], row.Group)
		}
	}
	return set
}
