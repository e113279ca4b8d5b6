package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kube-inject/inject/policy"
)

// Set is one --set, --set-string or --set-json flag, or one of the --set-mesh flags.
type Set struct {
	Kind SetKind
	// Text is the flag's argument.
	Text string
}

// setMeshFlag is the flag whose values go by the type of the mesh config's field.
const setMeshFlag = "--set-mesh"

// applySets changes a tree by set flags, in their order. It gives the paths that were set.
func applySets(t *tree, sets []Set, flag func(SetKind) string, p *problems) [][]string {
	var changed [][]string
	for _, s := range sets {
		at := policy.Position{File: flag(s.Kind) + " " + s.Text}
		list, err := parseSet(s.Kind, s.Text)
		if err != nil {
			p.errorf(CodeSet, at, "", "Write path=value, several with commas between; a comma, dot or bracket that belongs to a name or value needs a backslash.",
				"cannot read this: %v", err)
			continue
		}
		for _, a := range list {
			path := textPath(a.path)
			t.forget(path)
			root, err := assign(t.root, a.path, copyValue(a.value))
			if err != nil {
				p.errorf(CodeSet, at, showPath(path), "Set a key inside it, or the whole value.", "it cannot be set: %v", err)
				continue
			}
			t.root = root.(map[string]any)
			t.places[joinPath(path)] = at
			changed = append(changed, path)
		}
	}
	return changed
}

func textPath(path []any) []string {
	out := make([]string, len(path))
	for i, s := range path {
		switch s := s.(type) {
		case int:
			out[i] = strconv.Itoa(s)
		case string:
			out[i] = s
		}
	}
	return out
}

// forget drops the places below a path, whose values are about to be replaced.
func (t *tree) forget(path []string) {
	prefix := joinPath(path) + "\x00"
	maps.DeleteFunc(t.places, func(k string, _ policy.Position) bool {
		return len(k) > len(prefix) && k[:len(prefix)] == prefix
	})
}

// assign gives v with the value put at path. A null takes a key away; a list grows with nulls to reach an index.
func assign(v any, path []any, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	switch step := path[0].(type) {
	case int:
		list, ok := v.([]any)
		if v != nil && !ok {
			return nil, fmt.Errorf("there is %s already, no list", describeValue(v))
		}
		// Helm writes into the list in place; the file's own list stays whole here for messages.
		list = slices.Clone(list)
		for len(list) <= step {
			list = append(list, nil)
		}
		item, err := assign(list[step], path[1:], value)
		if err != nil {
			return nil, err
		}
		list[step] = item
		return list, nil
	case string:
		m, ok := v.(map[string]any)
		if v != nil && !ok {
			return nil, fmt.Errorf("there is %s already, no mapping", describeValue(v))
		}
		if m == nil {
			m = map[string]any{}
		}
		if len(path) == 1 && value == nil {
			delete(m, step)
			return m, nil
		}
		item, err := assign(m[step], path[1:], value)
		if err != nil {
			return nil, err
		}
		m[step] = item
		return m, nil
	}
	panic("a step of a set path is a key or an index")
}
