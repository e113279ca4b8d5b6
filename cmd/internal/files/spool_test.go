package files

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestSpool(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit   int64
		noDir   bool
		spilled bool
	}{
		"in memory":          {limit: 1 << 20},
		"exactly the limit":  {limit: 60_000},
		"one byte too many":  {limit: 59_999, spilled: true},
		"from the beginning": {limit: 1, spilled: true},
		"no folder":          {limit: 1, noDir: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := &Spool{Limit: test.limit, Dir: dir}
			if test.noDir {
				s.Dir = ""
			}
			var want bytes.Buffer
			for i := range 600 {
				part := bytes.Repeat([]byte{byte(i)}, 100)
				want.Write(part)
				if n, err := s.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if (s.file != nil) != test.spilled {
				t.Errorf("spilled: %v, want %v", s.file != nil, test.spilled)
			}
			// The file has no name: whatever happens to the process, nothing is left.
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
				t.Errorf("files in the folder: %v (%v)", entries, err)
			}
			for range 2 {
				var got bytes.Buffer
				n, err := s.WriteTo(&got)
				if err != nil || n != s.Len() || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("%d bytes of %d, error %v", got.Len(), want.Len(), err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is written after WriteTo is there the next time, in memory and in a file.
func TestSpoolGrowsAfterCopy(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{1, 100} {
		s := &Spool{Limit: limit, Dir: t.TempDir()}
		for _, want := range []string{"ab", "abab"} {
			var got strings.Builder
			if _, err := s.Write([]byte("ab")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.WriteTo(&got); err != nil || got.String() != want {
				t.Errorf("limit %d: %q, want %q (%v)", limit, got.String(), want, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The caller may use its buffer again.
func TestSpoolCopies(t *testing.T) {
	t.Parallel()
	s := &Spool{}
	buffer := []byte("one")
	if _, err := s.Write(buffer); err != nil {
		t.Fatal(err)
	}
	copy(buffer, "two")
	var got strings.Builder
	if _, err := s.WriteTo(&got); err != nil || got.String() != "one" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

// An error sticks: later writes cannot make a hole in the output.
func TestSpoolErrors(t *testing.T) {
	t.Parallel()
	s := &Spool{Limit: 2, Dir: t.TempDir() + "/missing"}
	if _, err := s.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	_, err := s.Write([]byte("c"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	if _, again := s.Write(nil); !errors.Is(again, os.ErrNotExist) {
		t.Errorf("the second write gives %v", again)
	}
	if _, err := s.WriteTo(&strings.Builder{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("WriteTo gives %v", err)
	}
	full := &Spool{}
	if _, err := full.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	if _, err := full.WriteTo(fullWriter{}); !errors.Is(err, errFull) {
		t.Errorf("a full target gives %v", err)
	}
	spilled := &Spool{Limit: 1, Dir: t.TempDir()}
	if _, err := spilled.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	if _, err := spilled.WriteTo(fullWriter{}); !errors.Is(err, errFull) {
		t.Errorf("a full target gives %v", err)
	}
	if err := spilled.Close(); err != nil {
		t.Error(err)
	}
	if _, err := spilled.Write([]byte("ab")); err == nil {
		t.Error("a closed spool takes bytes")
	}
}

// A small output costs no more than a small piece of memory.
func TestSpoolSmall(t *testing.T) {
	t.Parallel()
	s := &Spool{}
	for range 20 {
		if _, err := s.Write(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.chunks) != 1 || cap(s.chunks[0]) > firstChunk {
		t.Errorf("%d pieces, the first of %d bytes", len(s.chunks), cap(s.chunks[0]))
	}
}

var errFull = errors.New("no space left on device")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }
