package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// wholeOrNothing fails the test unless every file has all of its old content or all of its new one.
func wholeOrNothing(t *testing.T, root string, names ...string) (replaced int) {
	t.Helper()
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(root, name))
		old := fmt.Sprint(i + 1)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case string(data) == old+"+":
			replaced++
		case string(data) != old:
			t.Errorf("%s holds %q, neither old nor new", name, data)
		}
	}
	return replaced
}

// stepsOfARun counts the steps of a run in which nothing fails.
func stepsOfARun(t *testing.T) int {
	t.Helper()
	root := tree(t, map[string]string{"a": "1", "b": "2"})
	disk := &faultyDisk{}
	if _, problems := Replace(t.Context(), disk, inPlace(t, root, "a", "b")); len(problems) > 0 {
		t.Fatal(problems)
	}
	return len(disk.steps)
}

// The process is killed before each step in turn: from there on nothing happens any more, not even tidying up.
func TestReplaceKilled(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for n := range stepsOfARun(t) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{"a": "1", "b": "2"})
			disk := &faultyDisk{}
			disk.at = func(string, string) error {
				if len(disk.steps) > n {
					return killed
				}
				return nil
			}
			Replace(t.Context(), disk, inPlace(t, root, "a", "b"))
			wholeOrNothing(t, root, "a", "b")
			// The next run is not disturbed by what the first one left.
			if _, problems := Replace(t.Context(), System{}, inPlace(t, root, "a", "b")); len(problems) > 0 {
				t.Error(problems)
			}
		})
	}
}

// Each step in turn fails alone: no file is half-written, no temporary file is left, and the failure is reported. A
// file is changed only where the last steps fail, and then the report names it.
func TestReplaceStepFails(t *testing.T) {
	t.Parallel()
	for n := range stepsOfARun(t) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{"a": "1", "b": "2"})
			disk := &faultyDisk{}
			disk.at = func(string, string) error {
				if len(disk.steps) == n+1 {
					return syscall.ENOSPC
				}
				return nil
			}
			result, problems := Replace(t.Context(), disk, inPlace(t, root, "a", "b"))
			if len(problems) == 0 {
				t.Errorf("step %s failed and nobody says so", disk.steps[n])
			}
			if replaced := wholeOrNothing(t, root, "a", "b"); replaced != len(result.Written) {
				t.Errorf("%d files are replaced, the report says %v", replaced, result.Written)
			}
			if got := len(contents(t, root)); got != 2 {
				t.Errorf("%d files are there after step %s failed: %v", got, disk.steps[n], contents(t, root))
			}
		})
	}
}

// A disk that is full leaves nothing behind, neither half a file nor the folders made for it.
func TestReplaceDiskFull(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1"})
	written := 0
	disk := &faultyDisk{at: func(step, _ string) error {
		if step != "write" {
			return nil
		}
		if written++; written == 2 {
			return syscall.ENOSPC
		}
		return nil
	}}
	rs := append(inPlace(t, root, "a"), Replacement{Name: "new", Path: filepath.Join(root, "x", "y", "new"), Content: Bytes("content")})
	_, problems := Replace(t.Context(), disk, rs)
	wantCodes(t, "problems", problems, "E_IO new")
	if got, want := problems[0].Message, "cannot write: no space left on device"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	wantContents(t, root, map[string]string{"a": "1"})
	if _, err := os.Stat(filepath.Join(root, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder made for the output is still there: %v", err)
	}
}
