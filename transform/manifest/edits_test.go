package manifest

import (
	"bytes"
	"testing"
)

func TestInverse(t *testing.T) {
	t.Parallel()
	p := parseDoc(t, "f.yaml", "a: {} # x\nl:\n- 1\n- 2\nz: 'q'")
	res, fs := Apply(p, []Change{
		{Op: Set, Path: steps("a.b"), Value: tree(t, "c")},
		{Op: Remove, Path: steps("l[0]")},
		{Op: Set, Path: steps("z"), Value: tree(t, "other")},
		{Op: Set, Path: steps("w"), Value: tree(t, "1")},
	})
	if fs != nil {
		t.Fatal(fs)
	}
	if want := "a: # x\n  b: c\nl:\n- 2\nz: 'other'\nw: 1"; string(res.Raw) != want {
		t.Errorf("got %q", res.Raw)
	}
	back, err := Splice(res.Raw, res.Inverse(p.Doc.Raw))
	if err != nil || !bytes.Equal(back, p.Doc.Raw) {
		t.Errorf("back: %q, %v", back, err)
	}
	if _, err := Splice([]byte("abc"), []Edit{{0, 2, nil}, {1, 3, nil}}); err == nil {
		t.Error("overlapping edits are accepted")
	}
}

// TestAfter: the document behind an edit has its own lines and places, as if it had been read.
func TestAfter(t *testing.T) {
	t.Parallel()
	p := parseDoc(t, "f.yaml", "a: 1\nb: [x, y]\n")
	res, fs := Apply(p, []Change{{Op: Set, Path: steps("b[0]"), Value: tree(t, "é☃")}, {Op: Set, Path: steps("c"), Value: tree(t, "z")}})
	if fs != nil {
		t.Fatal(fs)
	}
	after := p.After(res)
	if got := after.Position(after.Get(steps("b[1]"))).String(); got != "f.yaml:2:9" {
		t.Errorf("b[1] is at %s", got)
	}
	res, fs = Apply(after, []Change{{Op: Set, Path: steps("b[1]"), Value: tree(t, "w")}})
	if want := "a: 1\nb: [é☃, w]\nc: z\n"; fs != nil || string(res.Raw) != want || res.Reencoded {
		t.Errorf("got %q, %v", res.Raw, fs)
	}
	if p.After(Result{Raw: p.Doc.Raw}) != nil {
		t.Error("a result that changed nothing gives a document")
	}
}
