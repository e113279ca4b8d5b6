package config

import (
	"strconv"

	"github.com/kube-inject/inject/policy"
)

// Values are the mesh's Helm values, as templates see them.
type Values struct {
	// Tree is plain data: map[string]any, []any, string, bool, float64 and nil. Templates can write into what they are
	// given, so a render takes Copy.
	Tree map[string]any
	// Source is the file and the place in it where the values begin.
	Source policy.Position

	tree *tree
}

// Copy is a deep copy of the tree.
func (v *Values) Copy() map[string]any { return copyValue(v.Tree).(map[string]any) }

// Origin is where the value at path was written, or the nearest mapping around it; list items go by their number.
func (v *Values) Origin(path ...string) policy.Position { return v.tree.place(path) }

// Text gives the text at a path; empty where there is none or it is no text.
func (v *Values) Text(path ...string) string { return digString(v.Tree, path...) }

// Tag is global.tag, which may be a number; ok is false where there is none.
func (v *Values) Tag() (tag string, ok bool) {
	switch t, _ := dig(v.Tree, "global", "tag"); t := t.(type) {
	case string:
		return t, t != ""
	case float64:
		return strconv.FormatFloat(t, 'f', -1, 64), true
	}
	return "", false
}

// readValues brings the part found into the form that templates see.
func readValues(f *found, p *problems) *tree {
	t, err := treeOf(f.text, f.node)
	if err != nil {
		p.add(*err)
		return nil
	}
	if !f.helm {
		return t
	}
	if _, isSpec := t.root["values"]; isSpec || f.from != "" {
		t = operatorValues(t)
	}
	for _, key := range []string{"USER-SUPPLIED VALUES", "COMPUTED VALUES"} {
		delete(t.root, key)
	}
	// The older charts wrap their defaults like this; users copy it.
	if inner, ok := t.root["_internal_defaults_do_not_set"].(map[string]any); ok {
		delete(t.root, "_internal_defaults_do_not_set")
		base := t.sub(inner, "_internal_defaults_do_not_set")
		base.lay(t)
		t = base
	}
	return t
}

// operatorValues makes values of the spec of an IstioOperator: its values, and hub, tag and revision, which stand outside
// (Istio, operator/pkg/helm and manifests, 1.30).
func operatorValues(spec *tree) *tree {
	inner, _ := spec.root["values"].(map[string]any)
	t := spec.sub(inner, "values")
	for _, f := range []struct {
		key  string
		path []string
	}{
		{"hub", []string{"global", "hub"}},
		{"tag", []string{"global", "tag"}},
		{"namespace", []string{"global", "istioNamespace"}},
		{"revision", []string{"revision"}},
	} {
		v, ok := spec.root[f.key]
		if _, there := dig(t.root, f.path...); !ok || v == nil || there {
			continue
		}
		t.set(f.path, v, spec.place([]string{f.key}))
	}
	return t
}

// sub is the tree below a path, sharing its data.
func (t *tree) sub(root map[string]any, path ...string) *tree {
	out := newTree()
	if root != nil {
		out.root = root
	}
	prefix := joinPath(path)
	out.places[""] = t.place(path)
	for k, at := range t.places {
		if len(k) > len(prefix) && k[:len(prefix)] == prefix && k[len(prefix)] == 0 {
			out.places[k[len(prefix)+1:]] = at
		}
	}
	return out
}

// set puts a value at a path of mappings, making those that are not there.
func (t *tree) set(path []string, v any, at policy.Position) {
	m := t.root
	for i, key := range path[:len(path)-1] {
		next, ok := m[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[key] = next
			t.places[joinPath(path[:i+1])] = at
		}
		m = next
	}
	m[path[len(path)-1]] = v
	t.places[joinPath(path)] = at
}

// lay puts over on top of t as Helm lays values over a chart's: mappings merge, null takes a key away, all else replaces.
func (t *tree) lay(over *tree) {
	layMap(t.root, over.root)
	for k, at := range over.places {
		t.places[k] = at
	}
}

func layMap(base, over map[string]any) {
	for key, v := range over {
		if v == nil {
			delete(base, key)
			continue
		}
		in, isMap := v.(map[string]any)
		under, wasMap := base[key].(map[string]any)
		if isMap && wasMap {
			layMap(under, in)
			continue
		}
		base[key] = v
	}
}

// complete says whether values are a mesh's own: its chart always writes global.proxy.statusPort, people do not.
func complete(root map[string]any) bool {
	_, ok := dig(root, "global", "proxy", "statusPort")
	return ok
}
