package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kube-inject/inject/cmd/internal/files"
)

// heldText is longer than a block and has its Namespace at the end.
func heldText() string {
	return strings.Repeat("kind: Thing\napiVersion: example.org/v1\nmetadata: {name: filler}\n---\n", 20000) +
		"kind: Namespace\napiVersion: v1\nmetadata: {name: shop, labels: {a: b}}\n"
}

func stdinSurvey(t *testing.T, r io.Reader) (*survey, *files.Input) {
	t.Helper()
	p := &Process{In: r, TempDir: t.TempDir()}
	inputs, _, problems := (&inputFlags{}).resolve(p, []string{"-"}, false)
	if len(problems) > 0 || len(inputs) != 1 {
		t.Fatal(problems)
	}
	return newSurvey(p, inputs), &inputs[0]
}

// TestHeldStream asks before, in the middle of and after reading a stream: the reader gets every byte once, and the
// answer is the same.
func TestHeldStream(t *testing.T) {
	t.Parallel()
	text := heldText()
	for _, at := range []int{0, 1, 1000, len(text) / 2, len(text)} {
		s, in := stdinSurvey(t, iotest.OneByteReader(iotest.DataErrReader(strings.NewReader(text))))
		if at > 0 {
			s, in = stdinSurvey(t, strings.NewReader(text))
		}
		r, err := in.Open()
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, at)
		if _, err := io.ReadFull(r, got); err != nil {
			t.Fatal(err)
		}
		if s.surroundings().Namespace("shop") == nil {
			t.Errorf("asked at %d: the Namespace at the end is not found", at)
		}
		rest, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(append(got, rest...), []byte(text)) {
			t.Errorf("asked at %d: %v, %d bytes of %d", at, err, at+len(rest), len(text))
		}
		s.close()
	}
}

// TestHeldSpills keeps a stream that is larger than its share of memory in a file.
func TestHeldSpills(t *testing.T) {
	t.Parallel()
	text := heldText()
	s, in := stdinSurvey(t, strings.NewReader(text))
	s.held[0].spool.Limit = 1000
	if s.surroundings().Namespace("shop") == nil {
		t.Error("the Namespace is not found")
	}
	r, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != text {
		t.Errorf("%v, %d bytes of %d", err, len(got), len(text))
	}
	s.close()
}

// TestHeldFails gives the error of a broken stream to the reader, not to the survey.
func TestHeldFails(t *testing.T) {
	t.Parallel()
	s, in := stdinSurvey(t, io.MultiReader(strings.NewReader("kind: A\n---\n"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if s.surroundings().Namespace("shop") != nil {
		t.Error("a Namespace from nowhere")
	}
	r, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != io.ErrUnexpectedEOF || string(got) != "kind: A\n---\n" {
		t.Errorf("%v after %q", err, got)
	}
}
