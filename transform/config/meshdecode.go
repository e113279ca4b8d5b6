package config

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// protoDecoder reads plain data into a protobuf message in place, by protobuf's JSON mapping as the older jsonpb had it,
// which is what the mesh reads its config with: a field that is present replaces, zero or not; null leaves what is there; a
// nested message or list is replaced whole; numbers may be quoted; fields go by either of their names.
//
// Decoding from data that knows its places, and not through JSON, is what lets an error name the line.
type protoDecoder struct {
	tree     *tree
	problems *problems
	// unknown collects the fields that the message does not have.
	unknown map[string]any
	// legacy meshes have fields that have left the API: those are no warning there.
	legacy bool
}

func (d *protoDecoder) wrong(path []string, v any, needs string) {
	d.problems.errorf(CodeValue, d.tree.place(path), showPath(path), "Write "+needs+".", "%s where %s is needed", describeValue(v), needs)
}

func (d *protoDecoder) message(m protoreflect.Message, v any, path []string) {
	if v == nil {
		return
	}
	if d.wellKnown(m, v, path) {
		return
	}
	object, ok := v.(map[string]any)
	if !ok {
		d.wrong(path, v, "a mapping")
		return
	}
	fields := m.Descriptor().Fields()
	for _, key := range sortedKeys(object) {
		p := append(path[:len(path):len(path)], key)
		fd := fields.ByJSONName(key)
		if fd == nil {
			fd = fields.ByName(protoreflect.Name(key))
		}
		if fd == nil {
			d.unknownField(fields, object[key], p)
			continue
		}
		if object[key] == nil && !isValueMessage(fd) {
			continue
		}
		if value, ok := d.field(m, fd, object[key], p); ok {
			m.Set(fd, value)
		}
	}
}

func isValueMessage(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Value" && fd.Cardinality() != protoreflect.Repeated
}

func (d *protoDecoder) unknownField(fields protoreflect.FieldDescriptors, v any, path []string) {
	dotted := showPath(path)
	d.unknown[dotted] = v
	if d.legacy && formerMeshFields()[dotted] || d.legacy && len(path) == 1 && formerMeshFields()["defaultConfig."+dotted] {
		return
	}
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = fields.Get(i).JSONName()
	}
	hint := "It is left out, as the mesh does; remove it or correct its name."
	if near := nearest(path[len(path)-1], names); near != "" {
		hint = "Did you mean " + near + "? As it stands it is left out."
	}
	d.problems.warnf(CodeUnknown, d.tree.place(path), dotted, hint, "there is no such field in the mesh config")
}

func (d *protoDecoder) field(m protoreflect.Message, fd protoreflect.FieldDescriptor, v any, path []string) (protoreflect.Value, bool) {
	switch {
	case fd.IsList():
		items, ok := v.([]any)
		if !ok {
			d.wrong(path, v, "a list")
			return protoreflect.Value{}, false
		}
		field := m.NewField(fd)
		list := field.List()
		for i, item := range items {
			if value, ok := d.single(list.NewElement(), fd, item, append(path[:len(path):len(path)], strconv.Itoa(i))); ok {
				list.Append(value)
			}
		}
		return field, true
	case fd.IsMap():
		object, ok := v.(map[string]any)
		if !ok {
			d.wrong(path, v, "a mapping")
			return protoreflect.Value{}, false
		}
		field := m.NewField(fd)
		entries := field.Map()
		for _, key := range sortedKeys(object) {
			p := append(path[:len(path):len(path)], key)
			k, ok := d.single(protoreflect.Value{}, fd.MapKey(), key, p)
			if !ok {
				continue
			}
			if value, ok := d.single(entries.NewValue(), fd.MapValue(), object[key], p); ok {
				entries.Set(k.MapKey(), value)
			}
		}
		return field, true
	}
	return d.single(m.NewField(fd), fd, v, path)
}

// single reads one value; fresh is an empty one of its type, which messages are read into.
func (d *protoDecoder) single(fresh protoreflect.Value, fd protoreflect.FieldDescriptor, v any, path []string) (protoreflect.Value, bool) {
	if fd.Message() != nil {
		before := len(*d.problems)
		d.message(fresh.Message(), v, path)
		return fresh, !(*d.problems)[before:].failed()
	}
	if v == nil {
		return fd.Default(), true
	}
	switch fd.Kind() {
	case protoreflect.BoolKind:
		if b, ok := v.(bool); ok {
			return protoreflect.ValueOfBool(b), true
		}
		d.wrong(path, v, "true or false")
	case protoreflect.StringKind:
		if s, ok := v.(string); ok {
			return protoreflect.ValueOfString(s), true
		}
		if s, ok := d.flagText(v, path); ok {
			return protoreflect.ValueOfString(s), true
		}
		d.wrong(path, v, "a text (quote it)")
	case protoreflect.BytesKind:
		if s, ok := v.(string); ok {
			if b, err := base64.StdEncoding.DecodeString(s); err == nil {
				return protoreflect.ValueOfBytes(b), true
			}
		}
		d.wrong(path, v, "base64 text")
	case protoreflect.EnumKind:
		return d.enum(fd.Enum(), v, path)
	default:
		return d.number(fd.Kind(), v, path)
	}
	return protoreflect.Value{}, false
}

// flagText makes a text of a number or boolean that a flag gave: a command line has no quotes that YAML would see, and the
// mesh config, other than values, says which type it wants.
func (d *protoDecoder) flagText(v any, path []string) (string, bool) {
	if !strings.HasPrefix(d.tree.place(path).File, setMeshFlag+" ") {
		return "", false
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

func (d *protoDecoder) enum(ed protoreflect.EnumDescriptor, v any, path []string) (protoreflect.Value, bool) {
	switch v := v.(type) {
	case string:
		if value := ed.Values().ByName(protoreflect.Name(v)); value != nil {
			return protoreflect.ValueOfEnum(value.Number()), true
		}
	case float64:
		if n := protoreflect.EnumNumber(v); float64(n) == v && ed.Values().ByNumber(n) != nil {
			return protoreflect.ValueOfEnum(n), true
		}
	}
	needs := "one of"
	for i := range ed.Values().Len() {
		if i > 0 {
			needs += ","
		}
		needs += " " + string(ed.Values().Get(i).Name())
	}
	d.wrong(path, v, needs)
	return protoreflect.Value{}, false
}

func (d *protoDecoder) number(kind protoreflect.Kind, v any, path []string) (protoreflect.Value, bool) {
	f, ok := v.(float64)
	if s, isText := v.(string); isText {
		// The older mapping takes every number quoted, too.
		parsed, err := strconv.ParseFloat(s, 64)
		f, ok = parsed, err == nil && !math.IsNaN(parsed) && !math.IsInf(parsed, 0)
	}
	whole := f == math.Trunc(f)
	switch kind {
	case protoreflect.FloatKind:
		if ok {
			return protoreflect.ValueOfFloat32(float32(f)), true
		}
		d.wrong(path, v, "a number")
	case protoreflect.DoubleKind:
		if ok {
			return protoreflect.ValueOfFloat64(f), true
		}
		d.wrong(path, v, "a number")
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		if ok && whole && f >= math.MinInt32 && f <= math.MaxInt32 {
			return protoreflect.ValueOfInt32(int32(f)), true
		}
		d.wrong(path, v, "a whole number of 32 bits")
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		if ok && whole && f >= 0 && f <= math.MaxUint32 {
			return protoreflect.ValueOfUint32(uint32(f)), true
		}
		d.wrong(path, v, "a whole number from 0")
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		if ok && whole && math.Abs(f) < 1<<63 {
			return protoreflect.ValueOfInt64(int64(f)), true
		}
		d.wrong(path, v, "a whole number")
	default:
		if ok && whole && f >= 0 && f < 1<<64 {
			return protoreflect.ValueOfUint64(uint64(f)), true
		}
		d.wrong(path, v, "a whole number from 0")
	}
	return protoreflect.Value{}, false
}

// wellKnown reads the messages that JSON writes as plain values. It gives false for any other message.
func (d *protoDecoder) wellKnown(m protoreflect.Message, v any, path []string) bool {
	md := m.Descriptor()
	if md.ParentFile().Package() != "google.protobuf" {
		return false
	}
	fields := md.Fields()
	switch md.Name() {
	case "Duration":
		s, _ := v.(string)
		t, err := time.ParseDuration(s)
		if err != nil {
			d.wrong(path, v, "a duration such as 45s")
			return true
		}
		m.Set(fields.ByName("seconds"), protoreflect.ValueOfInt64(int64(t/time.Second)))
		m.Set(fields.ByName("nanos"), protoreflect.ValueOfInt32(int32(t%time.Second)))
	case "BoolValue", "StringValue", "BytesValue", "Int32Value", "UInt32Value", "Int64Value", "UInt64Value", "FloatValue",
		"DoubleValue":
		fd := fields.ByName("value")
		if value, ok := d.single(protoreflect.Value{}, fd, v, path); ok {
			m.Set(fd, value)
		}
	case "Struct":
		object, ok := v.(map[string]any)
		if !ok {
			d.wrong(path, v, "a mapping")
			return true
		}
		entries := m.Mutable(fields.ByName("fields")).Map()
		for _, key := range sortedKeys(object) {
			value := entries.NewValue()
			d.anyValue(value.Message(), object[key])
			entries.Set(protoreflect.ValueOfString(key).MapKey(), value)
		}
	case "Value":
		d.anyValue(m, v)
	default:
		return false
	}
	return true
}

// anyValue fills a google.protobuf.Value, which takes whatever JSON can say.
func (d *protoDecoder) anyValue(m protoreflect.Message, v any) {
	fields := m.Descriptor().Fields()
	switch v := v.(type) {
	case nil:
		m.Set(fields.ByName("null_value"), protoreflect.ValueOfEnum(0))
	case bool:
		m.Set(fields.ByName("bool_value"), protoreflect.ValueOfBool(v))
	case float64:
		m.Set(fields.ByName("number_value"), protoreflect.ValueOfFloat64(v))
	case string:
		m.Set(fields.ByName("string_value"), protoreflect.ValueOfString(v))
	case map[string]any:
		in := m.Mutable(fields.ByName("struct_value")).Message()
		entries := in.Mutable(in.Descriptor().Fields().ByName("fields")).Map()
		for _, key := range sortedKeys(v) {
			value := entries.NewValue()
			d.anyValue(value.Message(), v[key])
			entries.Set(protoreflect.ValueOfString(key).MapKey(), value)
		}
	case []any:
		in := m.Mutable(fields.ByName("list_value")).Message()
		list := in.Mutable(in.Descriptor().Fields().ByName("values")).List()
		for _, item := range v {
			value := list.NewElement()
			d.anyValue(value.Message(), item)
			list.Append(value)
		}
	}
}

// replaceFields copies every field that src has set to dst.
func replaceFields(dst, src protoreflect.Message) {
	src.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		dst.Set(fd, v)
		return true
	})
}
