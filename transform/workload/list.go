package workload

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const kindList = "List"

// list opens an object that is a list and tells whether it was one: a v1 List, a ResourceList of KRM functions, or
// the list type of a registered kind with items in it.
func (f *finder) list(o Object) bool {
	kind := o.Resource.Kind
	item := place{}
	switch {
	case kind == kindList && o.Resource.APIVersion == "v1":
	case kind == "ResourceList" && o.Group == "config.kubernetes.io":
	case strings.HasSuffix(kind, kindList):
		item.apiVersion, item.kind = o.Resource.APIVersion, strings.TrimSuffix(kind, kindList)
		if f.reg.lookup(o.Group, item.kind) == nil {
			return false
		}
	default:
		return false
	}
	key, items := Child(o.Node, "items")
	if items = Resolve(items); isNull(items) {
		return true
	}
	if items.Kind != yaml.SequenceNode {
		f.fail(CodeShape, o.Resource, items, "items", "items must be a sequence, found "+describe(items), "")
		return true
	}
	if len(f.open) >= maxListDepth {
		f.fail(CodeLimit, o.Resource, key, "items",
			"lists are nested deeper than "+strconv.Itoa(maxListDepth)+" levels", "")
		return true
	}
	if slices.Contains(f.open, items) {
		f.fail("E_ALIAS", o.Resource, key, "items", "the list holds itself through an alias", "")
		return true
	}
	f.open = append(f.open, items)
	for i, n := range items.Content {
		if f.items++; f.items > maxItems {
			f.overflow(o, key)
			break
		}
		f.item(o, n, i, item)
	}
	f.open = f.open[:len(f.open)-1]
	return true
}

// overflow reports, once, that lists which share items through aliases hold more of them than any document can.
func (f *finder) overflow(list Object, key *yaml.Node) {
	if f.items == maxItems+1 {
		f.fail(CodeLimit, list.Resource, key, "items", "the document holds more than "+strconv.Itoa(maxItems)+" items", "")
	}
}

func (f *finder) item(list Object, n *yaml.Node, i int, p place) {
	node := Resolve(n)
	if isNull(node) {
		return
	}
	p.path = append(slices.Clone(list.Path), Step{Key: "items"}, Step{Index: i, IsIndex: true})
	if node.Kind != yaml.MappingNode {
		f.fail(CodeShape, list.Resource, n, Field(p.path[len(list.Path):]),
			"an item must be an object, found "+describe(node), "")
		return
	}
	p.node = node
	f.object(p)
}
