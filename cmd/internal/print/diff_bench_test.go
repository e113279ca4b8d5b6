package print

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkDiff compares both ways on a stream in which every tenth document has a block inserted. Twice the
// documents should cost twice the time where the edits are known.
func BenchmarkDiff(b *testing.B) {
	const document = "---\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n"
	block := []byte(strings.Repeat("      - name: istio-proxy\n", 60))
	for _, documents := range []int{1_000, 10_000, 20_000} {
		old := []byte(strings.Repeat(document, documents))
		var edits []Edit
		for i := 10; i <= documents; i += 10 {
			edits = append(edits, Edit{Start: i * len(document), End: i * len(document), New: block})
		}
		text := []byte(applyEdits(string(old), edits))
		b.Run(fmt.Sprintf("edits/%d", documents), func(b *testing.B) {
			b.SetBytes(int64(len(old)))
			for b.Loop() {
				if err := DiffEdits(io.Discard, "f", old, edits, DiffOptions{Context: DefaultContext}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("general/%d", documents), func(b *testing.B) {
			b.SetBytes(int64(len(old)))
			for b.Loop() {
				if err := Diff(io.Discard, "f", old, text, DiffOptions{Context: DefaultContext}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
