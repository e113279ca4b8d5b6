package typed

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Schema remembers the fields of the Go types it has met. The zero value is ready; it is safe for concurrent use.
type Schema struct {
	structs sync.Map // reflect.Type → *structInfo
}

// structInfo is a struct type as JSON sees it, fields of inlined structs among its own.
type structInfo struct {
	fields []fieldInfo
	byName map[string]int
}

// fieldInfo is one JSON field.
type fieldInfo struct {
	name string
	// index leads from the struct to the field, through inlined structs.
	index []int
	typ   reflect.Type
	// always is set where the field prints even when it is empty.
	always bool
	// mergeKey is the patchMergeKey of a list that merges by key; merges is set for lists that merge at all.
	mergeKey string
	merges   bool
}

// value gives the field of v.
func (f *fieldInfo) value(v reflect.Value) reflect.Value {
	if len(f.index) == 1 {
		return v.Field(f.index[0])
	}
	return v.FieldByIndex(f.index)
}

// of gives the fields of a struct type.
func (s *Schema) of(t reflect.Type) *structInfo {
	if info, ok := s.structs.Load(t); ok {
		return info.(*structInfo)
	}
	info := &structInfo{byName: map[string]int{}}
	info.add(t, nil)
	stored, _ := s.structs.LoadOrStore(t, info)
	return stored.(*structInfo)
}

// field looks a JSON name up.
func (i *structInfo) field(name string) *fieldInfo {
	if n, ok := i.byName[name]; ok {
		return &i.fields[n]
	}
	return nil
}

// add reads the struct tags json, patchStrategy and patchMergeKey, as apimachinery's strategic merge does.
func (i *structInfo) add(t reflect.Type, prefix []int) {
	for n := range t.NumField() {
		f := t.Field(n)
		tag, ok := f.Tag.Lookup("json")
		if !ok || !f.IsExported() || tag == "-" {
			continue
		}
		index := append(append([]int(nil), prefix...), n)
		name, opts, _ := strings.Cut(tag, ",")
		if name == "" && f.Type.Kind() == reflect.Struct {
			i.add(f.Type, index)
			continue
		}
		info := fieldInfo{
			name: name, index: index, typ: f.Type,
			always: !strings.Contains(opts, "omitempty") && !strings.Contains(opts, "omitzero"),
			merges: strings.Contains(f.Tag.Get("patchStrategy"), "merge"),
		}
		if info.merges {
			info.mergeKey = f.Tag.Get("patchMergeKey")
		}
		i.byName[name] = len(i.fields)
		i.fields = append(i.fields, info)
	}
}

// quantity is spelt often enough.
type quantity = resource.Quantity

// The types that JSON reads by their own rules.
func isQuantity(t reflect.Type) bool    { return t == reflect.TypeFor[resource.Quantity]() }
func isIntOrString(t reflect.Type) bool { return t == reflect.TypeFor[intstr.IntOrString]() }

// isCustom tells whether a struct type has a JSON form of its own (times, managed fields).
func isCustom(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}
