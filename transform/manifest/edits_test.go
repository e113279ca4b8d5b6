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

func TestComment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"simple":       {"a: 1\n", "a: 1\n# r: x\n"},
		"no last line": {"a: 1", "a: 1\n# r: x"},
		"CRLF":         {"a: 1\r\nb: 2", "a: 1\r\nb: 2\r\n# r: x"},
		"end marker":   {"a: 1\n...\n", "a: 1\n# r: x\n...\n"},
		"blank lines":  {"a: 1\n\n", "a: 1\n\n# r: x\n"},
		"JSON":         {"{}\n", "{}\n"},
	} {
		docs, _ := Split("f.yaml", []byte(c.in))
		got := docs[0].AppendComment("# r: x")
		if string(got) != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		again, _ := Split("f.yaml", got)
		rest, without, ok := again[0].CutComment("# r: ")
		if name == "JSON" {
			if ok {
				t.Errorf("%s: found a comment", name)
			}
			continue
		}
		if !ok || rest != "x" || string(without) != c.in {
			t.Errorf("%s: cut %q leaves %q", name, rest, without)
		}
	}
}
