package golden

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
)

type manifestDocument = manifest.Document

func splitText(file string, text []byte) ([]manifest.Document, []policy.Finding) {
	return manifest.Split(file, text)
}

func itoa(n int) string { return strconv.Itoa(n) }

// realFile is an entry of corpus/real/index.json.
type realFile struct {
	File, Expect string
	Docs         int
	Workloads    []string
}

func realIndex(t testing.TB) []realFile {
	t.Helper()
	b, err := os.ReadFile(shared("corpus", "real", "index.json"))
	if err != nil {
		return nil
	}
	var list []realFile
	if err := json.Unmarshal(b, &list); err != nil {
		var wrapped struct{ Files []realFile }
		if err := json.Unmarshal(b, &wrapped); err != nil {
			t.Fatal(err)
		}
		list = wrapped.Files
	}
	return list
}

func realFiles(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, f := range realIndex(t) {
		out = append(out, shared("corpus", "real", f.File))
	}
	return out
}
