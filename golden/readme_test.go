package golden

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCommands holds that the readme's table names the commands that there are, and that its first command runs.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	readme := string(readFile(t, "..", "README.md"))
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `inject ([a-z]+)` \\|").FindAllStringSubmatch(readme, -1) {
		listed[m[1]] = true
	}
	help, _, status := execute(t, ".", nil, "--help")
	if status != 0 {
		t.Fatalf("status %d", status)
	}
	_, commands, _ := strings.Cut(string(help), "\nCommands:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	for line := range strings.Lines(commands) {
		name := strings.Fields(line)[0]
		if name == "help" || name == "completion" || name == "version" {
			continue
		}
		if !listed[name] {
			t.Errorf("the readme does not list %s", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("the readme lists %s, which the program does not have", name)
	}
	if !strings.Contains(readme, "go run ./cmd/inject -f samples/shop.yaml") {
		t.Error("the readme has another first command; run that here")
	}
	cmd := exec.Command("go", "run", "./cmd/inject", "-q", "-f", "samples/shop.yaml")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), "name: istio-proxy") != 2 {
		t.Errorf("the readme's first command: %v\n%s", err, out)
	}
	for _, m := range regexp.MustCompile(`\((docs/[a-z-]+\.md)\)`).FindAllStringSubmatch(readme, -1) {
		readFile(t, filepath.Join("..", m[1]))
	}
}
