package transform

import (
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/pod"
)

// Action says what became of a pod template.
type Action int

// The four actions.
const (
	// Skipped: a rule decided against injection.
	Skipped Action = iota
	// Injected: the template has a sidecar that it had not before, or another one.
	Injected
	// Unchanged: injection was decided and the template holds its result already.
	Unchanged
	// Failed: there are errors about it among the findings.
	Failed
)

// String gives the word that reports print.
func (a Action) String() string { return [...]string{"skipped", "injected", "unchanged", "error"}[a] }

// Workload is one pod template and what became of it.
type Workload struct {
	Resource policy.Resource
	File     string
	// Line is the first line of the object in the file, Document counts from 1.
	Line, Document int
	// Template is the path from the object to its pod template; empty for a Pod.
	Template string
	Action   Action
	Decision policy.Decision
	// Place is where the decision came from, as far as that is in the manifest.
	Place policy.Position
	// Trace is what injection did; nil where it did nothing.
	Trace *pod.Trace
	// Explanation is where all of it came from; nil unless an [Explainer] ran.
	Explanation *Explanation
	// Pods are the pod as package lifecycle plays it, or its variants; nil unless a [LifecycleReader] ran.
	Pods []LifecyclePod
	// Engine names the engine that ran: "istio" or "istio-legacy", and its version.
	Engine string
	// Reencoded tells that the document could not be spliced, Reason why.
	Reencoded bool
	Reason    string
}

// Result is what became of one document.
type Result struct {
	// Source is the document as it came, Raw what to write: the same bytes where nothing changed.
	Source, Raw []byte
	Changed     bool
	// Workloads are the pod templates in it, Findings all that there is to say.
	Workloads []Workload
	// Foreign are objects that passed because their kind belongs to another API group than the one that is injected.
	Foreign  []Workload
	Findings []policy.Finding
	// Patches are what changes in the objects of the document; only a [Patcher] fills them.
	Patches []Patch
}

// Failed tells whether an error is among the findings.
func (r Result) Failed() bool { return policy.HasErrors(r.Findings) }
