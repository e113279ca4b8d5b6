package golden

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// doorPages are the pages whose commands and files must be those of a script: of each page, e2e/TOOLS_PAGE.txtar and
// fn/PAGE*.txtar.
func doorPages() []string { return []string{"kustomize", "helm", "argocd", "flux"} }

// unrun are the beginnings of commands that no test can run: they need a cluster or a registry.
func unrun() []string { return []string{"kubectl -n istio-system get ", "flux push "} }

// TestDoorPages holds that what the pages show is what runs: each command stands in a script, each file is one of a
// script's or of contrib.
func TestDoorPages(t *testing.T) {
	t.Parallel()
	for _, page := range doorPages() {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			lines, files := pageScripts(t, page)
			text := string(readFile(t, "..", "docs", page+".md"))
			commands := 0
			for _, c := range pageCommands(text) {
				if slices.ContainsFunc(unrun(), func(p string) bool { return strings.HasPrefix(c, p) }) {
					continue
				}
				commands++
				if !slices.Contains(lines, c) {
					t.Errorf("docs/%s.md: no script runs %q", page, c)
				}
			}
			if commands == 0 {
				t.Error("the page shows no command that runs")
			}
			for name, want := range pageFiles(text) {
				if got, ok := files[name]; !ok || got != want {
					t.Errorf("docs/%s.md: %s is not the file of a script:\n%s", page, name, want)
				}
			}
		})
	}
}

// pageCommands are the lines of the sh blocks that are no file.
func pageCommands(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?ms)(\\*\\*`[^`]+`\\*\\*\n)?^```sh\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			continue
		}
		for line := range strings.Lines(m[2]) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				out = append(out, line)
			}
		}
	}
	return out
}

// pageFiles are the blocks below a file's name.
func pageFiles(text string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^\\*\\*`([^`]+)`\\*\\*\n```[a-z]+\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}

// pageScripts gives the command lines of a page's scripts, by what they run, and their files.
func pageScripts(t *testing.T, page string) (lines []string, files map[string]string) {
	t.Helper()
	scripts, _ := filepath.Glob(filepath.Join("e2e", "*_"+page+".txtar"))
	more, _ := filepath.Glob(filepath.Join("fn", page+"*.txtar"))
	files = map[string]string{}
	helm := regexp.MustCompile(`\bhelm[34]\b`)
	prefix := regexp.MustCompile(`^(\[[^]]*\] )?(! )?(exec|status \d+) `)
	for _, s := range append(scripts, more...) {
		a, err := txtar.ParseFile(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			files[f.Name] = string(f.Data)
		}
		for line := range strings.Lines(string(a.Comment)) {
			line = strings.TrimSpace(line)
			if !prefix.MatchString(line) {
				continue
			}
			line = helm.ReplaceAllString(prefix.ReplaceAllString(line, ""), "helm")
			if inner, ok := strings.CutPrefix(line, "sh -c '"); ok {
				line = strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'")
			}
			lines = append(lines, line)
		}
	}
	plugin := string(readFile(t, "..", "contrib", "helm", "plugin.yaml"))
	files["plugin.yaml"] = plugin[strings.Index(plugin, "apiVersion:"):]
	return lines, files
}

// TestGoPage holds that the program of docs/go-api.md is the example that runs.
func TestGoPage(t *testing.T) {
	t.Parallel()
	example := string(readFile(t, "..", "transform", "filter_example_test.go"))
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(readFile(t, "..", "docs", "go-api.md")), -1)
	if len(blocks) == 0 {
		t.Fatal("the page has no program")
	}
	for _, b := range blocks {
		if !strings.Contains(example, b[1]) {
			t.Errorf("this is not part of the example that runs:\n%s", b[1])
		}
	}
}
