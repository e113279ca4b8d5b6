package golden

import (
	"maps"
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

// deviations reads the lists of what is done otherwise on purpose: the shared one and the project's own.
func deviations(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{shared("conformance", "deviations.txt"), "deviations.txt"} {
		if _, err := os.Stat(name); err == nil {
			maps.Copy(out, reasons(t, name))
		}
	}
	return out
}

// reasons reads a list of the form corpus/case TAB reason.
func reasons(t testing.TB, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(string(readFile(t, name))) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			name, reason, _ := strings.Cut(line, "\t")
			out[name] = reason
		}
	}
	return out
}
