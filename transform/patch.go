package transform

import (
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// PatchOp is one operation of a JSON patch (RFC 6902): add, replace, remove, or test.
type PatchOp struct {
	Op, Path string
	// Value is plain data as JSON has it; remove has none.
	Value any
}

// Operations of a JSON patch.
const (
	OpAdd     = "add"
	OpReplace = "replace"
	OpRemove  = "remove"
	OpTest    = "test"
)

// Compare gives the JSON patch that makes after of before, two plain trees as a JSON parser gives them. The same trees
// give the same patch: parents before children, keys in order, elements taken out of a list from the last to the first
// and put in from the first to the last. Elements of lists are recognised by what names them, so one that is put in
// front moves the others instead of rewriting them. Nothing is moved or copied, and only [PatchOp]s of the caller test.
func Compare(before, after any) []PatchOp {
	var c comparison
	c.values("", before, after)
	return c.ops
}

type comparison struct{ ops []PatchOp }

func (c *comparison) add(op, path string, value any) {
	c.ops = append(c.ops, PatchOp{Op: op, Path: path, Value: value})
}

func (c *comparison) values(path string, before, after any) {
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			c.objects(path, b, a)
			return
		}
	case []any:
		if a, ok := after.([]any); ok {
			c.lists(path, b, a)
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		c.add(OpReplace, path, after)
	}
}

func (c *comparison) objects(path string, before, after map[string]any) {
	keys := make([]string, 0, len(before)+len(after))
	for k := range before {
		keys = append(keys, k)
	}
	for k := range after {
		if _, both := before[k]; !both {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		at := path + "/" + escapePointer(k)
		b, had := before[k]
		a, has := after[k]
		switch {
		case !has:
			c.add(OpRemove, at, nil)
		case !had:
			c.add(OpAdd, at, a)
		default:
			c.values(at, b, a)
		}
	}
}

// escapePointer writes a key as a token of a JSON pointer (RFC 6901).
func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func (c *comparison) lists(path string, before, after []any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	b, a := elementKeys(before, after)
	kept := commonOrder(b, a)
	for i := len(before) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(kept, func(p [2]int) bool { return p[0] == i }) {
			c.add(OpRemove, path+"/"+strconv.Itoa(i), nil)
		}
	}
	length, next := len(kept), 0
	for i, v := range after {
		switch {
		case next < len(kept) && kept[next][1] == i:
			next++
		case i == length:
			c.add(OpAdd, path+"/-", v)
			length++
		default:
			c.add(OpAdd, path+"/"+strconv.Itoa(i), v)
			length++
		}
	}
	for _, p := range kept {
		c.values(path+"/"+strconv.Itoa(p[1]), before[p[0]], after[p[1]])
	}
}

// elementKeys names the elements of both lists: by the first of the names that Kubernetes' lists go by, as far as every
// element has one of its own, else by the whole value.
func elementKeys(before, after []any) (b, a []string) {
	for _, name := range [...][]string{{"name"}, {"containerPort", "protocol"}, {"mountPath"}, {"devicePath"}, {"ip"}, {"topologyKey"}} {
		b, okB := keysBy(before, name)
		a, okA := keysBy(after, name)
		if okB && okA {
			return b, a
		}
	}
	return wholeKeys(before), wholeKeys(after)
}

func keysBy(list []any, names []string) ([]string, bool) {
	out := make([]string, len(list))
	seen := make(map[string]bool, len(list))
	for i, e := range list {
		m, ok := e.(map[string]any)
		if !ok || m[names[0]] == nil {
			return nil, false
		}
		parts := make([]string, len(names))
		for j, n := range names {
			parts[j] = canonical(m[n])
		}
		if out[i] = strings.Join(parts, " "); seen[out[i]] {
			return nil, false
		}
		seen[out[i]] = true
	}
	return out, true
}

func wholeKeys(list []any) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = canonical(e)
	}
	return out
}

// commonOrder gives the places, in both lists, of a longest common subsequence of names.
func commonOrder(b, a []string) [][2]int {
	var front, back [][2]int
	lo := 0
	for lo < len(b) && lo < len(a) && b[lo] == a[lo] {
		front = append(front, [2]int{lo, lo})
		lo++
	}
	hiB, hiA := len(b), len(a)
	for hiB > lo && hiA > lo && b[hiB-1] == a[hiA-1] {
		hiB, hiA = hiB-1, hiA-1
		back = append(back, [2]int{hiB, hiA})
	}
	slices.Reverse(back)
	return slices.Concat(front, middleOrder(b[lo:hiB], a[lo:hiA], lo), back)
}

func middleOrder(b, a []string, offset int) [][2]int {
	if len(b) == 0 || len(a) == 0 {
		return nil
	}
	longest := make([][]int, len(b)+1)
	for i := range longest {
		longest[i] = make([]int, len(a)+1)
	}
	for i := len(b) - 1; i >= 0; i-- {
		for j := len(a) - 1; j >= 0; j-- {
			if b[i] == a[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(b) && j < len(a); {
		switch {
		case b[i] == a[j]:
			out = append(out, [2]int{i + offset, j + offset})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
