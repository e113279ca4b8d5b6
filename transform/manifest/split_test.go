package manifest

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// cutUp lists the documents of a stream as "index:line:raw".
type piece struct {
	Index, Line int
	Raw         string
}

func pieces(docs []Document) []piece {
	var out []piece
	for _, d := range docs {
		out = append(out, piece{d.Index, d.Line, string(d.Raw)})
	}
	return out
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    string
		want  []piece
		codes []string
	}{
		"empty":         {"", nil, nil},
		"blank":         {" \n\t\n", []piece{{0, 1, " \n\t\n"}}, nil},
		"comments only": {"# a\n# b", []piece{{0, 1, "# a\n# b"}}, nil},
		"one":           {"a: 1\n", []piece{{1, 1, "a: 1\n"}}, nil},
		"prologue":      {"# c\n\n---\na: 1\n", []piece{{1, 1, "# c\n\n---\na: 1\n"}}, nil},
		"two":           {"a: 1\n---\nb: 2", []piece{{1, 1, "a: 1\n"}, {2, 2, "---\nb: 2"}}, nil},
		"empty documents": {"---\n---\n\n---\n# c\n", []piece{
			{1, 1, "---\n"}, {2, 2, "---\n\n"}, {3, 4, "---\n# c\n"},
		}, nil},
		"end marker": {"a: 1\n...\n# c\n---\nb: 2\n...\n", []piece{
			{1, 1, "a: 1\n...\n"}, {2, 3, "# c\n---\nb: 2\n...\n"},
		}, nil},
		"after the last end": {"a: 1\n...\n# c\n", []piece{{1, 1, "a: 1\n...\n"}, {0, 3, "# c\n"}}, nil},
		"bare":               {"a: 1\n...\nb: 2\n", []piece{{1, 1, "a: 1\n...\n"}, {2, 3, "b: 2\n"}}, []string{"W_BAREDOC"}},
		"directive": {"%YAML 1.2\n---\na: 1\n...\n%YAML 1.2\n---\nb: 2\n", []piece{
			{1, 1, "%YAML 1.2\n---\na: 1\n...\n"}, {2, 5, "%YAML 1.2\n---\nb: 2\n"},
		}, nil},
		"content": {"a: |\n ---\n b\n----\n--- # c\nc: 1\n--- {d: 1}\n", []piece{
			{1, 1, "a: |\n ---\n b\n----\n"}, {2, 5, "--- # c\nc: 1\n"}, {3, 7, "--- {d: 1}\n"},
		}, nil},
		"in a scalar": {"a: \"x\n---\ny\"\n", []piece{{1, 1, "a: \"x\n"}, {2, 2, "---\ny\"\n"}}, nil},
		"glued":       {"a: 1\n---b: 2\n", []piece{{1, 1, "a: 1\n---b: 2\n"}}, []string{"E_SEPARATOR"}},
		"CR":          {"a: 1\r---\rb: 2\r", []piece{{1, 1, "a: 1\r"}, {2, 2, "---\rb: 2\r"}}, nil},
		"CRLF":        {"a: 1\r\n---\r\nb: 2\r\n", []piece{{1, 1, "a: 1\r\n"}, {2, 2, "---\r\nb: 2\r\n"}}, nil},
		"LS":          {"a: 1\u2028---\u0085b: 2", []piece{{1, 1, "a: 1\u2028"}, {2, 2, "---\u0085b: 2"}}, nil},
		"BOM": {"\ufeffa: 1\n\ufeff---\nb: 2\n---\n\ufeffc: 3\n", []piece{
			{1, 1, "\ufeffa: 1\n"}, {2, 2, "\ufeff---\nb: 2\n"}, {3, 4, "---\n\ufeffc: 3\n"},
		}, nil},
		"JSON stream": {"{\"a\":1}\n\n{\"b\":2} {\"c\":3}{\"d\":4}\n", []piece{
			{1, 1, "{\"a\":1}\n"}, {2, 2, "\n{\"b\":2} "}, {3, 3, "{\"c\":3}"}, {4, 3, "{\"d\":4}\n"},
		}, nil},
		"JSON and YAML": {"{\"a\":1}\n---\nb: 1\n", []piece{{1, 1, "{\"a\":1}\n"}, {2, 2, "---\nb: 1\n"}}, nil},
		"flow YAML":     {"{a: 1}\n{b: 1}\n", []piece{{1, 1, "{a: 1}\n{b: 1}\n"}}, nil},
		"NUL":           {"a: 1\n---\nb: \x00\n", []piece{{1, 1, "a: 1\n"}, {2, 2, "---\nb: \x00\n"}}, []string{"E_ENCODING"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, fs := Split("f.yaml", []byte(c.in))
			if d := cmp.Diff(c.want, pieces(docs)); d != "" {
				t.Errorf("documents (-want +got):\n%s", d)
			}
			var codes []string
			for _, f := range fs {
				codes = append(codes, f.Code)
			}
			if d := cmp.Diff(c.codes, codes); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
			if len(codes) > 0 && codes[0] == "E_ENCODING" {
				return
			}
			for how, r := range map[string]io.Reader{
				"whole": bytes.NewReader([]byte(c.in)), "bytewise": iotest.OneByteReader(bytes.NewReader([]byte(c.in))),
			} {
				got, err := readAll(NewReader("f.yaml", r))
				if err != nil {
					t.Errorf("%s: %v", how, err)
				}
				if d := cmp.Diff(c.want, pieces(got)); d != "" {
					t.Errorf("%s: reader (-want +got):\n%s", how, d)
				}
			}
		})
	}
}

func readAll(r *Reader) ([]Document, error) {
	var docs []Document
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, err
		}
		docs = append(docs, d)
	}
}
