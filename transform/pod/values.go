package pod

import (
	"fmt"
	"strconv"
)

// values reads single settings of the values tree, as the injector does besides the templates.
type values struct{ tree map[string]any }

// at gives the value at a path of keys; nil where a key is missing.
func (v values) at(path ...string) any {
	var cur any = v.tree
	for _, k := range path {
		m, ok := cur.(map[string]any)
		if !ok {
			return nil
		}
		cur = m[k]
	}
	return cur
}

// text gives a setting as the injector prints it; numbers without exponent where they are whole.
func (v values) text(path ...string) string {
	switch x := v.at(path...).(type) {
	case nil:
		return ""
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	default:
		return fmt.Sprint(x)
	}
}

// flag gives a boolean setting; what is not one counts as false.
func (v values) flag(path ...string) bool {
	b, _ := v.at(path...).(bool)
	return b
}

// clone copies a tree of plain data, for templates that write into it.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	default:
		return v
	}
}
