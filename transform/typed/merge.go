package typed

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Merge lays overlay, a mapping, over the struct that into points to, as a Kubernetes strategic merge patch: mappings
// merge by key, lists by their patchMergeKey where they have one, null removes, everything else replaces
// (k8s.io/apimachinery, pkg/util/strategicpatch, v0.37). The overlay is only read. Unknown fields of the overlay are
// problems of code W_UNKNOWN_FIELD, wrong types of E_TYPE; into is then half merged and not to be used.
//
// An overlay with directives ($patch and its like) is rare and goes through the library itself.
func (s *Schema) Merge(into any, overlay *yaml.Node) []Problem {
	if hasDirective(overlay) {
		return s.mergeByLibrary(into, overlay)
	}
	d := decoder{schema: s, unknown: true}
	d.merge(Deref(overlay), reflect.ValueOf(into).Elem())
	return d.problems
}

func hasDirective(n *yaml.Node) bool {
	if n == nil {
		return false
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if strings.HasPrefix(n.Content[i].Value, "$") {
				return true
			}
		}
	}
	return slices.ContainsFunc(n.Content, hasDirective)
}

func (s *Schema) mergeByLibrary(into any, overlay *yaml.Node) []Problem {
	fail := func(err error) []Problem {
		return []Problem{{Code: CodeShape, Node: overlay, Message: "the overlay does not merge: " + err.Error()}}
	}
	original, err := json.Marshal(into)
	if err != nil {
		return fail(err)
	}
	patch, err := json.Marshal(Generic(overlay))
	if err != nil {
		return fail(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(original, patch, into)
	if err != nil {
		return fail(err)
	}
	v := reflect.ValueOf(into).Elem()
	v.SetZero()
	if err := json.Unmarshal(merged, into); err != nil {
		return fail(err)
	}
	return nil
}

// merge lays n over v; null empties it.
func (d *decoder) merge(n *yaml.Node, v reflect.Value) {
	t := v.Type()
	switch {
	case IsNull(n):
		v.SetZero()
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !isCustom(t.Elem()):
		d.mergePointer(n, v)
	case t.Kind() == reflect.Struct && !isCustom(t):
		d.mergeStruct(n, v)
	case t.Kind() == reflect.Map:
		d.mergeMap(n, v)
	default:
		v.SetZero()
		d.value(n, v)
	}
}

// mergePointer merges into a copy, so that the value the caller shares stays.
func (d *decoder) mergePointer(n *yaml.Node, v reflect.Value) {
	fresh := reflect.New(v.Type().Elem())
	if !v.IsNil() {
		fresh.Elem().Set(v.Elem())
	}
	v.Set(fresh)
	d.merge(n, fresh.Elem())
}

func (d *decoder) mergeStruct(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.mismatch(n, "mapping")
		return
	}
	info := d.schema.of(v.Type())
	entries(n, func(k, e *yaml.Node) {
		f := info.field(k.Value)
		d.push(k.Value)
		defer d.pop()
		if f == nil {
			d.problem(CodeUnknown, k, "a Pod has no field of this name here", d.nearest(info, k.Value))
			return
		}
		e = Deref(e)
		if f.merges && f.typ.Kind() == reflect.Slice && !IsNull(e) {
			d.mergeList(e, f.value(v), f.mergeKey)
			return
		}
		d.merge(e, f.value(v))
	})
}

func (d *decoder) mergeMap(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.mismatch(n, "mapping")
		return
	}
	t := v.Type()
	m := reflect.MakeMapWithSize(t, v.Len()+len(n.Content)/2)
	for it := v.MapRange(); it.Next(); {
		m.SetMapIndex(it.Key(), it.Value())
	}
	entries(n, func(k, e *yaml.Node) {
		key := reflect.ValueOf(k.Value).Convert(t.Key())
		if IsNull(e) {
			m.SetMapIndex(key, reflect.Value{})
			return
		}
		d.push(k.Value)
		defer d.pop()
		elem := reflect.New(t.Elem()).Elem()
		d.value(Deref(e), elem)
		m.SetMapIndex(key, elem)
	})
	v.Set(m)
}

// mergeList merges a list by key, or as a set where it has none. Overlay elements keep their order and stand before
// those that only v has, unless v says otherwise: the order that the library calls normalised.
func (d *decoder) mergeList(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind != yaml.SequenceNode {
		d.mismatch(n, "list")
		return
	}
	if v.Len() == 0 || len(n.Content) == 0 {
		if v.Len() == 0 {
			d.value(n, v)
			d.requireKeys(n, v, key)
		}
		return
	}
	if key == "" {
		d.mergeSet(n, v)
		return
	}
	merged := reflect.MakeSlice(v.Type(), 0, v.Len()+len(n.Content))
	places := make([]int, 0, len(n.Content)) // of the overlay's elements in v, -1 for new ones
	field := d.keyField(v.Type().Elem(), key)
	for i, e := range n.Content {
		d.push(i)
		e = Deref(e)
		at := d.findByKey(e, v, field, key)
		elem := reflect.New(v.Type().Elem()).Elem()
		if at >= 0 {
			elem.Set(v.Index(at))
		}
		d.merge(e, elem)
		d.pop()
		places = append(places, at)
		merged = reflect.Append(merged, elem)
	}
	v.Set(interleave(merged, places, v))
}

// interleave puts the elements of v that the overlay does not name between those it does, by v's own order.
func interleave(merged reflect.Value, places []int, v reflect.Value) reflect.Value {
	out := reflect.MakeSlice(v.Type(), 0, v.Len()+merged.Len())
	left := make([]int, 0, v.Len())
	for i := range v.Len() {
		if !slices.Contains(places, i) {
			left = append(left, i)
		}
	}
	for j := range merged.Len() {
		for len(left) > 0 && places[j] >= 0 && left[0] < places[j] {
			out = reflect.Append(out, v.Index(left[0]))
			left = left[1:]
		}
		out = reflect.Append(out, merged.Index(j))
	}
	for _, i := range left {
		out = reflect.Append(out, v.Index(i))
	}
	return out
}

func (d *decoder) keyField(t reflect.Type, key string) *fieldInfo {
	return d.schema.of(t).field(key)
}

// findByKey gives the place of the element of v that has the key of e; -1 where there is none.
func (d *decoder) findByKey(e *yaml.Node, v reflect.Value, field *fieldInfo, key string) int {
	kn := Get(e, key)
	if IsNull(kn) {
		d.problem(CodeShape, e, "an element of this list needs "+key, "lists of a pod merge by "+key)
		return -1
	}
	want := reflect.New(field.typ).Elem()
	d.push(key)
	d.value(kn, want)
	d.pop()
	for i := range v.Len() {
		if field.value(v.Index(i)).Equal(want) {
			return i
		}
	}
	return -1
}

func (d *decoder) requireKeys(n *yaml.Node, v reflect.Value, key string) {
	if key == "" || v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct {
		return
	}
	for i, e := range n.Content {
		if IsNull(Get(e, key)) {
			d.push(i)
			d.problem(CodeShape, e, "an element of this list needs "+key, "lists of a pod merge by "+key)
			d.pop()
		}
	}
}

// mergeSet merges a list of plain values (finalizers) as a set.
func (d *decoder) mergeSet(n *yaml.Node, v reflect.Value) {
	patch := reflect.New(v.Type()).Elem()
	d.value(n, patch)
	places := make([]int, patch.Len())
	for i := range patch.Len() {
		places[i] = -1
		for j := range v.Len() {
			if v.Index(j).Equal(patch.Index(i)) {
				places[i] = j
			}
		}
	}
	v.Set(interleave(patch, places, v))
}
