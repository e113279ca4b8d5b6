package golden

import (
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocsExplain runs the examples of docs/explain.md, as TestDocsConfiguration does those of its page.
func TestDocsExplain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a shell")
	}
	const page = "../docs/explain.md"
	have := string(readFile(t, page))
	want := runPage(t, have)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s differs from what the program prints (-program +page); make docs writes it:\n%s", page, diff)
	}
}
