package typed

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Codes of the problems of this package.
const (
	CodeType    = "E_TYPE"
	CodeUnknown = "W_UNKNOWN_FIELD"
	CodeShape   = "E_SHAPE"
)

// Problem is what is wrong with a node; the caller knows its document and adds the position.
type Problem struct {
	Code string
	Node *yaml.Node
	// Path is the field below the node that was decoded or merged, such as spec.containers[0].image.
	Path    string
	Message string
	Hint    string
}

// Decode reads node into the value that into points to, as the cluster would: by YAML 1.1, then by the JSON names of
// the fields, case and all. Fields that the type does not know are left out; with unknown set each is a problem of
// code W_UNKNOWN_FIELD. A value of another type is a problem of code E_TYPE and leaves its field empty.
func (s *Schema) Decode(node *yaml.Node, into any, unknown bool) []Problem {
	d := decoder{schema: s, unknown: unknown}
	d.value(Deref(node), reflect.ValueOf(into).Elem())
	return d.problems
}

type decoder struct {
	schema   *Schema
	unknown  bool
	problems []Problem
	path     path
}

// path is the way to the current node; it becomes text only for a problem.
type path []any

func (p path) String() string {
	var b strings.Builder
	for _, e := range p {
		switch e := e.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", e)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			if strings.ContainsAny(e, ".[]") {
				fmt.Fprintf(&b, "[%s]", e)
			} else {
				b.WriteString(e)
			}
		}
	}
	return strings.ReplaceAll(b.String(), ".[", "[")
}

func (d *decoder) push(e any) { d.path = append(d.path, e) }
func (d *decoder) pop()       { d.path = d.path[:len(d.path)-1] }

func (d *decoder) problem(code string, n *yaml.Node, message, hint string) {
	d.problems = append(d.problems, Problem{Code: code, Node: n, Path: d.path.String(), Message: message, Hint: hint})
}

// value reads n into v; null leaves v as it is, which is empty.
func (d *decoder) value(n *yaml.Node, v reflect.Value) {
	if IsNull(n) {
		return
	}
	t := v.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.value(n, v.Elem())
	case isQuantity(t):
		d.quantity(n, v)
	case isIntOrString(t):
		d.intOrString(n, v)
	case t.Kind() == reflect.Struct && !isCustom(t):
		d.object(n, v)
	case t.Kind() == reflect.Map:
		d.mapping(n, v)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		d.list(n, v)
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Slice || t.Kind() == reflect.Interface:
		d.custom(n, v)
	default:
		d.scalar(n, v)
	}
}

func (d *decoder) object(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.mismatch(n, "mapping")
		return
	}
	info := d.schema.of(v.Type())
	entries(n, func(k, e *yaml.Node) {
		f := info.field(k.Value)
		d.push(k.Value)
		if f != nil {
			d.value(Deref(e), f.value(v))
		} else if d.unknown {
			d.problem(CodeUnknown, k, "a Pod has no field of this name here", d.nearest(info, k.Value))
		}
		d.pop()
	})
}

// nearest advises on a misspelt field name.
func (d *decoder) nearest(info *structInfo, name string) string {
	for i := range info.fields {
		if strings.EqualFold(info.fields[i].name, name) {
			return "did you mean " + info.fields[i].name + "?"
		}
	}
	return "check the spelling and the indentation"
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.mismatch(n, "mapping")
		return
	}
	t := v.Type()
	m := reflect.MakeMapWithSize(t, len(n.Content)/2)
	entries(n, func(k, e *yaml.Node) {
		d.push(k.Value)
		elem := reflect.New(t.Elem()).Elem()
		d.value(Deref(e), elem)
		m.SetMapIndex(reflect.ValueOf(k.Value).Convert(t.Key()), elem)
		d.pop()
	})
	v.Set(m)
}

func (d *decoder) list(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.mismatch(n, "list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, e := range n.Content {
		d.push(i)
		d.value(Deref(e), v.Index(i))
		d.pop()
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value) {
	want := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number",
	}[v.Kind()]
	if want == "" {
		want = "integer"
	}
	if n.Kind != yaml.ScalarNode {
		d.mismatch(n, want)
		return
	}
	kind := ScalarKind(n)
	switch v.Kind() {
	case reflect.String:
		if kind == String {
			v.SetString(n.Value)
			return
		}
	case reflect.Bool:
		if kind == Bool {
			v.SetBool(isTrue(n.Value))
			return
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if i, ok := integer(n.Value); ok && (kind == Int || kind == Float) && !v.OverflowInt(i) {
			v.SetInt(i)
			return
		}
	case reflect.Float64:
		if kind == Int || kind == Float {
			v.SetFloat(float(n.Value))
			return
		}
	}
	d.typeProblem(n, want)
}

func (d *decoder) quantity(n *yaml.Node, v reflect.Value) {
	kind := ScalarKind(n)
	if n.Kind != yaml.ScalarNode || kind == Bool {
		d.mismatch(n, "quantity")
		return
	}
	text := n.Value
	if kind == Int || kind == Float {
		text = jsonNumber(n.Value)
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		d.badValue(n, fmt.Sprintf("%q is not a quantity", clip(n.Value)), "write a number with a unit, such as 100m, 0.5 or 128Mi")
		return
	}
	v.Set(reflect.ValueOf(q))
}

func (d *decoder) intOrString(n *yaml.Node, v reflect.Value) {
	kind := ScalarKind(n)
	switch i, ok := integer(n.Value); {
	case n.Kind != yaml.ScalarNode || kind == Bool:
		d.mismatch(n, "number or string")
	case kind == String:
		v.Set(reflect.ValueOf(intstr.FromString(n.Value)))
	case ok && i >= math.MinInt32 && i <= math.MaxInt32:
		v.Set(reflect.ValueOf(intstr.FromInt32(int32(i))))
	default:
		d.typeProblem(n, "number or string")
	}
}

// custom reads the types that have a JSON form of their own, through JSON.
func (d *decoder) custom(n *yaml.Node, v reflect.Value) {
	text, err := json.Marshal(Generic(n))
	if err == nil {
		err = json.Unmarshal(text, v.Addr().Interface())
	}
	if err != nil {
		d.badValue(n, "the value does not fit this field", "see the field's documentation: kubectl explain pod."+d.path.String())
	}
}

func (d *decoder) mismatch(n *yaml.Node, want string) {
	switch n.Kind {
	case yaml.MappingNode:
		d.problem(CodeType, n, "expected "+article(want)+", found a mapping", "check the indentation")
	case yaml.SequenceNode:
		d.problem(CodeType, n, "expected "+article(want)+", found a list", "check the indentation")
	default:
		d.typeProblem(n, want)
	}
}

func article(want string) string {
	if want == "mapping" || want == "list" || want == "quantity" {
		return "a " + want
	}
	return want
}

// typeProblem words a scalar of the wrong kind, as spec'd: expected string, found boolean "yes".
func (d *decoder) typeProblem(n *yaml.Node, want string) {
	kind := ScalarKind(n)
	message := fmt.Sprintf("expected %s, found %s %q", article(want), kind, clip(n.Value))
	hint := map[string]string{
		"number": "write a number, without quotes", "boolean": "write true or false, without quotes",
		"list": "write a list: each item starts with a dash", "mapping": "write key: value lines, indented below the name",
	}[want]
	if hint == "" {
		hint = "write " + article(want)
	}
	switch {
	case strings.HasPrefix(want, "string"):
		hint = "quote it: " + strconv.Quote(n.Value)
	case kind == String && isPlaceholder(n.Value):
		hint = "this looks like a placeholder: substitute it first"
	case kind == String && want != "mapping" && want != "list" && PlainKind(n.Value) != String:
		hint = "remove the quotes"
	}
	d.problem(CodeType, n, message, hint)
}

func (d *decoder) badValue(n *yaml.Node, message, hint string) {
	if n.Kind == yaml.ScalarNode && isPlaceholder(n.Value) {
		hint = "this looks like a placeholder: substitute it first"
	}
	d.problem(CodeType, n, message, hint)
}

// isPlaceholder recognises ${X}, $(X) and $X.
func isPlaceholder(s string) bool {
	return len(s) > 1 && s[0] == '$' && (s[1] == '{' || s[1] == '(' || s[1] == '_' || (s[1]|0x20 >= 'a' && s[1]|0x20 <= 'z'))
}

// clip keeps messages short and secrets out of them.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// jsonNumber spells a YAML number as JSON does.
func jsonNumber(s string) string {
	plain := strings.ReplaceAll(s, "_", "")
	if n, ok := parseInt(plain); ok {
		return strconv.FormatInt(n, 10)
	}
	if _, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return plain
	}
	text, err := json.Marshal(float(plain))
	if err != nil {
		return plain
	}
	return string(text)
}

// Generic gives the plain value of a node: nil, string, bool, int64, float64, []any or map[string]any, scalars read
// by YAML 1.1.
func Generic(n *yaml.Node) any {
	n = Deref(n)
	if IsNull(n) {
		return nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return Generic(n.Content[0])
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		entries(n, func(k, v *yaml.Node) { out[k.Value] = Generic(v) })
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, e := range n.Content {
			out[i] = Generic(e)
		}
		return out
	}
	switch ScalarKind(n) {
	case Bool:
		return isTrue(n.Value)
	case Int:
		if i, ok := integer(n.Value); ok {
			return i
		}
		return float(n.Value)
	case Float:
		return float(n.Value)
	default:
		return n.Value
	}
}
