package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	none := []Finding{{Code: "a"}, {Code: "b", Severity: Warning}}
	if HasErrors(none) || Errors(none) != nil {
		t.Error("infos and warnings count as errors")
	}
	mixed := []Finding{{Code: "x", Severity: Error}, none[1], {Code: "y", Severity: Error}}
	if !HasErrors(mixed) {
		t.Error("an error does not count")
	}
	want := []Finding{{Code: "x", Severity: Error}, {Code: "y", Severity: Error}}
	if d := cmp.Diff(want, Errors(mixed)); d != "" {
		t.Error(d)
	}
}
