package workload

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// cursor is a node on the way along a path. at is where a notice about it points: its key, or itself in a sequence.
type cursor struct {
	node, at *yaml.Node
	path     []Step
	fanned   bool
}

// miss is a path that ended before its pod template.
type miss struct {
	field  string
	at     *yaml.Node
	fanned bool
	// found says what is there instead.
	found string
}

// walk is one object's search for its templates.
type walk struct {
	*finder
	object *Object
	misses []miss
	// passed is true where a notice already says why there is no template.
	passed bool
}

// templates fills the object's templates, and reports what is missing on the way to them.
func (f *finder) templates(o *Object) {
	w := walk{finder: f, object: o}
	before := len(f.found.Notices)
	start := cursor{node: o.Node, at: o.Node, path: o.Path}
	for _, p := range o.Row.Paths {
		w.step(start, p, p.segments)
	}
	sortTemplates(o)
	f.missing(&w)
	f.insist(o, f.found.Notices[before:])
}

// sortTemplates puts the templates of several paths into document order.
func sortTemplates(o *Object) {
	if len(o.Row.Paths) < 2 {
		return
	}
	slices.SortStableFunc(o.Templates, func(a, b Template) int {
		if a.Node.Line != b.Node.Line {
			return a.Node.Line - b.Node.Line
		}
		return a.Node.Column - b.Node.Column
	})
}

// missing reports paths without a template: all that fanned out, and the others only where nothing was found, since
// an object need not have every path of its kind.
func (f *finder) missing(w *walk) {
	o := w.object
	var plain []miss
	for _, m := range w.misses {
		if m.fanned {
			f.noTemplate(o, m, "no pod template at "+m.field)
			w.passed = true
		} else {
			plain = append(plain, m)
		}
	}
	if len(o.Templates) > 0 || w.passed || len(plain) == 0 {
		return
	}
	if f.reference(o) {
		return
	}
	fields := make([]string, len(plain))
	for i, m := range plain {
		fields[i] = m.field
	}
	f.noTemplate(o, plain[0], "no pod template at "+strings.Join(fields, " or "))
}

// noTemplate reports a path that ended early. Where it is the user's it also says what was found there.
func (f *finder) noTemplate(o *Object, m miss, message string) {
	if m.found != "" {
		message += ", where " + m.found
	}
	f.partial(o, m.at, m.field, message)
}

// insist makes errors of the notices about an object in which the user's paths found no pod at all: a path with a slip
// in it would pass everything.
func (f *finder) insist(o *Object, notices []Notice) {
	if !o.Row.user || len(o.Templates) > 0 {
		return
	}
	for i := range notices {
		n := &notices[i]
		if n.Code == CodePartial {
			n.Code, n.Severity, n.Strict = CodeShape, policy.Error, false
			n.Message = "--kind " + o.Row.Name() + " finds no pod: " + strings.TrimSuffix(n.Message, passed)
			n.Hint = "correct the path, or leave the object out"
		}
	}
}

// passed ends what is said about objects that stay as they are.
const passed = ": passed unchanged"

func (f *finder) partial(o *Object, at *yaml.Node, field, message string) {
	f.warn(CodePartial, o.Resource, at, field, message+passed, "")
}

// reference reports an object that names another one instead of holding a template.
func (f *finder) reference(o *Object) bool {
	if len(o.Row.reference) == 0 {
		return false
	}
	var key *yaml.Node
	node := o.Node
	steps := make([]Step, len(o.Row.reference))
	for i, name := range o.Row.reference {
		steps[i].Key = name
		if key, node = Child(node, name); key == nil {
			return false
		}
	}
	target := policy.Resource{
		APIVersion: member(node, "apiVersion"), Kind: member(node, "kind"), Name: member(node, "name"),
	}
	field := Field(steps)
	f.warn(CodeWorkloadRef, o.Resource, key, field,
		field+" names "+target.String()+": the pod template is there, and is injected there", "")
	return true
}

// step follows the rest of a path from a node.
func (w *walk) step(c cursor, p Path, rest []segment) {
	node := Resolve(c.node)
	if len(rest) == 0 {
		w.template(c, node, p)
		return
	}
	seg := rest[0]
	switch {
	case isNull(node):
		w.miss(c, rest)
	case seg.each && node.Kind != yaml.SequenceNode:
		w.bad(c, node, "sequence")
	case !seg.each && node.Kind != yaml.MappingNode:
		w.bad(c, node, "mapping")
	case seg.each && len(node.Content) == 0, seg.values && len(node.Content) == 0:
		c.fanned = true
		w.miss(c, rest)
	case seg.each:
		for i, n := range node.Content {
			w.step(cursor{n, n, extend(c.path, Step{Index: i, IsIndex: true}), true}, p, rest[1:])
		}
	case seg.values:
		for _, kv := range pairs(node) {
			w.step(cursor{kv.value, kv.key, extend(c.path, Step{Key: Resolve(kv.key).Value}), true}, p, rest[1:])
		}
	default:
		key, value := Child(node, seg.key)
		if key == nil {
			w.miss(c, rest)
			return
		}
		w.step(cursor{value, key, extend(c.path, Step{Key: seg.key}), c.fanned}, p, rest[1:])
	}
}

func extend(path []Step, s Step) []Step { return append(slices.Clone(path), s) }

// miss records that the path ends at the cursor; the field is what should have been there.
func (w *walk) miss(c cursor, rest []segment) {
	var b strings.Builder
	b.WriteString(Field(c.path[len(w.object.Path):]))
	for _, s := range rest {
		writeSegment(&b, s)
	}
	w.misses = append(w.misses, miss{b.String(), c.at, c.fanned, ""})
	if w.object.Row.user {
		w.misses[len(w.misses)-1].found = w.there(c)
	}
}

// there says in words what stands where the path ended.
func (w *walk) there(c cursor) string {
	at := Field(c.path[len(w.object.Path):])
	if at == "" {
		at = "the object"
	}
	node := Resolve(c.node)
	switch {
	case isNull(node):
		return at + " is empty"
	case node.Kind == yaml.SequenceNode:
		return at + " is a sequence of " + strconv.Itoa(len(node.Content)) + " elements"
	case node.Kind != yaml.MappingNode:
		return at + " is " + describe(node)
	}
	var keys []string
	for _, kv := range pairs(node) {
		keys = append(keys, Resolve(kv.key).Value)
	}
	if len(keys) == 0 {
		return at + " is an empty mapping"
	}
	if len(keys) > 8 {
		keys = append(keys[:8], "…")
	}
	return at + " has " + strings.Join(keys, ", ")
}

func (w *walk) bad(c cursor, node *yaml.Node, want string) {
	w.passed = true
	w.wrongType(w.object.Resource, node, c.path[len(w.object.Path):], want)
}

// template checks what stands at the end of a path and takes it, or reports why it is passed.
func (w *walk) template(c cursor, node *yaml.Node, p Path) {
	if isNull(node) {
		w.miss(c, nil)
		return
	}
	if node.Kind != yaml.MappingNode {
		w.bad(c, node, "mapping")
		return
	}
	t := Template{Path: c.path, Shape: p.Shape, Node: node, Spec: node}
	at := c
	if p.Shape != PodSpec {
		key, metadata := Child(node, "metadata")
		if metadata = Resolve(metadata); key != nil && !isNull(metadata) {
			if metadata.Kind != yaml.MappingNode {
				w.bad(cursor{path: extend(c.path, Step{Key: "metadata"})}, metadata, "mapping")
				return
			}
			t.Metadata = metadata
		}
		key, spec := Child(node, "spec")
		if key == nil {
			w.noContainers(c.at, extend(c.path, Step{Key: "spec"}))
			return
		}
		at = cursor{node: spec, at: key, path: extend(c.path, Step{Key: "spec"})}
		t.Spec = Resolve(spec)
	}
	if t.injected() || w.spec(at, t.Spec) {
		w.object.Templates = append(w.object.Templates, t)
	}
}

// injected tells whether the template carries an injection's status. It is whole then, even where its only container
// was istio-proxy and has become a native sidecar.
func (t Template) injected() bool {
	_, annotations := Child(t.Metadata, "annotations")
	_, status := Child(annotations, policy.AnnotationStatus)
	return status != nil && t.Spec != nil && t.Spec.Kind == yaml.MappingNode
}

func (w *walk) noContainers(at *yaml.Node, path []Step) {
	field := Field(append(slices.Clone(path[len(w.object.Path):]), Step{Key: "containers"}))
	w.passed = true
	w.partial(w.object, at, field, "no containers at "+field)
}

// spec tells whether a pod spec has containers with an image, and reports why not.
func (w *walk) spec(c cursor, spec *yaml.Node) bool {
	if isNull(spec) {
		w.noContainers(c.at, c.path)
		return false
	}
	if spec.Kind != yaml.MappingNode {
		w.bad(c, spec, "mapping")
		return false
	}
	key, containers := Child(spec, "containers")
	if key == nil {
		w.noContainers(c.at, c.path)
		return false
	}
	path := extend(c.path, Step{Key: "containers"})
	switch containers = Resolve(containers); {
	case isNull(containers), containers.Kind == yaml.SequenceNode && len(containers.Content) == 0:
		w.noContainers(key, c.path)
		return false
	case containers.Kind != yaml.SequenceNode:
		w.bad(cursor{path: path}, containers, "sequence")
		return false
	}
	return w.images(key, path, containers)
}

func (w *walk) images(key *yaml.Node, path []Step, containers *yaml.Node) bool {
	image, good := false, true
	for i, n := range containers.Content {
		n = Resolve(n)
		if n == nil || n.Kind != yaml.MappingNode {
			w.bad(cursor{path: extend(path, Step{Index: i, IsIndex: true})}, n, "mapping")
			good = false
			continue
		}
		if k, v := Child(n, "image"); k != nil && !isNull(Resolve(v)) {
			image = true
		}
	}
	if good && !image {
		field := Field(path[len(w.object.Path):])
		w.passed = true
		w.partial(w.object, key, field, "no container has an image, as in a patch ("+field+")")
	}
	return good && image
}
