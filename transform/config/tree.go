package config

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// tree is a document as plain data (map[string]any, []any, string, bool, float64, nil: what encoding/json gives, and so
// what Istio's templates see), with the place each value was written at.
type tree struct {
	root map[string]any
	// places maps a joined path to where its value stands.
	places map[string]policy.Position
}

func newTree() *tree {
	return &tree{root: map[string]any{}, places: map[string]policy.Position{}}
}

// joinPath makes one key of a path. Values may hold dots in their keys (annotations), so the separator is one that no
// YAML text may hold.
func joinPath(path []string) string { return strings.Join(path, "\x00") }

// showPath prints a path as people write it.
func showPath(path []string) string {
	var b strings.Builder
	for i, p := range path {
		_, err := strconv.Atoi(p)
		switch {
		case err == nil && i > 0:
			b.WriteString("[" + p + "]")
		case strings.ContainsAny(p, ". []"):
			b.WriteString("[" + strconv.Quote(p) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		}
	}
	return b.String()
}

// fieldBelow adds a key to a printed path.
func fieldBelow(field, key string) string {
	if strings.ContainsAny(key, ". []") {
		return field + "[" + strconv.Quote(key) + "]"
	}
	return field + "." + key
}

// place is where the value at path was written, or the nearest ancestor of which it is known.
func (t *tree) place(path []string) policy.Position {
	for n := len(path); n >= 0; n-- {
		if p, ok := t.places[joinPath(path[:n])]; ok {
			return p
		}
	}
	return policy.Position{}
}

// maxNodes bounds what aliases may unfold a document to.
const maxNodes = 1 << 18

// treeOf turns a mapping node into plain data. Aliases are unfolded and merge keys applied.
func treeOf(t text, n *yaml.Node) (*tree, *policy.Finding) {
	tr := newTree()
	if n == nil {
		return tr, nil
	}
	b := treeBuilder{t: t, tree: tr, left: maxNodes}
	if n.Kind != yaml.MappingNode {
		return nil, &policy.Finding{
			Code: CodeValue, Severity: policy.Error, Position: t.at(n.Line, n.Column), Document: t.document,
			Message: t.name() + " holds " + describe(n) + " where a mapping is needed",
			Hint:    "Write it as key: value lines.",
		}
	}
	tr.places[""] = t.at(n.Line, n.Column)
	root, f := b.mapping(n, nil)
	if f != nil {
		return nil, f
	}
	tr.root = root
	return tr, nil
}

type treeBuilder struct {
	t    text
	tree *tree
	left int
}

func (b *treeBuilder) value(n *yaml.Node, path []string) (any, *policy.Finding) {
	if b.left--; b.left < 0 || len(path) > 200 {
		return nil, &policy.Finding{
			Code: CodeSyntax, Severity: policy.Error, Position: b.t.at(n.Line, n.Column), Document: b.t.document,
			Message: "the document is too large once its aliases are unfolded",
			Hint:    "Write the repeated parts out, or drop the anchors.",
		}
	}
	n = dealias(n)
	switch n.Kind {
	case yaml.MappingNode:
		return b.mapping(n, path)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			p := append(path[:len(path):len(path)], strconv.Itoa(i))
			b.tree.places[joinPath(p)] = b.t.at(c.Line, c.Column)
			v, f := b.value(c, p)
			if f != nil {
				return nil, f
			}
			list = append(list, v)
		}
		return list, nil
	default:
		return b.scalar(n)
	}
}

func (b *treeBuilder) mapping(n *yaml.Node, path []string) (map[string]any, *policy.Finding) {
	out := make(map[string]any, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Tag == "!!merge" {
			merges = append(merges, dealias(v))
			continue
		}
		k = dealias(k)
		if k.Kind != yaml.ScalarNode {
			return nil, &policy.Finding{
				Code: CodeSyntax, Severity: policy.Error, Position: b.t.at(k.Line, k.Column), Document: b.t.document,
				Message: "a key of this mapping is " + describe(k), Hint: "Keys are plain text.",
			}
		}
		p := append(path[:len(path):len(path)], k.Value)
		// The key's place, which is what a person looks for; a value may be pages long.
		b.tree.places[joinPath(p)] = b.t.at(k.Line, k.Column)
		x, f := b.value(v, p)
		if f != nil {
			return nil, f
		}
		out[k.Value] = x
	}
	return out, b.merge(out, merges, path)
}

// merge applies merge keys ("<<"): what the mapping itself says wins, then the earlier of several.
func (b *treeBuilder) merge(out map[string]any, merges []*yaml.Node, path []string) *policy.Finding {
	for _, m := range merges {
		sources := []*yaml.Node{m}
		if m.Kind == yaml.SequenceNode {
			sources = m.Content
		}
		for _, s := range sources {
			if s = dealias(s); s.Kind != yaml.MappingNode {
				return &policy.Finding{
					Code: CodeSyntax, Severity: policy.Error, Position: b.t.at(s.Line, s.Column), Document: b.t.document,
					Message: "a merge key (<<) needs a mapping, not " + describe(s), Hint: "Point it at an anchored mapping.",
				}
			}
			kept := b.tree.places
			b.tree.places = map[string]policy.Position{}
			in, f := b.mapping(s, path)
			added := b.tree.places
			b.tree.places = kept
			if f != nil {
				return f
			}
			for p, at := range added {
				if _, ok := kept[p]; !ok {
					kept[p] = at
				}
			}
			for k, v := range in {
				if _, ok := out[k]; !ok {
					out[k] = v
				}
			}
		}
	}
	return nil
}

// scalar reads a scalar as Istio does: YAML 1.1 through JSON. Plain yes, no, on and off are booleans there
// (go.yaml.in/yaml/v2, resolve.go, v2.4), numbers become float64, timestamps stay text.
func (b *treeBuilder) scalar(n *yaml.Node) (any, *policy.Finding) {
	tag := n.ShortTag()
	switch tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return n.Value[0] == 't' || n.Value[0] == 'T', nil
	case "!!int", "!!float":
		if f, ok := number(n.Value); ok {
			return f, nil
		}
		return nil, &policy.Finding{
			Code: CodeValue, Severity: policy.Error, Position: b.t.at(n.Line, n.Column), Document: b.t.document,
			Message: n.Value + " is no finite number", Hint: "Quote it to make it text, or write a number.",
		}
	}
	if tag == "!!str" && n.Style == 0 {
		if v, ok := oldBool(n.Value); ok {
			return v, nil
		}
	}
	return n.Value, nil
}

// oldBool reads the booleans that YAML 1.1 has and YAML 1.2 has not.
func oldBool(s string) (value, ok bool) {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// number reads YAML's integers (with _ and base prefixes) and floats; infinities and NaN have no place in JSON.
func number(s string) (float64, bool) {
	plain := strings.ReplaceAll(s, "_", "")
	if f, err := strconv.ParseFloat(plain, 64); err == nil && !octal(plain) {
		return f, !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return float64(i), true
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return float64(u), true
	}
	return 0, false
}

// octal says whether the text is an integer with a leading zero (0755), which ParseFloat would read as decimal, or has
// another base's prefix.
func octal(s string) bool {
	s = strings.TrimLeft(s, "+-")
	if len(s) < 2 || s[0] != '0' || strings.ContainsAny(s, ".eE") && !strings.HasPrefix(s, "0x") {
		return false
	}
	return strings.IndexFunc(s[1:], func(r rune) bool { return r == '8' || r == '9' }) < 0 || s[1] == 'x' || s[1] == 'X'
}

// describe names a node's kind for messages.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return describe(n.Alias)
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	default:
		return "the text " + quote(n.Value)
	}
}

// describeValue does the same for plain data.
func describeValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case bool:
		return "the boolean " + strconv.FormatBool(v)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		return "the text " + quote(v)
	}
	return "a value"
}

// quote prints a text in a message, cut where it is long.
func quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:57]) + "..."
	}
	return strconv.Quote(s)
}

// copyValue makes a deep copy of plain data.
func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = copyValue(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = copyValue(x)
		}
		return out
	}
	return v
}

// sortedKeys lists the keys of a mapping in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// dig walks mappings; ok is false where the path ends early.
func dig(root map[string]any, path ...string) (any, bool) {
	var v any = root
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[p]; !ok {
			return nil, false
		}
	}
	return v, true
}

func digString(root map[string]any, path ...string) string {
	v, _ := dig(root, path...)
	s, _ := v.(string)
	return s
}

// nearest is the name of the list that a mistyped one may have meant: equal but for case, else at most two letters away
// (one where the name is short). Empty where there is none.
func nearest(name string, names []string) string {
	limit := 2
	if len(name) < 6 {
		limit = 1
	}
	best, at := "", limit+1
	for _, n := range names {
		d := policy.Distance(strings.ToLower(n), strings.ToLower(name), limit)
		if d < at || d == at && best != "" && n < best {
			best, at = n, d
		}
	}
	return best
}
