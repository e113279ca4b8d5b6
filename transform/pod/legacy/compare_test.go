package legacy

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// normal rewrites a decoded document so that two of them can be compared as data: what typed serialisation adds or
// leaves out is dropped, quantities take their canonical form, JSON inside strings is taken apart.
func normal(v any, path ...string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			at := append(slices.Clone(path), key)
			if dropped(at, v, e) {
				continue
			}
			if n := normal(e, at...); n != nil {
				out[key] = n
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, normal(e, path...))
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case string:
		return normalString(v, path)
	case float64:
		if quantityAt(path) {
			return canonical(json.Number(resource.NewMilliQuantity(int64(v*1000), resource.DecimalSI).String()).String())
		}
		// Zero counters of a status that the API server has not filled.
		if v == 0 && slices.Contains(path, "status") {
			return nil
		}
		return v
	default:
		return v
	}
}

// dropped tells whether a key is noise: an environment variable's empty value, or a zero of the workload's own
// spec, which typed serialisation adds to some kinds and takes from others.
func dropped(path []string, in map[string]any, v any) bool {
	if (len(path) == 2 || len(path) == 3 && path[0] == "items") && path[len(path)-2] == "spec" && (v == "" || v == false || v == 0.0) {
		return true
	}
	_, named := in["name"]
	return path[len(path)-1] == "value" && v == "" && named && slices.Contains(path, "env")
}

func quantityAt(path []string) bool {
	return len(path) > 1 && slices.Contains([]string{"limits", "requests", "capacity"}, path[len(path)-2])
}

func canonical(s string) string {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return s
	}
	return q.String()
}

// normalString takes JSON apart where Istio writes JSON: in annotations and environment variables.
func normalString(s string, path []string) any {
	if quantityAt(path) {
		return canonical(s)
	}
	inside := slices.Contains(path, "annotations") || slices.Contains(path, "env")
	text := strings.TrimSpace(s)
	if inside && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			return map[string]any{"json": v}
		}
	}
	return s
}
