package template

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// advise follows the fields of an expression through the data up to the first that is not there, and says how to mend that:
// by the nearest name where there is one, else by where the value belongs. Both results are empty where all fields are there.
func advise(expr string, data any) (missing, hint string) {
	// The first chain of fields, such as .Values.global.hub.
	m := regexp.MustCompile(`(?:^|[ ($])((?:\.[A-Za-z_][A-Za-z0-9_]*)+)`).FindStringSubmatch(expr)
	if m == nil {
		return "", ""
	}
	path := strings.Split(m[1][1:], ".")
	v := reflect.ValueOf(data)
	for i, name := range path {
		next, names := field(v, name)
		if next.IsValid() {
			v = next
			continue
		}
		missing = "." + strings.Join(path[:i+1], ".")
		if near := nearest(name, names); near != "" {
			return missing, fmt.Sprintf("did you mean .%s?", strings.Join(append(path[:i:i], near), "."))
		}
		if i == 0 {
			return missing, newerIstio
		}
		return missing, belongs(path)
	}
	return "", ""
}

// newerIstio is the advice about names that this engine does not have.
const newerIstio = "check the spelling, or whether the config is made for a newer Istio than this program knows (1.31)"

// field gives a field, key or method of a value as templates see it, and the names that are there. What is nil is not there.
func field(v reflect.Value, name string) (reflect.Value, []string) {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		if v.Kind() == reflect.Pointer {
			if _, ok := v.Type().MethodByName(name); ok {
				return v.MethodByName(name), nil
			}
		}
		if v.IsNil() {
			return reflect.Value{}, nil
		}
		v = v.Elem()
	}
	var names []string
	var out reflect.Value
	switch {
	case !v.IsValid():
		return out, nil
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		for _, k := range v.MapKeys() {
			names = append(names, k.String())
		}
		out = v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
	case v.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() {
				names = append(names, f.Name)
			}
		}
		out = v.FieldByName(name)
	}
	slices.Sort(names)
	if out.IsValid() && (out.Kind() == reflect.Interface || out.Kind() == reflect.Pointer) && out.IsNil() {
		out = reflect.Value{}
	}
	return out, names
}

// nearest is the name that a person probably meant; empty where none is near.
func nearest(name string, names []string) string {
	best, limit := "", max(1, len(name)/4)
	for _, n := range names {
		if d := policy.Distance(name, n, limit); n != name && d <= limit {
			best, limit = n, d-1
		}
	}
	return best
}

// belongs says in which file a value that is not there belongs.
func belongs(path []string) string {
	switch path[0] {
	case "Values":
		key := strings.Join(path[1:], ".")
		return fmt.Sprintf("set %s in the values file, or with --set %s=…", key, key)
	case "ProxyConfig":
		return "set " + joinFields("defaultConfig", path[1:]) + " in the mesh config file, or with --set-mesh"
	case "MeshConfig":
		return "set " + joinFields("", path[1:]) + " in the mesh config file, or with --set-mesh"
	}
	return "the pod does not have it: ask with if first, or give a default"
}

// joinFields spells Go's names of mesh config fields as the file does.
func joinFields(first string, rest []string) string {
	var out []string
	if first != "" {
		out = append(out, first)
	}
	for _, name := range rest {
		if name != "GetValue" && name != "Value" {
			out = append(out, strings.ToLower(name[:1])+name[1:])
		}
	}
	return strings.Join(out, ".")
}

// unclosedBlock finds the innermost {{ if }}, {{ range }}, {{ with }}, {{ define }} or {{ block }} of a text that has no
// {{ end }}: its words and its line, counted from 1.
func unclosedBlock(text string) (words string, line int) {
	type open struct {
		words string
		line  int
	}
	var stack []open
	actions := regexp.MustCompile(`\{\{-?\s*((?:if|range|with|define|block|end)\b[^}]*?)-?\}\}`)
	for _, m := range actions.FindAllStringSubmatchIndex(text, -1) {
		words := strings.TrimSpace(text[m[2]:m[3]])
		if strings.HasPrefix(words, "end") {
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			continue
		}
		stack = append(stack, open{words, 1 + strings.Count(text[:m[0]], "\n")})
	}
	if len(stack) == 0 {
		return "", 0
	}
	last := stack[len(stack)-1]
	return last.words, last.line
}
