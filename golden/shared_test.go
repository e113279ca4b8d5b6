package golden

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared is where the conformance data, corpora and fixtures are, beside the checkout.
func shared(elem ...string) string {
	return filepath.Join(append([]string{"..", "..", "shared"}, elem...)...)
}

// needShared skips where the data are absent.
func needShared(t testing.TB, elem ...string) string {
	t.Helper()
	path := shared(elem...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not beside the checkout", filepath.Join(elem...))
	}
	return path
}

// readFile gives a file or fails.
func readFile(t testing.TB, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// deviations reads lists of the form corpus/case TAB reason: the shared one and the project's own.
func deviations(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{shared("conformance", "deviations.txt"), "deviations.txt"} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			if line := s.Text(); line != "" && line[0] != '#' {
				name, reason, _ := strings.Cut(line, "\t")
				out[name] = reason
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
