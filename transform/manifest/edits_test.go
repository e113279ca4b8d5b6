package manifest

import (
	"bytes"
	"testing"
)

func TestInverse(t *testing.T) {
	t.Parallel()
	p := parseDoc(t, "f.yaml", "a: {} # x\nl:\n- 1\n- 2\nz: 'q'")
	res, fs := Apply(p, []Change{
		{Op: Set, Path: steps("a.b"), Value: tree(t, "c")}, {Op: Remove, Path: steps("l[0]")},
		{Op: Set, Path: steps("z"), Value: tree(t, "other")}, {Op: Set, Path: steps("w"), Value: tree(t, "1")},
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
