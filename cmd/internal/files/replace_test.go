package files

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

// inPlace reads the named files of a folder and gives replacements that append "+" to each.
func inPlace(t *testing.T, root string, names ...string) []Replacement {
	t.Helper()
	var out []Replacement
	for _, name := range names {
		path := filepath.Join(root, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Replacement{Name: name, Path: path, Read: info, Content: Bytes(append(data, '+'))})
	}
	return out
}

// contents reads all files of a folder and those below it.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantContents(t *testing.T, root string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, contents(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func wantCodes(t *testing.T, what string, got []policy.Finding, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, codes(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1", "b": "2", "d/c": "3"})
	result, problems := Replace(t.Context(), System{}, inPlace(t, root, "a", "b", "d/c"))
	wantCodes(t, "problems", problems)
	if diff := cmp.Diff(Result{Written: []string{"a", "b", "d/c"}}, result); diff != "" {
		t.Error(diff)
	}
	wantContents(t, root, map[string]string{"a": "1+", "b": "2+", "d/c": "3+"})
}

// An unchanged file keeps its time, and nothing is created beside it.
func TestReplaceUnchanged(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"same": strings.Repeat("x", 200_000), "other": "1", "size": "ab"})
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(root, "same"), old, old); err != nil {
		t.Fatal(err)
	}
	rs := inPlace(t, root, "same", "other", "size")
	rs[0].Content = Bytes(strings.Repeat("x", 200_000))
	rs[2].Content = Bytes("ac")
	disk := &faultyDisk{}
	result, problems := Replace(t.Context(), disk, rs)
	wantCodes(t, "problems", problems)
	if diff := cmp.Diff(Result{Written: []string{"other", "size"}, Unchanged: []string{"same"}}, result); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(filepath.Join(root, "same"))
	if err != nil || !info.ModTime().Equal(old) {
		t.Errorf("time is %v, want %v (%v)", info.ModTime(), old, err)
	}
	if n := strings.Count(strings.Join(disk.steps, " "), "create"); n != 2 {
		t.Errorf("%d temporary files for two changed files", n)
	}
}

// The order of the steps is the promise: nothing is renamed before every temporary file is complete and synced.
func TestReplaceSteps(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1", "b": "2"})
	disk := &faultyDisk{}
	if _, problems := Replace(t.Context(), disk, inPlace(t, root, "a", "b")); len(problems) > 0 {
		t.Fatal(problems)
	}
	want := "lstat stat openwrite lstat stat openwrite " +
		"create write chmod sync close create write chmod sync close " +
		"stat stat stat rename stat rename syncdir"
	if diff := cmp.Diff(want, strings.Join(disk.steps, " ")); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestReplaceKeepsMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o755, 0o666, 0o640 | fs.ModeSetgid} {
		root := tree(t, map[string]string{"a": "1"})
		path := filepath.Join(root, "a")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, problems := Replace(t.Context(), System{}, inPlace(t, root, "a")); len(problems) > 0 {
			t.Fatal(problems)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != mode {
			t.Errorf("mode is %v, want %v (%v)", info.Mode(), mode, err)
		}
	}
}

func TestReplaceLink(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"d/a": "1", "link": "->other", "other": "->d/a", "dangling": "->nowhere", "s/x": "y"})
	rs := inPlace(t, root, "link")
	if _, problems := Replace(t.Context(), System{}, rs); len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, want := range map[string]string{"link": "other", "other": "d/a"} {
		if got, err := os.Readlink(filepath.Join(root, name)); err != nil || got != want {
			t.Errorf("%s leads to %q now (%v)", name, got, err)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(root, "d", "a")); string(got) != "1+" {
		t.Errorf("target holds %q", got)
	}
	_, problems := Replace(t.Context(), System{}, []Replacement{{Name: "dangling", Path: filepath.Join(root, "dangling"), Content: Bytes("x")}})
	wantCodes(t, "problems", problems, "E_IO dangling")
}

func TestReplaceHardLink(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1"})
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "b")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	result, problems := Replace(t.Context(), System{}, inPlace(t, root, "a"))
	wantCodes(t, "problems", problems)
	wantCodes(t, "notices", result.Notices, "W_HARDLINK a")
	wantContents(t, root, map[string]string{"a": "1+", "b": "1"})
}

func TestReplaceNewFile(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"old": "1", "folder/x": "x"})
	plain := filepath.Join(root, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	umasked, err := os.Stat(plain)
	if err != nil {
		t.Fatal(err)
	}
	rs := []Replacement{
		{Name: "new", Path: filepath.Join(root, "new"), Content: Bytes("n")},
		{Name: "old", Path: filepath.Join(root, "old"), Content: Bytes("o")},
		{Name: "deep", Path: filepath.Join(root, "x", "y", "deep"), Content: Bytes("d")},
	}
	result, problems := Replace(t.Context(), System{}, rs)
	wantCodes(t, "problems", problems)
	if diff := cmp.Diff([]string{"new", "old", "deep"}, result.Written); diff != "" {
		t.Error(diff)
	}
	wantContents(t, root, map[string]string{"new": "n", "old": "o", "x/y/deep": "d", "plain": "", "folder/x": "x"})
	if info, err := os.Stat(filepath.Join(root, "new")); err != nil || info.Mode() != umasked.Mode() {
		t.Errorf("mode of a new file is %v, want %v (%v)", info.Mode(), umasked.Mode(), err)
	}
	_, problems = Replace(t.Context(), System{}, []Replacement{{Name: "folder", Path: filepath.Join(root, "folder"), Content: Bytes("n")}})
	wantCodes(t, "problems", problems, "E_IO folder")
}

// All files that cannot be written are named, and none is touched.
func TestReplaceNoPermission(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1", "b": "2", "c": "3"})
	disk := &faultyDisk{at: func(step, name string) error {
		if step == "openwrite" && filepath.Base(name) != "a" {
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}
		return nil
	}}
	_, problems := Replace(t.Context(), disk, inPlace(t, root, "a", "b", "c"))
	wantCodes(t, "problems", problems, "E_IO b", "E_IO c")
	if got := problems[0].Message; got != "cannot write: permission denied" {
		t.Errorf("message is %q", got)
	}
	if slices.Contains(disk.steps, "create") {
		t.Error("a temporary file was made before the permissions were known")
	}
	wantContents(t, root, map[string]string{"a": "1", "b": "2", "c": "3"})
}

// The same on the real disk, for a file and for a folder.
func TestReplaceReadOnly(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere, so permissions cannot be tested on the disk itself")
	}
	root := tree(t, map[string]string{"f/a": "1", "d/b": "2"})
	if err := os.Chmod(filepath.Join(root, "f", "a"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, "d"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "d"), 0o755) })
	for _, name := range []string{"f/a", "d/b"} {
		_, problems := Replace(t.Context(), System{}, inPlace(t, root, name))
		wantCodes(t, "problems", problems, "E_IO "+name)
	}
	wantContents(t, root, map[string]string{"f/a": "1", "d/b": "2"})
}

func TestReplaceOwnerLost(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1"})
	path := filepath.Join(root, "a")
	if os.Geteuid() != 0 || os.Chown(path, 12345, 12345) != nil {
		t.Skip("only root can give a file away, so there is no file of another owner to replace")
	}
	if err := os.Chmod(path, 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	disk := &faultyDisk{at: func(step, _ string) error {
		if step == "chown" {
			return fs.ErrPermission
		}
		return nil
	}}
	result, problems := Replace(t.Context(), disk, inPlace(t, root, "a"))
	wantCodes(t, "problems", problems)
	wantCodes(t, "notices", result.Notices, "W_OWNER a")
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o755 {
		t.Errorf("a file that changed its owner has mode %v; the set-user-id bit must be gone (%v)", info.Mode(), err)
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if result, _ = Replace(t.Context(), System{}, inPlace(t, root, "a")); len(result.Notices) > 0 {
		t.Errorf("notices although the owner can be kept: %v", result.Notices)
	}
	info, err = os.Stat(path)
	if uid, gid, _ := ownerOf(info); err != nil || uid != 12345 || gid != 12345 {
		t.Errorf("owner is %d:%d (%v)", uid, gid, err)
	}
}

// Whatever makes a file another one between reading and renaming stops the run before the first rename.
func TestReplaceChanged(t *testing.T) {
	t.Parallel()
	tests := map[string]func(path string) error{
		"longer": func(path string) error { return os.WriteFile(path, []byte("22"), 0o644) },
		"another time": func(path string) error {
			later := time.Now().Add(time.Minute)
			return os.Chtimes(path, later, later)
		},
		"another file": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+"2", []byte("x"), 0o644); err != nil {
				return err
			}
			if err := os.Chtimes(path+"2", info.ModTime(), info.ModTime()); err != nil {
				return err
			}
			return os.Rename(path+"2", path)
		},
		"gone": os.Remove,
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{"a": "1", "b": "2", "c": "3"})
			var after map[string]string
			disk := &faultyDisk{}
			syncs := 0
			disk.at = func(step, _ string) error {
				if step == "sync" {
					syncs++
				}
				if step == "sync" && syncs == 3 {
					if err := change(filepath.Join(root, "b")); err != nil {
						t.Error(err)
					}
					after = contents(t, root)
				}
				return nil
			}
			result, problems := Replace(t.Context(), disk, inPlace(t, root, "a", "b", "c"))
			wantCodes(t, "problems", problems, "E_CHANGED b")
			if len(result.Written) > 0 || slices.Contains(disk.steps, "rename") {
				t.Error("a file was replaced")
			}
			for name := range after {
				if strings.HasSuffix(name, ".tmp") {
					delete(after, name)
				}
			}
			wantContents(t, root, after)
		})
	}
}

// A file that changed since it was read is found even when it changed before Replace began.
func TestReplaceChangedBefore(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1", "b": "2"})
	rs := inPlace(t, root, "a", "b")
	if err := os.WriteFile(rs[0].Path, []byte("edited meanwhile"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(rs[1].Path); err != nil {
		t.Fatal(err)
	}
	_, problems := Replace(t.Context(), System{}, rs[:1])
	wantCodes(t, "problems", problems, "E_CHANGED a")
	_, problems = Replace(t.Context(), System{}, rs)
	wantCodes(t, "problems", problems, "E_CHANGED b")
	wantContents(t, root, map[string]string{"a": "edited meanwhile"})
}

// A rename that fails half-way says which files are done; the others are as before, and no temporary file is left.
func TestReplaceRenameFails(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"})
	disk := &faultyDisk{at: func(step, name string) error {
		if step == "rename" && filepath.Base(name) == "c" {
			return &os.LinkError{Op: "rename", Err: fs.ErrPermission}
		}
		return nil
	}}
	result, problems := Replace(t.Context(), disk, inPlace(t, root, "a", "b", "c", "d"))
	wantCodes(t, "problems", problems, "E_IO c")
	if got, want := problems[0].Hint, "already replaced: a, b; the files after them are as before"; got != want {
		t.Errorf("hint is %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"a", "b"}, result.Written); diff != "" {
		t.Error(diff)
	}
	if disk.steps[len(disk.steps)-1] != "syncdir" {
		t.Error("what is done was not made durable")
	}
	wantContents(t, root, map[string]string{"a": "1+", "b": "2+", "c": "3", "d": "4"})
}

func TestReplaceInterrupted(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"lstat", "openwrite", "create", "write", "chmod", "sync", "close"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{"a": "1", "b": "2"})
			ctx, cancel := context.WithCancel(t.Context())
			disk := &faultyDisk{at: func(step, _ string) error {
				if step == at {
					cancel()
				}
				return nil
			}}
			result, problems := Replace(ctx, disk, inPlace(t, root, "a", "b"))
			wantCodes(t, "problems", problems, "E_IO")
			if len(result.Written) > 0 {
				t.Error("a file was replaced")
			}
			wantContents(t, root, map[string]string{"a": "1", "b": "2"})
		})
	}
	// Once the first file is replaced the rest follows: half a run would be worse.
	root := tree(t, map[string]string{"a": "1", "b": "2"})
	ctx, cancel := context.WithCancel(t.Context())
	disk := &faultyDisk{at: func(step, _ string) error {
		if step == "rename" {
			cancel()
		}
		return nil
	}}
	if _, problems := Replace(ctx, disk, inPlace(t, root, "a", "b")); len(problems) > 0 {
		t.Error(problems)
	}
	wantContents(t, root, map[string]string{"a": "1+", "b": "2+"})
}

// A leftover of a run that was killed is passed over and left alone.
func TestReplaceLeftover(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "1", ".inject-0.tmp": "left"})
	if _, problems := Replace(t.Context(), System{}, inPlace(t, root, "a")); len(problems) > 0 {
		t.Fatal(problems)
	}
	wantContents(t, root, map[string]string{"a": "1+", ".inject-0.tmp": "left"})
}
