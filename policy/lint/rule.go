package lint

import "github.com/kube-inject/inject/policy"

// Category groups rules in lists.
type Category string

// The categories.
const (
	Annotations   Category = "annotations"
	Injection     Category = "injection"
	ProxyConfig   Category = "proxy-config"
	Resources     Category = "resources"
	Ports         Category = "ports"
	Probes        Category = "probes"
	Security      Category = "security"
	Lifecycle     Category = "lifecycle"
	Compatibility Category = "compatibility"
	Manifest      Category = "manifest"
	Suppression   Category = "suppression"
)

// Scope says for which workloads a rule is asked.
type Scope int

// The scopes.
const (
	// Injected: the pod would be injected, or is already.
	Injected Scope = iota
	// NotRefused: every pod that does not itself refuse injection.
	NotRefused
	// Always: every pod.
	Always
)

// Rule is one thing that is checked.
type Rule struct {
	// ID is stable, in lower case with dashes.
	ID       string
	Category Category
	// Severity is what its findings have unless one says otherwise.
	Severity policy.Severity
	// Summary says in one line what is found, Why what it leads to, Remedy what to do.
	Summary string
	Why     string
	Remedy  string
	// Link leads to the page that documents the behaviour.
	Link string
	// Bad and Good are the same piece of YAML with and without the mistake.
	Bad, Good string
	Scope     Scope
	// Fixes tells that --fix mends some or all of its findings.
	Fixes bool
	// OptIn rules are asked only where they are enabled by name.
	OptIn bool

	check     func(*Facts, *Report)
	namespace func(*Namespace, *Report)
	// fixed marks a severity that the user set.
	fixed bool
}
