package legacy

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// unknownFields warns of what a template writes in vain.
func unknownFields(raw json.RawMessage, pos policy.Position) []policy.Finding {
	var doc any
	if json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	var paths []string
	collectUnknown(reflect.TypeFor[Spec](), doc, "", &paths)
	slices.Sort(paths)
	var fs []policy.Finding
	for _, path := range slices.Compact(paths) {
		f := policy.Finding{
			Code: CodeRenderedField, Severity: policy.Warning, Position: pos,
			Message: fmt.Sprintf("template %q: %s has no effect in this format", templateName, path),
		}
		if path == "holdApplicationUntilProxyStarts" {
			f.Hint = "set global.proxy.holdApplicationUntilProxyStarts in the values"
		}
		fs = append(fs, f)
	}
	return fs
}

// inVain are fields that have a type here and are not used.
const inVain = " holdApplicationUntilProxyStarts initContainers[].restartPolicy containers[].restartPolicy "

// silent are fields that the chart of the time writes itself and that never had an effect.
const silent = " initContainers[].restartPolicy containers[].securityContext.fsGroup "

// collectUnknown walks v beside its type and notes the keys that have no field. List items share one path.
func collectUnknown(t reflect.Type, v any, path string, out *[]string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for _, e := range v {
				collectUnknown(t.Elem(), e, path+"[]", out)
			}
		}
	case map[string]any:
		if t.Kind() == reflect.Map || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			field, ok := jsonField(t, key)
			switch {
			case !ok || strings.Contains(inVain, " "+at+" "):
				if !strings.Contains(silent, " "+at+" ") {
					*out = append(*out, at)
				}
			default:
				collectUnknown(field, v[key], at, out)
			}
		}
	}
}

// jsonField finds the type of the field that encoding/json fills from key; case does not count.
func jsonField(t reflect.Type, key string) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && (name == "" || strings.Contains(opts, "inline")) {
			if ft, ok := jsonField(f.Type, key); ok {
				return ft, true
			}
			continue
		}
		if strings.EqualFold(name, key) {
			return f.Type, true
		}
	}
	return nil, false
}
