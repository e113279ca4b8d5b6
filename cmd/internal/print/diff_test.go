package print

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// diffCases are contents whose difference is easy to get wrong.
func diffCases() map[string]struct{ old, new string } {
	long := numbered(30)
	return map[string]struct{ old, new string }{
		"one line":            {"a\nb\nc\n", "a\nB\nc\n"},
		"insert at start":     {"a\nb\n", "x\na\nb\n"},
		"insert at end":       {"a\nb\n", "a\nb\nx\n"},
		"remove first":        {"a\nb\n", "b\n"},
		"remove last":         {"a\nb\n", "a\n"},
		"remove all":          {"a\nb\n", ""},
		"from nothing":        {"", "a\nb\n"},
		"no final newline":    {"a\nb", "a\nc"},
		"newline added":       {"a\nb", "a\nb\n"},
		"newline removed":     {"a\nb\n", "a\nb"},
		"append behind none":  {"a", "a\nb"},
		"context has none":    {"a\nb\nc", "A\nb\nc"},
		"crlf":                {"a\r\nb\r\nc\r\n", "a\r\nx\r\nb\r\nc\r\n"},
		"mixed ends":          {"a\r\nb\nc\r\n", "a\r\nb\r\nc\r\n"},
		"cr only":             {"a\rb\rc", "a\rx\rc"},
		"two hunks":           {long, strings.Replace(strings.Replace(long, "line 3\n", "x\n", 1), "line 20\n", "", 1)},
		"contexts that meet":  {long, strings.Replace(strings.Replace(long, "line 3\n", "x\n", 1), "line 10\n", "y\n", 1)},
		"one line apart more": {long, strings.Replace(strings.Replace(long, "line 3\n", "x\n", 1), "line 11\n", "y\n", 1)},
		"repeated lines":      {"a\na\na\na\n", "a\na\na\na\na\n"},
		"blank lines":         {"\n\n\n", "\n\n"},
	}
}

// applyPatch applies a unified diff with one file the strict way: no fuzz, all counts checked.
func applyPatch(old, patch string) (string, error) {
	lines := strings.SplitAfter(old, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	at, ahead := 0, 0
	rows := strings.SplitAfter(patch, "\n")
	if len(rows) < 2 || !strings.HasPrefix(rows[0], "--- ") || !strings.HasPrefix(rows[1], "+++ ") {
		return "", errors.New("no file header")
	}
	for i := 2; i < len(rows) && rows[i] != ""; {
		from, to, err := parseHead(rows[i])
		if err != nil {
			return "", err
		}
		i++
		start := from[0] - 1
		if from[1] == 0 {
			start++
		}
		wantTo := start + ahead + 1
		if to[1] == 0 {
			wantTo--
		}
		if start < at || to[0] != wantTo {
			return "", fmt.Errorf("hunk %v %v is out of place, want start %d", from, to, wantTo)
		}
		for ; at < start; at++ {
			out.WriteString(lines[at])
		}
		nFrom, nTo := 0, 0
		for i < len(rows) && rows[i] != "" && rows[i][0] != '@' {
			sign, text := rows[i][0], rows[i][1:]
			i++
			if i < len(rows) && strings.HasPrefix(rows[i], `\`) {
				text = strings.TrimSuffix(text, "\n")
				i++
			}
			if sign == ' ' || sign == '-' {
				if at >= len(lines) || lines[at] != text {
					return "", fmt.Errorf("line %d is not %q", at+1, text)
				}
				at++
				nFrom++
			}
			if sign == ' ' || sign == '+' {
				out.WriteString(text)
				nTo++
			}
		}
		if nFrom != from[1] || nTo != to[1] {
			return "", fmt.Errorf("hunk has %d and %d lines, says %d and %d", nFrom, nTo, from[1], to[1])
		}
		ahead += nTo - nFrom
	}
	out.WriteString(strings.Join(lines[at:], ""))
	return out.String(), nil
}

// parseHead reads "@@ -12,3 +12 @@" into line and count of both sides.
func parseHead(row string) (from, to [2]int, err error) {
	fields := strings.Fields(row)
	if len(fields) != 4 || fields[0] != "@@" || fields[3] != "@@" || fields[1][0] != '-' || fields[2][0] != '+' {
		return from, to, fmt.Errorf("bad head %q", row)
	}
	from, err1 := parseRange(fields[1][1:])
	to, err2 := parseRange(fields[2][1:])
	return from, to, errors.Join(err1, err2)
}

func parseRange(text string) (pair [2]int, err error) {
	line, count, found := strings.Cut(text, ",")
	if !found {
		count = "1"
	}
	line0, err1 := strconv.Atoi(line)
	count0, err2 := strconv.Atoi(count)
	return [2]int{line0, count0}, errors.Join(err1, err2)
}

func TestDiffApplies(t *testing.T) {
	t.Parallel()
	for name, test := range diffCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for context := range 5 {
				var b bytes.Buffer
				if err := Diff(&b, "f.yaml", []byte(test.old), []byte(test.new), DiffOptions{Context: context}); err != nil {
					t.Fatal(err)
				}
				got, err := applyPatch(test.old, b.String())
				if err != nil || got != test.new {
					t.Errorf("context %d: %v\ngot %q, want %q from\n%s", context, err, got, test.new, b.String())
				}
			}
		})
	}
}

func TestDiffText(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"one line":         "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
		"from nothing":     "@@ -0,0 +1,2 @@\n+a\n+b\n",
		"remove all":       "@@ -1,2 +0,0 @@\n-a\n-b\n",
		"no final newline": "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
		"newline added":    "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
		"context has none": "@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n\\ No newline at end of file\n",
		"crlf":             "@@ -1,3 +1,4 @@\n a\r\n+x\r\n b\r\n c\r\n",
		"contexts that meet": "@@ -1,13 +1,13 @@\n line 1\n line 2\n-line 3\n+x\n line 4\n line 5\n line 6\n line 7\n line 8\n line 9\n" +
			"-line 10\n+y\n line 11\n line 12\n line 13\n",
		"one line apart more": "@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+x\n line 4\n line 5\n line 6\n" +
			"@@ -8,7 +8,7 @@\n line 8\n line 9\n line 10\n-line 11\n+y\n line 12\n line 13\n line 14\n",
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := diffCases()[name]
			var b bytes.Buffer
			if err := Diff(&b, "d/f.yaml", []byte(c.old), []byte(c.new), DiffOptions{Context: DefaultContext}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("--- a/d/f.yaml\n+++ b/d/f.yaml\n"+want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffNothing(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	old := []byte("a\nb\n")
	err := errors.Join(
		Diff(&b, "f", old, []byte("a\nb\n"), DiffOptions{}),
		DiffEdits(&b, "f", old, nil, DiffOptions{}),
		DiffEdits(&b, "f", old, []Edit{{Start: 1, End: 1}, {Start: 2, End: 4, New: []byte("b\n")}}, DiffOptions{}),
	)
	if err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestDiffName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.yaml": "a/a.yaml", "-": "a/-", "/abs/x": "a/abs/x", "my file": "a/my file\t", "ünï": "a/ünï",
		"a\tb": `"a/a\011b"`, `q"q`: `"a/q\"q"`, `b\s`: `"a/b\\s"`, "n\nü": `"a/n\012\303\274"`,
	} {
		if got := diffName("a/", name); got != want {
			t.Errorf("%q is written %q, want %q", name, got, want)
		}
	}
}

func TestDiffColor(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Diff(&b, "f", []byte("a\r\nb\n"), []byte("x\r\nb\n"), DiffOptions{Context: 3, Color: true}); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1m--- a/f\x1b[0m\n\x1b[1m+++ b/f\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n" +
		"\x1b[31m-a\x1b[0m\r\n\x1b[32m+x\x1b[0m\r\n b\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiffEdits(t *testing.T) {
	t.Parallel()
	old := "a: 1\nb: 2\nc: 3\nd: 4\n"
	insert := func(at int, text string) Edit { return Edit{Start: at, End: at, New: []byte(text)} }
	tests := map[string]struct {
		old   string
		edits []Edit
		want  string
	}{
		"a line before":   {old, []Edit{insert(5, "x: 0\n")}, "@@ -1,0 +2 @@\n+x: 0\n"},
		"behind a line":   {old, []Edit{insert(4, "\nx: 0")}, "@@ -1,0 +2 @@\n+x: 0\n"},
		"a value":         {old, []Edit{{Start: 8, End: 9, New: []byte("9")}}, "@@ -2 +2 @@\n-b: 2\n+b: 9\n"},
		"a whole line":    {old, []Edit{{Start: 5, End: 10}}, "@@ -2 +1,0 @@\n-b: 2\n"},
		"two in one line": {old, []Edit{{5, 6, []byte("B")}, {8, 9, []byte("9")}}, "@@ -2 +2 @@\n-b: 2\n+B: 9\n"},
		"two neighbours":  {old, []Edit{{8, 9, []byte("9")}, {13, 14, []byte("8")}}, "@@ -2,2 +2,2 @@\n-b: 2\n-c: 3\n+b: 9\n+c: 8\n"},
		// Insertions around lines that stay need the line-by-line comparison inside the edit.
		"line by line":       {old, []Edit{{5, 15, []byte("x: 0\nb: 2\ny: 0\nc: 3\nz: 0\n")}}, "@@ -1,0 +2 @@\n+x: 0\n@@ -2,0 +4 @@\n+y: 0\n@@ -3,0 +6 @@\n+z: 0\n"},
		"twice at one place": {old, []Edit{insert(5, "x: 0\n"), insert(5, "y: 0\n")}, "@@ -1,0 +2,2 @@\n+x: 0\n+y: 0\n"},
		"insert and change":  {old, []Edit{insert(5, "x: 0\n"), {8, 9, []byte("9")}}, "@@ -2 +2,2 @@\n-b: 2\n+x: 0\n+b: 9\n"},
		"at the end":         {old, []Edit{insert(20, "e: 5\n")}, "@@ -4,0 +5 @@\n+e: 5\n"},
		"no final newline":   {"a: 1", []Edit{insert(4, "\nb: 2")}, "@@ -1 +1,2 @@\n-a: 1\n\\ No newline at end of file\n+a: 1\n+b: 2\n\\ No newline at end of file\n"},
		"same bytes":         {old, []Edit{{5, 10, []byte("b: 2\n")}, {13, 14, []byte("8")}}, "@@ -3 +3 @@\n-c: 3\n+c: 8\n"},
		"into nothing":       {"", []Edit{insert(0, "a\n")}, "@@ -0,0 +1 @@\n+a\n"},
		"joined lines":       {old, []Edit{{4, 5, []byte(" ")}}, "@@ -1,2 +1 @@\n-a: 1\n-b: 2\n+a: 1 b: 2\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := DiffEdits(&b, "f", []byte(test.old), test.edits, DiffOptions{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("--- a/f\n+++ b/f\n"+test.want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got, err := applyPatch(test.old, b.String()); err != nil || got != applyEdits(test.old, test.edits) {
				t.Errorf("applied: %q, %v", got, err)
			}
		})
	}
}

func TestDiffEditsBad(t *testing.T) {
	t.Parallel()
	for name, edits := range map[string][]Edit{
		"outside":      {{Start: 1, End: 9}},
		"backwards":    {{Start: 2, End: 1}},
		"negative":     {{Start: -1, End: 1}},
		"overlap":      {{Start: 0, End: 2}, {Start: 1, End: 3}},
		"out of order": {{Start: 4, End: 4, New: []byte("x\n")}, {Start: 0, End: 0, New: []byte("y\n")}},
	} {
		var b bytes.Buffer
		if err := DiffEdits(&b, "f", []byte("a\nb\n"), edits, DiffOptions{}); err == nil || b.Len() > 0 {
			t.Errorf("%s: no error, wrote %q", name, b.String())
		}
	}
}

func applyEdits(old string, edits []Edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(old[at:e.Start])
		b.Write(e.New)
		at = e.End
	}
	b.WriteString(old[at:])
	return b.String()
}

// Any edits of any text: both ways give a patch that leads to the new text.
func TestDiffRandom(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", "\n", "\n", "\r\n", "x: y", "  "}
	word := func(n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 5_000 {
		old := word(40)
		var edits []Edit
		for at := 0; at <= len(old) && random.IntN(6) > 0; {
			start := at + random.IntN(len(old)-at+1)
			end := start + random.IntN(min(6, len(old)-start+1))
			edits = append(edits, Edit{start, end, []byte(word(6))})
			at = end
		}
		want := applyEdits(old, edits)
		o := DiffOptions{Context: random.IntN(4)}
		var byEdits, byContent bytes.Buffer
		if err := errors.Join(DiffEdits(&byEdits, "f", []byte(old), edits, o), Diff(&byContent, "f", []byte(old), []byte(want), o)); err != nil {
			t.Fatalf("%q %v: %v", old, edits, err)
		}
		for _, patch := range []string{byEdits.String(), byContent.String()} {
			if patch == "" && old == want {
				continue
			}
			if got, err := applyPatch(old, patch); err != nil || got != want {
				t.Fatalf("%v: %q with %v gives %q, want %q:\n%s", err, old, edits, got, want, patch)
			}
		}
	}
}

// The same for texts long enough to be parted by lines that occur once.
func TestDiffRandomLong(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var old, new []string
		for i := range 400 {
			line := fmt.Sprintf("line %d\n", random.IntN(300))
			old = append(old, line)
			switch random.IntN(12) {
			case 0:
			case 1:
				new = append(new, line, fmt.Sprintf("added %d\n", i))
			case 2:
				new = append(new, old[random.IntN(len(old))])
			default:
				new = append(new, line)
			}
		}
		before, after := strings.Join(old, ""), strings.Join(new, "")
		o := DiffOptions{Context: random.IntN(4)}
		var b, whole bytes.Buffer
		err := errors.Join(
			Diff(&b, "f", []byte(before), []byte(after), o),
			DiffEdits(&whole, "f", []byte(before), []Edit{{0, len(before), []byte(after)}}, o),
		)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := applyPatch(before, b.String()); err != nil || got != after {
			t.Fatalf("%v:\n%s", err, b.String())
		}
		if diff := cmp.Diff(b.String(), whole.String()); diff != "" {
			t.Fatalf("one edit of everything is another difference:\n%s", diff)
		}
	}
}

// git itself takes every patch.
func TestDiffGitApply(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	cases := diffCases()
	names := map[string]string{"one line": "my dir/ü f.yaml", "crlf": "tab\there.yaml", "two hunks": "a.yaml"}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := names[name]
			if file == "" {
				file = "f.yaml"
			}
			root := t.TempDir()
			path := filepath.Join(root, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			for _, context := range []int{DefaultContext, 0} {
				if err := os.WriteFile(path, []byte(test.old), 0o644); err != nil {
					t.Fatal(err)
				}
				var b bytes.Buffer
				if err := Diff(&b, file, []byte(test.old), []byte(test.new), DiffOptions{Context: context}); err != nil {
					t.Fatal(err)
				}
				args := []string{"apply", "--whitespace=nowarn", "-"}
				if context == 0 {
					args = append(args, "--unidiff-zero")
				}
				cmd := exec.Command(git, args...)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(root), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
				cmd.Stdin = &b
				patch := b.String()
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("context %d: git apply: %v\n%s\n%s", context, err, out, patch)
				}
				got, err := os.ReadFile(path)
				if err != nil && test.new != "" || string(got) != test.new {
					t.Errorf("context %d: git made %q, want %q (%v)", context, got, test.new, err)
				}
			}
		})
	}
}
