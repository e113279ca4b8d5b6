package workload

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

const (
	maxListDepth = 8
	maxItems     = 1_000_000
)

// Found is what a document holds.
type Found struct {
	// Objects are the Kubernetes objects in document order: the document itself, or the items of a list.
	Objects []Object
	// Notices are in the order they were met.
	Notices []Notice
}

// Object is one Kubernetes object of a document.
type Object struct {
	Resource policy.Resource
	Group    string
	// Node is the object's mapping, Path leads to it from the document's root; it is empty but for items of lists.
	Node *yaml.Node
	Path []Step
	// Metadata is the object's own metadata; nil where there is none.
	Metadata *yaml.Node
	// Templates are the pod templates to decide about, in document order.
	Templates []Template
	// Row is the object's kind in the registry; nil where it is not registered.
	Row *Row
}

// Template is a place that holds a pod.
type Template struct {
	// Path leads from the document's root to the place, Shape says what stands there.
	Path  []Step
	Shape Shape
	// Node is the mapping at the place, Metadata and Spec those of the pod in it, all with aliases followed.
	// Metadata is nil where there is none, and always for a bare PodSpec; Spec has at least one container.
	Node, Metadata, Spec *yaml.Node
}

// Field gives the path from the object (not the document) to the template: empty for a Pod.
func (t Template) Field(o Object) string { return Field(t.Path[len(o.Path):]) }

// HasTemplates tells whether any object has a pod template.
func (f Found) HasTemplates() bool {
	return slices.ContainsFunc(f.Objects, func(o Object) bool { return len(o.Templates) > 0 })
}

// Find looks through a parsed document, given as its document node or its root, for pod templates of registered kinds.
// Lists are opened in place, items of typed lists inherit group and kind; nothing else is looked into.
func Find(reg Registry, root *yaml.Node) Found {
	f := finder{reg: reg}
	if root != nil && root.Kind == yaml.DocumentNode {
		if len(root.Content) == 0 {
			return f.found
		}
		root = root.Content[0]
	}
	switch root = Resolve(root); {
	case root == nil:
	case root.Kind == yaml.SequenceNode:
		f.array(root)
	case root.Kind == yaml.MappingNode:
		f.sops = encrypted(root)
		f.object(place{node: root})
	}
	return f.found
}

type finder struct {
	reg   Registry
	found Found
	// sops is the document's sops mapping if it protects the document's bytes.
	sops *yaml.Node
	// open are the lists around the object at hand, to notice one that holds itself.
	open []*yaml.Node
	// items counts what lists have been asked for.
	items int
}

// place is where an object is looked for.
type place struct {
	node *yaml.Node
	path []Step
	// apiVersion and kind are inherited from a typed list.
	apiVersion, kind string
}

func (f *finder) array(root *yaml.Node) {
	for _, n := range root.Content {
		_, kind := Child(n, "kind")
		_, version := Child(n, "apiVersion")
		if kind != nil && version != nil {
			f.warn(CodeArray, policy.Resource{}, root, "", "a top-level array is no Kubernetes object: passed unchanged",
				"put the objects into the items of a v1 List, or into documents of their own")
			return
		}
	}
}

func encrypted(root *yaml.Node) *yaml.Node {
	key, sops := Child(root, "sops")
	if key == nil {
		return nil
	}
	if mac, _ := Child(sops, "mac"); mac == nil {
		return nil
	}
	return key
}

func (f *finder) object(p place) {
	o, ok := f.identify(p)
	if !ok {
		return
	}
	o.Row = f.reg.lookup(o.Group, o.Resource.Kind)
	if o.Row == nil && f.list(o) {
		return
	}
	switch {
	case o.Row == nil:
		f.wrongGroup(o)
	case o.Row.Mode == Never:
		f.warn(CodeKind, o.Resource, o.Node, "", o.Row.Name()+" is not injected: "+o.Row.Reason, o.Row.Hint)
	case o.Row.Mode == Off && !o.Row.silent:
		f.warn(CodeKind, o.Resource, o.Node, "", o.Row.Name()+" is not injected unless switched on",
			"add --kind +"+o.Row.Name())
	case o.Row.Mode == On && f.sops != nil:
		f.warn(CodeSOPS, o.Resource, f.sops, "sops", "the document is encrypted by sops: an edit would break its MAC",
			"decrypt it first, inject, and encrypt the result")
	case o.Row.Mode == On:
		f.templates(&o)
	}
	f.found.Objects = append(f.found.Objects, o)
}

// identify reads who the object is; ok is false where it is no Kubernetes object.
func (f *finder) identify(p place) (o Object, ok bool) {
	kindKey, kindNode := Child(p.node, "kind")
	versionKey, versionNode := Child(p.node, "apiVersion")
	kind, hasKind := text(kindNode)
	version, hasVersion := text(versionNode)
	if kindKey == nil {
		kind, hasKind = p.kind, p.kind != ""
	}
	if versionKey == nil {
		version, hasVersion = p.apiVersion, p.apiVersion != ""
	}
	if !hasKind || !hasVersion || kind == "" {
		f.notK8s(p, kindKey, versionKey, hasKind && kind != "")
		return Object{}, false
	}
	o = Object{Group: Group(version), Node: p.node, Path: p.path}
	_, metadata := Child(p.node, "metadata")
	if metadata = Resolve(metadata); metadata != nil && metadata.Kind == yaml.MappingNode {
		o.Metadata = metadata
	}
	o.Resource = policy.Resource{APIVersion: version, Kind: kind, Item: Field(p.path)}
	if o.Metadata != nil {
		o.Resource.Name, o.Resource.Namespace = member(metadata, "name"), member(metadata, "namespace")
		o.Resource.GenerateName = member(metadata, "generateName")
	}
	return o, true
}

func member(mapping *yaml.Node, key string) string {
	_, v := Child(mapping, key)
	return scalar(v)
}

// notK8s reports a mapping that has one of kind and apiVersion, but not both as strings.
func (f *finder) notK8s(p place, kind, version *yaml.Node, hasKind bool) {
	node, missing := version, "kind"
	if kind != nil {
		node = kind
	}
	if node == nil {
		return
	}
	if hasKind {
		missing = "apiVersion"
	}
	f.warn(CodeNotK8s, policy.Resource{Item: Field(p.path)}, node, "",
		"no Kubernetes object: "+missing+" is missing or no string; passed unchanged", "")
}

// wrongGroup reports a workload kind under the core group, which serves no such kind.
func (f *finder) wrongGroup(o Object) {
	if o.Group != "" {
		return
	}
	kind := strings.TrimSuffix(o.Resource.Kind, "List")
	if len(f.reg.index[o.Resource.Kind]) > 0 {
		kind = o.Resource.Kind
	}
	groups := f.reg.groups(kind)
	if len(groups) == 0 || groups[0] == "" {
		return
	}
	meant := groups[0]
	if meant == "apps" || meant == "batch" {
		meant += "/v1"
	}
	node, _ := Child(o.Node, "apiVersion")
	f.warn(CodeGroup, o.Resource, node, "apiVersion",
		"the core group has no "+o.Resource.Kind+": passed unchanged; did you mean "+meant, "")
}
