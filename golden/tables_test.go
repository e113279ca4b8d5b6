package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// tablePlaces says for every table of the conformance data which package tests it row by row, or why nothing does.
func tablePlaces() map[string]string {
	return map[string]string{
		"admission-http.json":                  "later: the admission command has an issue of its own",
		"admission-review":                     "later: the admission command has an issue of its own",
		"annotation-validation.json":           "policy, and transform/config for proxy.istio.io/config",
		"app-probers.json":                     "transform/pod",
		"append-multus-network.json":           "transform/template",
		"clean-proxy-config.json":              "transform/template",
		"enable-prometheus-merge.json":         "transform/pod",
		"ignored-namespaces.json":              "policy",
		"inject-required.json":                 "policy",
		"merge-or-append-probers.json":         "not ours: an earlier injection is taken out before probes are rewritten, so there is nothing to merge with",
		"native-sidecar-annotation.json":       "transform/pod",
		"native-sidecar-detect.json":           "golden: TestNativeDetectTable",
		"native-sidecar-placement.json":        "transform/pod",
		"omit-nil.json":                        "transform/template",
		"otel-resource-attributes.json":        "transform/template",
		"parse-inject-envs.json":               "transform/pod",
		"parse-ports.json":                     "policy",
		"parse-status.json":                    "transform/pod",
		"ports-skip-udp.json":                  "transform/template",
		"proxy-image.json":                     "transform/pod",
		"should-rewrite-app-http-probers.json": "transform/pod",
		"template-functions.json":              "transform/template",
		"update-cluster-envs.json":             "transform/pod",
		"validate-annotations.json":            "policy",
		"validate-resource-quantity.json":      "policy",
		"webhook-selectors.json":               "policy",
	}
}

// TestTablesHaveAPlace holds that no table is forgotten: each is read by name in the tests of the package listed.
func TestTablesHaveAPlace(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(needShared(t, "conformance", "istio-1.30", "tables"))
	if err != nil {
		t.Fatal(err)
	}
	places := tablePlaces()
	for _, e := range entries {
		place, ok := places[e.Name()]
		if !ok {
			t.Errorf("%s is tested nowhere", e.Name())
			continue
		}
		if strings.HasPrefix(place, "later:") || strings.HasPrefix(place, "not ours:") || strings.HasPrefix(place, "golden:") {
			continue
		}
		pkg, _, _ := strings.Cut(place, ",")
		if !readsTable(t, pkg, strings.TrimSuffix(e.Name(), ".json")) {
			t.Errorf("no test of %s reads %s", pkg, e.Name())
		}
	}
}

func readsTable(t *testing.T, pkg, table string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(string(readFile(t, f)), table) {
			return true
		}
	}
	return false
}

// TestNativeDetectTable runs the rows of one node through --kube-version.
func TestNativeDetectTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		KubeletVersions []string
		Mode            string
		ClusterAccess   *bool
		Want            bool
	}
	if err := json.Unmarshal(readFile(t, needShared(t, "conformance", "istio-1.30", "tables", "native-sidecar-detect.json")), &rows); err != nil {
		t.Fatal(err)
	}
	otherwise := map[string]string{
		"v2.0.0":        "Istio looks at the minor version alone",
		"not-a-version": "a version that is none is an error",
	}
	ran := 0
	for _, row := range rows {
		if len(row.KubeletVersions) != 1 || row.KubeletVersions[0] == "" {
			continue // several nodes, or none: there is one Kubernetes version here
		}
		version := row.KubeletVersions[0]
		b, fs := config.Load(config.LoadOptions{Embedded: transform.Embedded()})
		if b == nil {
			t.Fatal(fs)
		}
		s := transform.Setup{Registry: workload.Default(), KubeVersion: version}
		switch row.Mode {
		case "true":
			s.Native = transform.NativeTrue
		case "false":
			s.Native = transform.NativeFalse
		}
		c, fs := transform.Compile(b, s)
		if reason, ok := otherwise[version]; ok && row.Mode == "auto" {
			if c != nil && c.Native == row.Want {
				t.Errorf("%s: listed as decided otherwise (%s), but it is not", version, reason)
			}
			continue
		}
		ran++
		if c == nil {
			t.Errorf("%s: %v", version, fs)
		} else if c.Native != row.Want {
			t.Errorf("%s %s: native %v", row.Mode, version, c.Native)
		}
	}
	if ran < 8 {
		t.Errorf("only %d rows ran", ran)
	}
}
