package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// conformanceCase is options.json of a case.
type conformanceCase struct {
	Dir, Name            string `json:"-"`
	Config, Values, Mesh string
	MeshSparse           string
	Revision             string
	NativeSidecars       bool
	// ExpectError is a pattern of the error in the modern corpora, a boolean in the legacy ones.
	ExpectError   json.RawMessage
	OwnEngineWant string
}

func conformanceCases(t testing.TB, corpus string) []conformanceCase {
	t.Helper()
	root := needShared(t, "conformance", corpus)
	files, err := filepath.Glob(filepath.Join(root, "*", "options.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases below %s", root)
	}
	var out []conformanceCase
	for _, f := range files {
		var c conformanceCase
		if err := json.Unmarshal(readFile(t, f), &c); err != nil {
			t.Fatal(err)
		}
		c.Dir = filepath.Dir(f)
		c.Name = corpus + "/" + filepath.Base(c.Dir)
		out = append(out, c)
	}
	return out
}

// fails tells whether the case must end in an error.
func (c conformanceCase) fails() bool {
	switch string(c.ExpectError) {
	case "", "null", "false":
		return false
	}
	return true
}

// source reads one of the three files of a case.
func (c conformanceCase) source(t testing.TB, name string) *config.Source {
	t.Helper()
	if name == "" {
		return nil
	}
	return &config.Source{Name: filepath.Base(name), Data: readFile(t, c.Dir, name)}
}

// run injects the case's input and gives the output, or the errors.
func (c conformanceCase) run(t testing.TB, o config.LoadOptions, s transform.Setup) ([]byte, []policy.Finding) {
	t.Helper()
	b, fs := config.Load(o)
	if b == nil {
		return nil, fs
	}
	s.Registry = workload.Default()
	s.Native = transform.NativeFalse
	if c.NativeSidecars {
		s.Native = transform.NativeTrue
	}
	compiled, fs := transform.Compile(b, s)
	if compiled == nil {
		return nil, fs
	}
	return streamAll(t, transform.New(compiled.Options), readFile(t, c.Dir, "input.yaml"))
}

// streamAll injects one stream; findings below error are left out.
func streamAll(t testing.TB, in *transform.Injector, input []byte) ([]byte, []policy.Finding) {
	t.Helper()
	var out bytes.Buffer
	var fs []policy.Finding
	err := in.Stream(t.Context(), "input.yaml", bytes.NewReader(input), 2, func(b transform.Batch) error {
		for _, r := range b.Results {
			out.Write(r.Raw)
			for _, f := range r.Findings {
				if f.Severity == policy.Error {
					fs = append(fs, f)
				}
			}
		}
		return nil
	})
	var f policy.Finding
	if errors.As(err, &f) {
		fs = append(fs, f)
	} else if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), fs
}

// documents parses a stream into plain data; null documents are left out.
func documents(t testing.TB, text []byte) []any {
	t.Helper()
	var out []any
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("the output does not parse: %v", err)
		}
		if len(n.Content) > 0 && !typed.IsNull(n.Content[0]) {
			out = append(out, typed.Generic(n.Content[0]))
		}
	}
}

// quantityKey finds the user's own quantities, which Istio prints anew.
var quantityKey = regexp.MustCompile(`^(cpu|memory|ephemeral-storage|storage|sizeLimit|hugepages-.*)$`)

// plain takes away the noise of Istio's typed output, as the READMEs of the data list it: of the modern corpora the named
// fields, empty or zero, of the legacy ones whatever is empty.
func plain(v any, key string, legacy bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if k == "status" && allZero(e) {
				continue
			}
			if e = plain(e, k, legacy); e != nil {
				out[k] = e
			}
		}
		if len(out) == 0 && (legacy || emptyNoise(key)) {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 && (legacy || emptyNoise(key)) {
			return nil
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e, key+"[]", legacy)
		}
		return out
	case int64:
		return plain(float64(v), key, legacy)
	case float64:
		if v == 0 && zeroNoise(key) {
			return nil
		}
		if quantityKey.MatchString(key) {
			return quantity(v)
		}
	case bool:
		if !v && zeroNoise(key) {
			return nil
		}
	case string:
		if v == "" && (key == "serviceName" || key == "serviceAccountName" || legacy && key == "value") {
			return nil
		}
		if quantityKey.MatchString(key) {
			return quantity(v)
		}
	}
	return v
}

// emptyNoise are the fields that Istio's types add or take away where they are empty.
func emptyNoise(key string) bool {
	switch key {
	case "strategy", "updateStrategy", "resources", "metadata", "containers", "nodeSelector", "tolerations", "affinity",
		"hostAliases":
		return true
	}
	return false
}

// zeroNoise are the scalars whose zero Istio's types add or leave out.
func zeroNoise(key string) bool {
	switch key {
	case "paused", "minReadySeconds", "test":
		return true
	}
	return false
}

func allZero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !allZero(e) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case int64:
		return v == 0
	case nil:
		return true
	}
	return false
}

func compare(want, got []any, legacy bool) string {
	w, g := plain(want, "", legacy), plain(got, "", legacy)
	if reflect.DeepEqual(w, g) {
		return ""
	}
	d := cmp.Diff(w, g)
	if len(d) > 4000 {
		d = d[:4000]
	}
	if d == "" {
		return "different, but not to cmp"
	}
	return d
}

// check runs one case and gives what is wrong with it.
func (c conformanceCase) check(t testing.TB, o config.LoadOptions, s transform.Setup, want string) string {
	t.Helper()
	out, fs := c.run(t, o, s)
	if c.fails() {
		if len(fs) == 0 {
			return "no error, want " + string(c.ExpectError)
		}
		return ""
	}
	if len(fs) > 0 {
		return "unexpected error: " + fs[0].Error()
	}
	legacy := strings.HasPrefix(c.Name, "istio-1.6/") || strings.HasPrefix(c.Name, "istio-1.7/")
	return compare(documents(t, readFile(t, c.Dir, want)), documents(t, out), legacy)
}

// report turns the outcome of a case into a test result, by the lists of deviations.
func report(t *testing.T, c conformanceCase, problem string, listed map[string]string) bool {
	t.Helper()
	reason, deviates := listed[c.Name]
	switch {
	case problem == "" && strings.Contains(reason, "keep their bytes"):
		t.Logf("the same as data: %s", reason)
	case problem == "" && deviates && !strings.HasPrefix(reason, "later:") && !strings.HasPrefix(reason, "embedded profile:"):
		t.Errorf("%s is listed as a deviation (%s) but does not differ", c.Name, reason)
	case problem != "" && deviates:
		t.Logf("deviates: %s", reason)
	case problem != "":
		t.Errorf("(-want +got)\n%s", problem)
		return false
	}
	return true
}

func TestConformance(t *testing.T) {
	t.Parallel()
	listed := deviations(t)
	for _, c := range conformanceCases(t, "istio-1.30") {
		t.Run(filepath.Base(c.Dir), func(t *testing.T) {
			t.Parallel()
			o := config.LoadOptions{
				Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh),
				IstioVersion: "1.30", Revision: c.Revision,
			}
			report(t, c, c.check(t, o, transform.Setup{}, "want.yaml"), listed)
		})
	}
}

// ownEngine are the cases of older versions whose own engine's output is the target.
func ownEngine(c conformanceCase) bool {
	corpus, name, _ := strings.Cut(c.Name, "/")
	switch {
	case strings.HasPrefix(name, "x-inject-label-no-"):
		return corpus == "istio-1.24" || corpus == "istio-1.25" || corpus == "istio-1.26"
	case strings.HasPrefix(name, "x-lifecycle-handlers-"):
		return corpus == "istio-1.24"
	}
	return false
}

// TestConformanceVersions runs the configs of the other minor versions, with the version found from the files alone.
func TestConformanceVersions(t *testing.T) {
	t.Parallel()
	listed := deviations(t)
	for _, version := range []string{"1.24", "1.25", "1.26", "1.27", "1.28", "1.29", "1.31"} {
		for _, c := range conformanceCases(t, "istio-"+version) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				o := config.LoadOptions{
					Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh), Revision: c.Revision,
				}
				want := "want.yaml"
				if ownEngine(c) {
					want = "want-own-engine.yaml"
				}
				report(t, c, c.check(t, o, transform.Setup{}, want), listed)
			})
		}
	}
}

// TestConformanceLegacy runs the flat configs of Istio 1.6 and 1.7, as kube-inject of that time did: without asking
// policy or annotation.
func TestConformanceLegacy(t *testing.T) {
	t.Parallel()
	listed := deviations(t)
	for _, version := range []string{"1.6", "1.7"} {
		for _, c := range conformanceCases(t, "istio-"+version) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				o := config.LoadOptions{
					Injection: c.source(t, c.Config), Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh), Revision: c.Revision,
					IstioVersion: version,
				}
				report(t, c, c.check(t, o, transform.Setup{IgnorePolicy: true}, "want.yaml"), listed)
			})
		}
	}
}

// profileConfig is the config file in whose place the embedded profile must give the same pods.
const profileConfig = "config-e1626edee6.yaml"

// TestConformanceEmbedded runs the cases of the default config with the embedded profile in its place, and each case's
// own values and mesh.
func TestConformanceEmbedded(t *testing.T) {
	t.Parallel()
	listed := deviations(t)
	n := 0
	for _, c := range conformanceCases(t, "istio-1.30") {
		if filepath.Base(c.Config) != profileConfig {
			continue
		}
		n++
		t.Run(filepath.Base(c.Dir), func(t *testing.T) {
			t.Parallel()
			o := config.LoadOptions{
				Values: c.source(t, c.Values), Mesh: c.source(t, c.Mesh), Revision: c.Revision, Embedded: transform.Embedded(),
				IstioVersion: "1.30",
			}
			report(t, c, c.check(t, o, transform.Setup{}, "want.yaml"), listed)
		})
	}
	if n != 267 {
		t.Errorf("%d cases use the default config, want 267", n)
	}
}
