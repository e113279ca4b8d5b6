package print

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// However much is inserted at however many places, no line that stays is called changed.
func TestDiffManyInsertions(t *testing.T) {
	t.Parallel()
	for _, size := range []int{20, 60, 200} {
		var old, new strings.Builder
		for i := range 300 {
			line := fmt.Sprintf("  - name: v%d\n", i%40)
			if i%40 == 0 {
				line = fmt.Sprintf("  name: workload-%d\n", i)
			}
			old.WriteString(line)
			new.WriteString(line)
			if i%30 == 10 {
				for j := range size {
					fmt.Fprintf(&new, "    - name: v%d\n      x: %d\n", j%20, j)
				}
			}
		}
		var b bytes.Buffer
		if err := Diff(&b, "f", []byte(old.String()), []byte(new.String()), DiffOptions{}); err != nil {
			t.Fatal(err)
		}
		if removed, added := strings.Count(b.String(), "\n-"), strings.Count(b.String(), "\n+")-1; removed != 0 || added != 20*size {
			t.Errorf("%d lines inserted: %d removed, %d added", 20*size, removed, added)
		}
	}
}

func TestIncreasing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ pairs, want [][2]int }{
		"none":      {nil, nil},
		"in order":  {[][2]int{{0, 1}, {1, 2}}, [][2]int{{0, 1}, {1, 2}}},
		"reversed":  {[][2]int{{0, 3}, {1, 2}, {2, 1}}, [][2]int{{2, 1}}},
		"one moved": {[][2]int{{0, 9}, {1, 1}, {2, 2}, {3, 3}}, [][2]int{{1, 1}, {2, 2}, {3, 3}}},
		"two rows":  {[][2]int{{0, 5}, {1, 6}, {2, 1}, {3, 2}, {4, 3}}, [][2]int{{2, 1}, {3, 2}, {4, 3}}},
		"with gaps": {[][2]int{{0, 2}, {1, 1}, {2, 4}, {3, 3}, {4, 7}}, [][2]int{{1, 1}, {3, 3}, {4, 7}}},
	} {
		if diff := cmp.Diff(test.want, increasing(test.pairs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
