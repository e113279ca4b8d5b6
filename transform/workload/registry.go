package workload

import (
	"slices"
	"strings"
)

// Mode says what happens to objects of a registered kind.
type Mode int

// The modes. On is injected; Off passes with a notice that names the switch; Never passes with the reason.
const (
	On Mode = iota
	Off
	Never
)

// String gives the word that reports print.
func (m Mode) String() string { return [...]string{"on", "off", "never"}[m] }

// Row is one kind of the registry.
type Row struct {
	// Group is empty for the core group.
	Group string
	Kind  string
	Mode  Mode
	// Paths lead to the pod templates. With several of them an object need not have each.
	Paths []Path
	// Reason says why a kind is Never.
	Reason string
	// Hint says what to do instead; empty where there is nothing but the switch.
	Hint string
	// Restricted kinds forbid some pod features, as Knative does; see RestrictedFeatures.
	Restricted bool
	// reference is a field that names another object instead of a template, as spec.workloadRef of a Rollout.
	reference []string
	// user rows have their paths from the user: one that finds no pod is an error.
	user bool
	// silent rows were switched off by the user, who needs no notice of it.
	silent bool
}

// Name prints group/Kind as --kind takes it; the group of core kinds is "core".
func (r Row) Name() string {
	if r.Group == "" {
		return "core/" + r.Kind
	}
	return r.Group + "/" + r.Kind
}

// Registry is the table of kinds. It is a value: [Registry.With] gives another one and changes nothing.
// The zero value knows no kind; [Default] is the table that ships.
type Registry struct {
	rows  []Row
	index map[string][]int // kind to rows
}

func newRegistry(rows []Row) Registry {
	r := Registry{rows: rows, index: make(map[string][]int, len(rows))}
	for i := range rows {
		r.index[rows[i].Kind] = append(r.index[rows[i].Kind], i)
	}
	return r
}

// Rows gives the table in its order. The slice is the caller's, the paths in it are shared and must not be changed.
func (r Registry) Rows() []Row { return slices.Clone(r.rows) }

// Lookup finds the row of a kind in a group.
func (r Registry) Lookup(group, kind string) (Row, bool) {
	row := r.lookup(group, kind)
	if row == nil {
		return Row{}, false
	}
	return *row, true
}

func (r Registry) lookup(group, kind string) *Row {
	for _, i := range r.index[kind] {
		if r.rows[i].Group == group {
			return &r.rows[i]
		}
	}
	return nil
}

// groups lists the API groups in which a kind is registered and On, in table order.
func (r Registry) groups(kind string) []string {
	var groups []string
	for _, i := range r.index[kind] {
		if r.rows[i].Mode == On {
			groups = append(groups, r.rows[i].Group)
		}
	}
	return groups
}

// Candidate tells whether a document whose kind is this word may hold a workload, so that it must be parsed.
// mentions reports whether the document's text holds a string; it is asked only for kinds that are not injected
// anyway, which count if the name of their group is mentioned. The user's own "off" kinds count the same way.
// Kinds that end in List, and Template and ResourceList, are always candidates.
func (r Registry) Candidate(kind string, mentions func(group string) bool) bool {
	if strings.HasSuffix(kind, "List") || kind == "Template" {
		return true
	}
	for _, i := range r.index[kind] {
		row := &r.rows[i]
		if row.Mode == On || row.Group != "" && mentions(row.Group) {
			return true
		}
	}
	return false
}

// Group gives the API group of an apiVersion: what stands before the slash, empty for the core group.
func Group(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}
