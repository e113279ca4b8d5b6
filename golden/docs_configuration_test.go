package golden

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The examples of docs/configuration.md are run from top to bottom in one folder, and what they print is compared with the
// page; -update writes it. A block behind <!-- file: NAME --> is a file of the examples, a block of console is a list of
// commands, each behind "$ ", with its output.
func TestDocsConfiguration(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a shell")
	}
	const page = "../docs/configuration.md"
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
	flagsExist(t, have)
}

// runPage gives the page with the output of its commands.
func runPage(t testing.TB, page string) string {
	t.Helper()
	dir, bin := t.TempDir(), program(t)
	var out strings.Builder
	file, fence := "", ""
	var body []string
	for line := range strings.SplitSeq(strings.TrimSuffix(page, "\n"), "\n") {
		switch {
		case fence == "" && strings.HasPrefix(line, "<!-- file: "):
			file = strings.TrimSuffix(strings.TrimPrefix(line, "<!-- file: "), " -->")
		case fence == "" && strings.HasPrefix(line, "```"):
			fence, body = line, nil
		case fence != "" && line == "```":
			text := strings.Join(body, "\n") + "\n"
			if file != "" {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if fence == "```console" {
				text = console(t, dir, bin, body)
			}
			out.WriteString(text)
			file, fence = "", ""
		case fence != "":
			body = append(body, line)
			continue
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// console runs the commands of a block and gives the block with what they print.
func console(t testing.TB, dir, bin string, body []string) string {
	t.Helper()
	var out bytes.Buffer
	for _, line := range body {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		out.WriteString(line + "\n")
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "LC_ALL=C"}
		if err := cmd.Run(); err != nil {
			if _, ok := err.(*exec.ExitError); !ok {
				t.Fatalf("%s: %v", command, err)
			}
		}
	}
	return out.String()
}

// flagsExist holds that every flag in the page's tables is one of the program.
func flagsExist(t *testing.T, page string) {
	t.Helper()
	help, err := exec.Command(filepath.Join(program(t), exe("inject")), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(--[a-z-]+)`").FindAllStringSubmatch(page, -1)
	if len(rows) == 0 {
		t.Error("the page has no table of flags")
	}
	for _, row := range rows {
		if !bytes.Contains(help, []byte(row[1]+" ")) {
			t.Errorf("the page has %s, the program has not", row[1])
		}
	}
}
