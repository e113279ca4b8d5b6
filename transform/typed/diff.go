package typed

import (
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/transform/manifest"
)

// Difference is what turns a document's typed value into another one.
type Difference struct {
	Changes []manifest.Change
	// Duplicates are elements that share their merge key with an earlier one, in a list that must change.
	Duplicates []manifest.Path
}

// Diff compares two typed values of one struct type, before and after pointing to them, and gives the edits of the
// document in which before stands: at is the path there, node its mapping. Lists with a merge key are compared by it,
// so that elements keep what the types do not know; an element that only changed its place is moved. Like, which may
// be nil, gives the order of new keys, as Encode takes it.
func (s *Schema) Diff(before, after any, at manifest.Path, node, like *yaml.Node) Difference {
	d := differ{schema: s}
	d.diffStruct(reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem(), at, Deref(node), Deref(like))
	return Difference{d.changes, d.duplicates}
}

type differ struct {
	schema     *Schema
	changes    []manifest.Change
	duplicates []manifest.Path
}

func (d *differ) add(c manifest.Change) { d.changes = append(d.changes, c) }

// isObject tells whether a type is a mapping with fields of its own.
func isObject(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !isQuantity(t) && !isIntOrString(t) && !isCustom(t)
}

// equal compares what two values print: empty and missing are the same, quantities compare by value.
func (d *differ) equal(a, b reflect.Value) bool {
	t := a.Type()
	switch t.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return a.Pointer() == b.Pointer() || d.equal(a.Elem(), b.Elem())
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for it := a.MapRange(); it.Next(); {
			other := b.MapIndex(it.Key())
			if !other.IsValid() || !d.equal(it.Value(), other) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		if a.Len() > 0 && a.Pointer() == b.Pointer() {
			return true
		}
		for i := range a.Len() {
			if !d.equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		if isQuantity(t) {
			x, y := a.Interface().(quantity), b.Interface().(quantity)
			return x.Cmp(y) == 0
		}
		if !isObject(t) {
			return reflect.DeepEqual(a.Interface(), b.Interface())
		}
		info := d.schema.of(t)
		for i := range info.fields {
			if !d.equal(info.fields[i].value(a), info.fields[i].value(b)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// diffStruct compares field by field.
func (d *differ) diffStruct(b, a reflect.Value, at manifest.Path, node, like *yaml.Node) {
	info := d.schema.of(b.Type())
	moved := d.movedContainers(b, a, at)
	for i := range info.fields {
		f := &info.fields[i]
		bv, av := f.value(b), f.value(a)
		if d.equal(bv, av) {
			continue
		}
		d.diffField(f, bv, av, at.With(manifest.Key(f.name)), Get(node, f.name), Get(like, f.name), moved)
	}
}

func (d *differ) diffField(f *fieldInfo, b, a reflect.Value, at manifest.Path, node, like *yaml.Node, moved moves) {
	if b.Kind() == reflect.Pointer && isObject(b.Type().Elem()) && !b.IsNil() && !a.IsNil() {
		b, a = b.Elem(), a.Elem()
	}
	written := node != nil && node.Kind == yaml.MappingNode && len(node.Content) > 0
	switch {
	case f.mergeKey != "" && b.Kind() == reflect.Slice && (b.Len() > 0 && a.Len() > 0 || moved.touches(at)):
		d.diffList(f.mergeKey, b, a, at, node, like, moved)
		if a.Len() == 0 && b.Len() > 0 {
			// What is left of the list when its elements have moved away is nothing that anybody wrote.
			d.add(manifest.Change{Op: manifest.Remove, Path: at})
		}
	case isObject(b.Type()) && written:
		d.diffStruct(b, a, at, node, like)
		d.dropEmptied(a, at, node)
	case b.Kind() == reflect.Map && written && a.Len() > 0:
		d.diffMap(b, a, at, like)
	case isEmpty(a) && !f.printsEmpty():
		d.add(manifest.Change{Op: manifest.Remove, Path: at})
	default:
		d.set(a, at, like)
	}
}

// set gives the whole value.
func (d *differ) set(a reflect.Value, at manifest.Path, like *yaml.Node) {
	if n := d.schema.encode(a, like); n != nil {
		d.add(manifest.Change{Op: manifest.Set, Path: at, Value: n})
	}
}

// dropEmptied takes a mapping out whole when every key that it was written with goes.
func (d *differ) dropEmptied(a reflect.Value, at manifest.Path, node *yaml.Node) {
	if !a.IsZero() {
		return
	}
	first := len(d.changes)
	for first > 0 && len(d.changes[first-1].Path) == len(at)+1 && d.changes[first-1].Op == manifest.Remove &&
		slices.Equal(d.changes[first-1].Path[:len(at)], at) {
		first--
	}
	if gone := len(d.changes) - first; gone > 0 && gone == len(node.Content)/2 {
		d.changes = append(d.changes[:first], manifest.Change{Op: manifest.Remove, Path: at})
	}
}

func (d *differ) diffMap(b, a reflect.Value, at manifest.Path, like *yaml.Node) {
	for _, k := range sortedKeys(b) {
		if !a.MapIndex(k).IsValid() {
			d.add(manifest.Change{Op: manifest.Remove, Path: at.With(manifest.Key(k.String()))})
		}
	}
	for _, k := range keysLike(a, like) {
		av, bv := a.MapIndex(k), b.MapIndex(k)
		if !bv.IsValid() || !d.equal(bv, av) {
			d.set(av, at.With(manifest.Key(k.String())), Get(like, k.String()))
		}
	}
}

func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int {
		if x.String() < y.String() {
			return -1
		}
		return 1
	})
	return keys
}

// keysLike gives the keys of m, those of like first and in its order.
func keysLike(m reflect.Value, like *yaml.Node) []reflect.Value {
	keys := sortedKeys(m)
	like = Deref(like)
	if like == nil || like.Kind != yaml.MappingNode {
		return keys
	}
	place := map[string]int{}
	for i := 0; i+1 < len(like.Content); i += 2 {
		place[like.Content[i].Value] = i - len(like.Content)
	}
	slices.SortStableFunc(keys, func(x, y reflect.Value) int { return place[x.String()] - place[y.String()] })
	return keys
}

// moves are containers that leave one list of a pod spec for the other.
type moves struct {
	// from is the path of the list they stand in, to of the one they go to; by container name.
	from map[string]source
	to   manifest.Path
	out  manifest.Path
}

type source struct {
	at    manifest.Path
	value reflect.Value
}

func (m moves) touches(at manifest.Path) bool {
	return len(m.from) > 0 && (slices.Equal(at, m.to) || slices.Equal(at, m.out))
}

// movedContainers finds the containers that stand in the one list before and in the other after.
func (d *differ) movedContainers(b, a reflect.Value, at manifest.Path) moves {
	if b.Type() != reflect.TypeFor[corev1.PodSpec]() {
		return moves{}
	}
	before, after := b.Addr().Interface().(*corev1.PodSpec), a.Addr().Interface().(*corev1.PodSpec)
	containers, inits := at.With(manifest.Key("containers")), at.With(manifest.Key("initContainers"))
	if m := movesBetween(before.Containers, after.Containers, before.InitContainers, after.InitContainers, containers); m != nil {
		return moves{m, inits, containers}
	}
	if m := movesBetween(before.InitContainers, after.InitContainers, before.Containers, after.Containers, inits); m != nil {
		return moves{m, containers, inits}
	}
	return moves{}
}

func movesBetween(outBefore, outAfter, inBefore, inAfter []corev1.Container, at manifest.Path) map[string]source {
	var out map[string]source
	for i := range outBefore {
		name := outBefore[i].Name
		if named(outAfter, name) || named(inBefore, name) || !named(inAfter, name) {
			continue
		}
		if out == nil {
			out = map[string]source{}
		}
		out[name] = source{at.With(manifest.At(i)), reflect.ValueOf(&outBefore[i]).Elem()}
	}
	return out
}

func named(cs []corev1.Container, name string) bool {
	return slices.ContainsFunc(cs, func(c corev1.Container) bool { return c.Name == name })
}

// diffList compares a list whose elements have a key.
func (d *differ) diffList(key string, b, a reflect.Value, at manifest.Path, node, like *yaml.Node, moved moves) {
	field := d.schema.of(b.Type().Elem()).field(key)
	if field == nil {
		d.set(a, at, like)
		return
	}
	place := make(map[string]int, b.Len())
	for j := range b.Len() {
		k := keyOf(b.Index(j), field)
		if _, twice := place[k]; twice {
			d.duplicates = append(d.duplicates, at.With(manifest.At(j)))
			continue
		}
		place[k] = j
	}
	if len(d.duplicates) > 0 {
		return
	}
	kept := make([]int, a.Len()) // original places, -1 for new elements
	for i := range a.Len() {
		kept[i] = -1
		if j, ok := place[keyOf(a.Index(i), field)]; ok {
			kept[i] = j
			delete(place, keyOf(a.Index(i), field))
		}
	}
	d.dropElements(place, at, field, b, moved)
	stable := longestRising(kept)
	for i := range a.Len() {
		d.diffElement(i, kept[i], stable, listPlace{b, a, at, nextStable(kept, stable, i, b.Len())}, field, node, like, moved)
	}
}

// listPlace is where an element of a list goes.
type listPlace struct {
	b, a  reflect.Value
	at    manifest.Path
	index int
}

func (d *differ) diffElement(i, was int, stable []bool, l listPlace, field *fieldInfo, node, like *yaml.Node, moved moves) {
	elem := l.a.Index(i)
	likeElem := likeElement(like, elem, i)
	if was >= 0 {
		from := l.at.With(manifest.At(was))
		if !stable[i] {
			d.add(manifest.Change{Op: manifest.Move, Path: from, To: l.at, Index: l.index})
		}
		var n *yaml.Node
		if node != nil && node.Kind == yaml.SequenceNode && was < len(node.Content) {
			n = Deref(node.Content[was])
		}
		d.diffStruct(l.b.Index(was), elem, from, n, likeElem)
		return
	}
	if src, ok := moved.from[keyOf(elem, field)]; ok && slices.Equal(l.at, moved.to) {
		d.add(manifest.Change{Op: manifest.Move, Path: src.at, To: l.at, Index: l.index})
		d.diffStruct(src.value, elem, src.at, nil, likeElem)
		return
	}
	d.add(manifest.Change{Op: manifest.Insert, Path: l.at, Index: l.index, Value: d.schema.encode(elem, likeElem)})
}

// dropElements removes what is left of the original elements, but those that moved to the other list.
func (d *differ) dropElements(place map[string]int, at manifest.Path, field *fieldInfo, b reflect.Value, moved moves) {
	gone := make([]int, 0, len(place))
	for _, j := range place {
		if _, ok := moved.from[keyOf(b.Index(j), field)]; ok && slices.Equal(at, moved.out) {
			continue
		}
		gone = append(gone, j)
	}
	slices.Sort(gone)
	for _, j := range gone {
		d.add(manifest.Change{Op: manifest.Remove, Path: at.With(manifest.At(j))})
	}
}

// keyOf gives the merge key of an element; of a port also its protocol, as one number may stand for both.
func keyOf(e reflect.Value, field *fieldInfo) string {
	if p, ok := e.Interface().(corev1.ContainerPort); ok {
		protocol := p.Protocol
		if protocol == "" {
			protocol = corev1.ProtocolTCP
		}
		return fmt.Sprintf("%d/%s", p.ContainerPort, protocol)
	}
	v := field.value(e)
	if v.Kind() == reflect.String {
		return v.String()
	}
	return fmt.Sprint(v.Interface())
}

// longestRising marks a longest rising subsequence of the places: those elements stay, the others move around them.
func longestRising(places []int) []bool {
	best := make([]int, len(places))
	prev := make([]int, len(places))
	end, length := -1, 0
	for i, p := range places {
		if p < 0 {
			continue
		}
		best[i], prev[i] = 1, -1
		for j := range i {
			if places[j] >= 0 && places[j] < p && best[j]+1 > best[i] {
				best[i], prev[i] = best[j]+1, j
			}
		}
		if best[i] > length {
			end, length = i, best[i]
		}
	}
	out := make([]bool, len(places))
	for ; end >= 0; end = prev[end] {
		out[end] = true
	}
	return out
}

// nextStable gives the original place before which element i goes: that of the next element that stays, else the end.
func nextStable(places []int, stable []bool, i, end int) int {
	for k := i + 1; k < len(places); k++ {
		if stable[k] {
			return places[k]
		}
	}
	return end
}

// Equal compares two typed values of one type, a and b pointing to them, as Diff does: what would print the same is
// the same.
func (s *Schema) Equal(a, b any) bool {
	d := differ{schema: s}
	return d.equal(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem())
}
