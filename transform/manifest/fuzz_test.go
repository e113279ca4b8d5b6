package manifest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// seed adds the inputs of the shared corpus, where it is present, and a few of our own.
func seed(f *testing.F, add func([]byte)) {
	for _, s := range []string{
		"", "---\n...\n", "a: 1\n---\nb: |+\n  x\n\n", "\ufeff# c\n---\n\ufeff? a\n: - b\n", "{\"a\":[1,{}]}{\"b\":\"\\u0041\"}",
		"a: &x {b: c}\nd:\n  <<: *x\n  e: [*x, 'q', \"w\"] # f\n", "kind: Pod\nspec:\n  containers:\n  -\n    name: a", "%YAML 1.2\n---\na: >2-\n    b\n   c\n",
		"---", "?", "a: b\rc: d\u2028e: 'f\u0085g'\n", "---x\n--- {a: b}\n",
	} {
		add([]byte(s))
	}
	files, _ := filepath.Glob(filepath.Join(corpus, "nasty", "*", "input.*"))
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && len(b) < 4096 {
			add(b)
		}
	}
}

func FuzzSplitJoin(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, fs := Split("f.yaml", data)
		var joined []byte
		index, line := 0, 1
		bad := false
		for _, x := range fs {
			bad = bad || x.Code == "E_ENCODING"
		}
		for _, d := range docs {
			if d.Offset != int64(len(joined)) || d.Line != line {
				t.Fatalf("document at %d line %d, want %d line %d", d.Offset, d.Line, len(joined), line)
			}
			if d.Index != 0 {
				if index++; d.Index != index {
					t.Fatalf("document %d, want %d", d.Index, index)
				}
			}
			joined = append(joined, d.Raw...)
			line += countBreaks(d.Raw)
			if len(d.Raw) == 0 {
				t.Fatal("empty document")
			}
			if !bad {
				if c, _ := d.Sniff(sniffSet()); c == Pass {
					passIsRight(t, d)
				}
			}
		}
		if !bytes.Equal(joined, data) {
			t.Fatal("join is not the input")
		}
		if bad || markOf(data) != UTF8 {
			return
		}
		got, err := readAll(NewReader("f.yaml", iotest.HalfReader(bytes.NewReader(data))))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(pieces(docs), pieces(got)); d != "" {
			t.Fatalf("reader (-split +reader):\n%s", d)
		}
	})
}

// passIsRight: a document that passes unparsed holds no registered kind at its top.
func passIsRight(t *testing.T, d Document) {
	p, _ := d.Parse()
	if p == nil || p.Root == nil {
		return
	}
	if k := Resolve(Lookup(p.Root, "kind")); k != nil && k.Value != "Service" {
		if groups, ok := sniffSet()[k.Value]; ok && len(groups) == 0 {
			t.Fatalf("passed unparsed, but is a %s:\n%q", k.Value, d.Raw)
		}
	}
}

func FuzzParseApply(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b, uint64(len(b))) })
	f.Fuzz(func(t *testing.T, data []byte, chance uint64) {
		docs, fs := Split("f.yaml", data)
		for _, x := range fs {
			if x.Code == "E_ENCODING" {
				return
			}
		}
		for _, d := range docs {
			p, fs := d.Parse()
			if p == nil {
				for _, x := range fs {
					if x.Position.Line < d.Line || x.Position.Line > d.Line+countBreaks(d.Raw) {
						t.Fatalf("position outside of the document: %v", x)
					}
				}
				continue
			}
			if p.Root == nil {
				continue
			}
			r := rand.New(rand.NewPCG(chance, 1))
			changes := randomChanges(r, p)
			res, fs := Apply(p, changes)
			if fs != nil {
				// E_VERIFY is a refusal: the library's encoder cannot write every tree, and then nothing is written.
				if fs[0].Code != "E_TYPE" && fs[0].Code != "E_VERIFY" {
					t.Fatalf("%v\n%q\n%s", fs, d.Raw, describe(changes))
				}
				continue
			}
			checkEdits(t, d.Raw, res)
		}
	})
}

func FuzzJSONRoundTrip(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, data []byte) {
		end, state := skipJSON(data, skipSpace(data, 0))
		whole := state == jsonOK && skipSpace(data, end) == len(data)
		if scanText(data).bad >= 0 {
			return
		}
		if valid := json.Valid(data); valid != whole {
			t.Fatalf("JSON is %v, scanner says %v", valid, whole)
		}
		if !whole {
			return
		}
		docs, _ := Split("f.json", data)
		if len(docs) != 1 {
			t.Fatalf("%d documents", len(docs))
		}
		p, _ := docs[0].Parse()
		if p == nil {
			return
		}
		var want, got any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Skip()
		}
		pl := &planner{p: p, cs: &changeSet{}, raw: docs[0].Raw}
		text := pl.flowValue(nil, p.Root, flowLook{json: true, colon: " ", comma: " "}, "")
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}
