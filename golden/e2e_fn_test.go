package golden

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestFn runs fn/*.txtar: the KRM function and the patches, on the built program and without anybody else's tools.
func TestFn(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scriptParams(t, filepath.Join("fn", "*.txtar")))
}
