package golden

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/typed"
)

// TestMinimalDifference holds, over every corpus file, that an injected text differs from its input by no more lines
// than the objects differ by values: the objects are compared here by themselves, without the writer's knowledge.
func TestMinimalDifference(t *testing.T) {
	t.Parallel()
	in := embeddedInjector(t, transform.Setup{})
	checked := 0
	for _, file := range corpusFiles(t) {
		text := readFile(t, file)
		if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) ||
			bytes.Contains(text, []byte(policy.AnnotationStatus)) {
			continue
		}
		o := through(t, in, file, text)
		if len(o.errs) > 0 || o.injected == 0 || o.reencoded > 0 || bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			continue // JSON has lines for brackets, and a comma changes the line before
		}
		d := objectDifference{}
		d.lists(parsed(t, file, text), parsed(t, file, o.text))
		removed, added := lineDifference(text, o.text)
		checked++
		if slack := flowLines(removed); len(removed) > d.changed+d.removed+slack {
			t.Errorf("%s: %d lines are gone, but only %d values changed and %d went: %q", file, len(removed), d.changed, d.removed, removed)
		}
		if limit := d.added + d.changed + len(removed) + bytes.Count(o.text, []byte("# "+policy.AnnotationRestore)); len(added) > limit {
			t.Errorf("%s: %d lines are new, want at most %d", file, len(added), limit)
		}
	}
	if checked < 100 {
		t.Errorf("only %d files were checked", checked)
	}
}

// parsed gives the documents of a text as plain data.
func parsed(t *testing.T, file string, text []byte) []any {
	t.Helper()
	docs, _ := splitText(file, text)
	var out []any
	for _, d := range docs {
		if p, _ := d.Parse(); p == nil {
			// A broken document that is no workload passes; it must be the same text on both sides.
			out = append(out, string(d.Raw))
		} else if p.Root != nil {
			out = append(out, typed.Generic(p.Root))
		}
	}
	return out
}

// objectDifference counts how two objects differ, in values and in lines that values need.
type objectDifference struct{ changed, removed, added int }

// lines is how many lines a value needs at most in block style.
func lines(v any) int {
	switch v := v.(type) {
	case map[string]any:
		n := 0
		for _, e := range v {
			n += 1 + lines(e)
		}
		return n
	case []any:
		n := 0
		for _, e := range v {
			n += 1 + lines(e)
		}
		return n
	case string:
		return strings.Count(v, "\n")
	}
	return 0
}

func (d *objectDifference) values(a, b any) {
	if reflect.DeepEqual(a, b) {
		return
	}
	am, aMap := a.(map[string]any)
	bm, bMap := b.(map[string]any)
	al, aList := a.([]any)
	bl, bList := b.([]any)
	switch {
	case aMap && bMap:
		d.maps(am, bm)
	case aList && bList:
		d.lists(al, bl)
	default:
		d.changed++
		d.added += lines(b)
		d.removed += lines(a)
	}
}

func (d *objectDifference) maps(a, b map[string]any) {
	for k, v := range a {
		if w, ok := b[k]; ok {
			d.values(v, w)
		} else {
			d.removed += 1 + lines(v)
		}
	}
	for k, w := range b {
		if _, ok := a[k]; !ok {
			d.added += 1 + lines(w)
		}
	}
}

// lists compares elements by what names them, else by place; an element that only moved is gone and new.
func (d *objectDifference) lists(a, b []any) {
	place := map[string]any{}
	var order []string
	for i, e := range a {
		k := nameOf(e, i)
		place[k] = e
		order = append(order, k)
	}
	var kept []string
	for i, e := range b {
		k := nameOf(e, i)
		if old, ok := place[k]; ok {
			d.values(old, e)
			delete(place, k)
			kept = append(kept, k)
		} else {
			d.added += 1 + lines(e)
		}
	}
	for _, e := range place {
		d.removed += 1 + lines(e)
	}
	at := 0
	for _, k := range order {
		if at < len(kept) && kept[at] == k {
			at++
		}
	}
	if at < len(kept) {
		for _, e := range a {
			d.removed += 1 + lines(e)
			d.added += 1 + lines(e)
		}
	}
}

func nameOf(e any, i int) string {
	if m, ok := e.(map[string]any); ok {
		for _, key := range []string{"mountPath", "name", "containerPort"} {
			if v, ok := m[key]; ok {
				return fmt.Sprint(key, "=", v)
			}
		}
	}
	return fmt.Sprint("#", i)
}

// lineDifference gives the lines that are only in a, and those only in b, by a longest common subsequence.
func lineDifference(a, b []byte) (removed, added []string) {
	x, y := strings.SplitAfter(string(a), "\n"), strings.SplitAfter(string(b), "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	width := len(y) + 1
	best := make([]int32, (len(x)+1)*width)
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i] == y[j]:
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			removed = append(removed, x[i])
			i++
		default:
			added = append(added, y[j])
			j++
		}
	}
	return append(removed, x[i:]...), append(added, y[j:]...)
}

// flowLines counts lines that had to change for what was added inside of them: flow collections, aliases, empty values,
// and the last line of a text without a line end.
func flowLines(lines []string) int {
	n := 0
	for _, l := range lines {
		s := strings.TrimSpace(l)
		if strings.ContainsAny(s, "{}[]~|>*&") || strings.HasSuffix(s, "null") || strings.HasSuffix(s, ":") || !strings.HasSuffix(l, "\n") {
			n++
		}
	}
	return n
}
