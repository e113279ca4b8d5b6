package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// tables is the folder of Istio 1.30's test tables, beside the checkout.
const tables = "conformance/istio-1.30/tables"

// readShared decodes a JSON file of the shared data, and skips the test where there is none.
func readShared(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", name))
	if os.IsNotExist(err) {
		t.Skip("The shared data is not beside the checkout.")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
