package manifest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kube-inject/inject/policy"
)

func TestEncodings(t *testing.T) {
	t.Parallel()
	text := "\ufeffa: é😀\r\n---\nb: ☃\n"
	for _, enc := range []Encoding{UTF8, UTF16LE, UTF16BE} {
		data := enc.Encode([]byte(text))
		got, found, f := Decode("f.yaml", data)
		if f != nil || found != enc || string(got) != text {
			t.Errorf("%s: %q %v %v", enc, got, found, f)
		}
		r := NewReader("f.yaml", iotest.OneByteReader(bytes.NewReader(data)))
		docs, err := readAll(r)
		if err != nil || len(docs) != 2 || r.Encoding() != enc || docs[1].Line != 2 {
			t.Errorf("%s: %d documents, %v", enc, len(docs), err)
		}
		var out []byte
		for _, d := range docs {
			out = append(out, r.Encoding().Encode(d.Raw)...)
		}
		if !bytes.Equal(out, data) {
			t.Errorf("%s: bytes are not those of before", enc)
		}
	}
}

func TestEncodingErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, at, text string }{
		"NUL":                {"a: 1\n---\nb: é\x00\n", "f.yaml:3:5", "NUL"},
		"bell":               {"# \a", "f.yaml:1:3", "U+0007"},
		"Latin-1":            {"a: caf\xe9\n", "f.yaml:1:7", "UTF-8"},
		"cut off":            {"a: \xe2\x98", "f.yaml:1:4", "UTF-8"},
		"surrogate":          {"\xff\xfea\x00\n\x00\x00\xd8\n\x00", "f.yaml:2:1", "UTF-16"},
		"half a unit":        {"\xff\xfea\x00b", "f.yaml:1:2", "UTF-16"},
		"UTF-32":             {"\xff\xfe\x00\x00a\x00\x00\x00", "f.yaml:1:1", "UTF-32"},
		"UTF-16, no mark":    {"a\x00:\x00", "f.yaml:1:1", "UTF-16"},
		"long, word by word": {strings.Repeat("abcdefg\n", 9) + "abc\x01", "f.yaml:10:4", "U+0001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readAll(NewReader("f.yaml", strings.NewReader(c.in)))
			var f policy.Finding
			if !errors.As(err, &f) || f.Code != "E_ENCODING" || f.Position.String() != c.at || !strings.Contains(f.Message, c.text) {
				t.Errorf("got %v, want %s with %q", err, c.at, c.text)
			}
		})
	}
}

func TestReaderError(t *testing.T) {
	t.Parallel()
	r := NewReader("f.yaml", io.MultiReader(strings.NewReader("a: 1\n---\nb: 2\n"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	docs, err := readAll(r)
	if len(docs) != 1 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

// TestReaderBlocks: documents across block borders come out whole, whatever their size.
func TestReaderBlocks(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40 {
		b.WriteString("--- # " + strings.Repeat("-", i) + "\ndata: |\n" + strings.Repeat(" ....---...\n", 1+i*i*40))
	}
	b.WriteString("---\n" + strings.Repeat("{\"a\": [1, 2, 3]}\n", 9000))
	text := b.String()
	want, _ := Split("f.yaml", []byte(text))
	got, err := readAll(NewReader("f.yaml", strings.NewReader(text)))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d documents, want %d, %v", len(got), len(want), err)
	}
	for i := range want {
		if !bytes.Equal(want[i].Raw, got[i].Raw) || want[i].Line != got[i].Line || want[i].Offset != got[i].Offset {
			t.Fatalf("document %d differs", i)
		}
	}
}

func TestJoiner(t *testing.T) {
	t.Parallel()
	type source struct {
		text string
		json bool
	}
	for name, c := range map[string]struct {
		in   []source
		want string
	}{
		"one":               {[]source{{"\ufeffa: 1", false}}, "\ufeffa: 1"},
		"separator missing": {[]source{{"a: 1\n", false}, {"b: 2\n", false}}, "a: 1\n---\nb: 2\n"},
		"separator there":   {[]source{{"a: 1\n", false}, {"---\nb: 2\n", false}}, "a: 1\n---\nb: 2\n"},
		"line end missing":  {[]source{{"a: 1", false}, {"\ufeffb: 2", false}, {"--- #\n", false}}, "a: 1\n---\nb: 2\n--- #\n"},
		"line ends kept":    {[]source{{"x: 0\r\na: 1", false}, {"b: 2", false}}, "x: 0\r\na: 1\r\n---\r\nb: 2"},
		"JSON":              {[]source{{"{}", true}, {"{}\n", true}, {"{}", true}}, "{}\n{}\n{}"},
		"JSON and YAML":     {[]source{{"{}", true}, {"a: 1", false}, {"{}", true}}, "{}\n---\na: 1\n---\n{}"},
		"directive":         {[]source{{"a: 1\n", false}, {"%YAML 1.1\n---\nb: 2\n...\n", false}, {"%YAML 1.1\n---\n", false}}, "a: 1\n...\n%YAML 1.1\n---\nb: 2\n...\n%YAML 1.1\n---\n"},
		"empty":             {[]source{{"", false}, {"a: 1", false}, {"", false}}, "a: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var j Joiner
			var out []byte
			for _, s := range c.in {
				glue, drop, err := j.Begin([]byte(s.text), s.json, UTF8)
				if err != nil {
					t.Fatal(err)
				}
				out = append(append(out, glue...), s.text[drop:]...)
				j.Wrote([]byte(s.text[drop:]))
			}
			if string(out) != c.want {
				t.Errorf("got %q, want %q", out, c.want)
			}
		})
	}
	var j Joiner
	if _, _, err := j.Begin([]byte("a"), false, UTF8); err != nil {
		t.Error(err)
	}
	if _, _, err := j.Begin([]byte("a"), false, UTF16LE); err == nil {
		t.Error("mixed encodings are accepted")
	}
}
