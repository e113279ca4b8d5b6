package typed

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Encode writes v, a typed value or a pointer to one, as a node: fields in the order of their declaration, map keys
// sorted, and nothing that is empty (no status: {}, no creationTimestamp: null) but the divisor of a resource field,
// which prints as "0" from every Go program and from the API server. Where like, a node of the same
// object as its author wrote it, is not nil, the keys that it holds come first and in its order.
func (s *Schema) Encode(v any, like *yaml.Node) *yaml.Node {
	n := s.encode(reflect.ValueOf(v), Deref(like))
	if n == nil {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	return n
}

// scalarNode gives a scalar that reads back as what its tag says: strings that look like something else are quoted.
func scalarNode(tag, value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
	if tag == "!!str" && PlainKind(value) != String {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// encode gives nil for what has nothing to print: nil pointers and structs without any field set.
func (s *Schema) encode(v reflect.Value, like *yaml.Node) *yaml.Node {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if n := s.encode(v.Elem(), like); n != nil {
			return n
		}
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	case isQuantity(t):
		q := v.Interface().(resource.Quantity)
		return scalarNode("!!str", q.String())
	case isIntOrString(t):
		x := v.Interface().(intstr.IntOrString)
		if x.Type == intstr.Int {
			return scalarNode("!!int", strconv.Itoa(int(x.IntVal)))
		}
		return scalarNode("!!str", x.StrVal)
	case t.Kind() == reflect.Struct && !isCustom(t):
		return s.encodeStruct(v, like)
	case t.Kind() == reflect.Map:
		return s.encodeMap(v, like)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return s.encodeList(v, like)
	}
	return s.encodeScalar(v)
}

func (s *Schema) encodeScalar(v reflect.Value) *yaml.Node {
	switch v.Kind() {
	case reflect.String:
		return scalarNode("!!str", v.String())
	case reflect.Bool:
		return scalarNode("!!bool", strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int32, reflect.Int64:
		return scalarNode("!!int", strconv.FormatInt(v.Int(), 10))
	case reflect.Float64:
		return scalarNode("!!float", strconv.FormatFloat(v.Float(), 'g', -1, 64))
	}
	text, err := json.Marshal(v.Interface())
	if err != nil || string(text) == "null" {
		return nil
	}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

func (s *Schema) encodeStruct(v reflect.Value, like *yaml.Node) *yaml.Node {
	info := s.of(v.Type())
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := range info.fields {
		f := &info.fields[i]
		fv := f.value(v)
		if isEmpty(fv) && !f.printsEmpty() {
			continue
		}
		if n := s.encode(fv, Get(like, f.name)); n != nil {
			out.Content = append(out.Content, scalarNode("!!str", f.name), n)
		}
	}
	if len(out.Content) == 0 {
		return nil
	}
	orderLike(out, like)
	return out
}

// printsEmpty tells whether the field is written although it is empty: scalars that JSON always has (a name, a port),
// and quantities, which never count as empty there.
func (f *fieldInfo) printsEmpty() bool {
	switch f.typ.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		return false
	case reflect.Struct:
		return isQuantity(f.typ) || f.always && isIntOrString(f.typ)
	default:
		return f.always
	}
}

func (s *Schema) encodeMap(v reflect.Value, like *yaml.Node) *yaml.Node {
	keys := make([]string, 0, v.Len())
	for _, k := range v.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, k := range keys {
		e := s.encode(v.MapIndex(reflect.ValueOf(k).Convert(v.Type().Key())), Get(like, k))
		out.Content = append(out.Content, scalarNode("!!str", k), e)
	}
	orderLike(out, like)
	return out
}

func (s *Schema) encodeList(v reflect.Value, like *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range v.Len() {
		n := s.encode(v.Index(i), likeElement(like, v.Index(i), i))
		if n == nil {
			n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		}
		out.Content = append(out.Content, n)
	}
	return out
}

// likeElement finds the element of a written list that stands for e: by name or mount path, else by place.
func likeElement(like *yaml.Node, e reflect.Value, i int) *yaml.Node {
	like = Deref(like)
	if like == nil || like.Kind != yaml.SequenceNode {
		return nil
	}
	if e.Kind() == reflect.Struct {
		for _, key := range [...]struct{ field, name string }{{"MountPath", "mountPath"}, {"Name", "name"}} {
			f := e.FieldByName(key.field)
			if !f.IsValid() || f.Kind() != reflect.String {
				continue
			}
			for _, c := range like.Content {
				if n := Get(c, key.name); n != nil && n.Value == f.String() {
					return Deref(c)
				}
			}
			return nil
		}
	}
	if i < len(like.Content) {
		return Deref(like.Content[i])
	}
	return nil
}

// orderLike moves the keys that like holds to the front, in its order.
func orderLike(n, like *yaml.Node) {
	like = Deref(like)
	if like == nil || like.Kind != yaml.MappingNode {
		return
	}
	sorted := make([]*yaml.Node, 0, len(n.Content))
	taken := make([]bool, len(n.Content))
	for i := 0; i+1 < len(like.Content); i += 2 {
		for j := 0; j+1 < len(n.Content); j += 2 {
			if !taken[j] && n.Content[j].Value == like.Content[i].Value {
				taken[j] = true
				sorted = append(sorted, n.Content[j], n.Content[j+1])
				break
			}
		}
	}
	for j := 0; j+1 < len(n.Content); j += 2 {
		if !taken[j] {
			sorted = append(sorted, n.Content[j], n.Content[j+1])
		}
	}
	n.Content = sorted
}

// isEmpty is JSON's omitempty, and for structs that all their fields are empty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}
