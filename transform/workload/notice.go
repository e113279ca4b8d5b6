package workload

import (
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// The codes of notices and errors about documents.
const (
	CodePartial     = "W_PARTIAL"
	CodeKind        = "W_KIND"
	CodeWorkloadRef = "W_WORKLOADREF"
	CodeGroup       = "W_GROUP"
	CodeNotK8s      = "W_NOTK8S"
	CodeArray       = "W_ARRAY"
	CodeSOPS        = "W_SOPS"
	CodeType        = "E_TYPE"
	CodeShape       = "E_SHAPE"
	CodeDupName     = "E_DUPNAME"
	CodeLimit       = "E_LIMIT"
)

// Notice is something about a document that a person should read. Its finding has code, severity, resource, field,
// message and hint; the caller adds the position, which is Node's.
type Notice struct {
	policy.Finding
	// Node is where the notice points: a key, a value, or the element of a list.
	Node *yaml.Node
	// Strict notices are errors under --strict, with code StrictCode where that is not empty.
	Strict     bool
	StrictCode string
}

func (f *finder) warn(code string, res policy.Resource, node *yaml.Node, field, message, hint string) {
	f.add(Notice{Node: node, Strict: code == CodePartial || code == CodeSOPS}, policy.Warning, code, res, field, message, hint)
}

func (f *finder) fail(code string, res policy.Resource, node *yaml.Node, field, message, hint string) {
	f.add(Notice{Node: node}, policy.Error, code, res, field, message, hint)
}

func (f *finder) add(n Notice, s policy.Severity, code string, res policy.Resource, field, message, hint string) {
	n.Finding = policy.Finding{
		Code: code, Severity: s, Resource: res, Field: field, Message: message, Hint: hint,
	}
	if code == CodePartial {
		n.StrictCode = CodeShape
	}
	f.found.Notices = append(f.found.Notices, n)
}

// wrongType is the message for a node that is not what its place needs.
func (f *finder) wrongType(res policy.Resource, node *yaml.Node, steps []Step, want string) {
	f.fail(CodeType, res, node, Field(steps), "expected "+want+", found "+describe(node), map[string]string{
		"sequence": "write a list: each item starts with a dash", "mapping": "write key: value lines, indented below the name",
	}[want])
}
