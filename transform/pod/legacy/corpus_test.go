package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
)

// corpus is where the recorded cases of Istio 1.6 and 1.7 lie, beside the project.
const corpus = "../../../../shared/conformance"

// recorded is one case of the corpus: the files of a run and what kube-inject printed.
type recorded struct {
	name    string // corpus/case, as the list of deviations writes it
	dir     string
	version Version

	Config, Values, Mesh, Revision string
	ExpectError                    bool
}

func cases(t testing.TB) []recorded {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the recorded cases of Istio are not beside this checkout")
	}
	var out []recorded
	for corpusName, version := range map[string]Version{"istio-1.6": V16, "istio-1.7": V17} {
		files, err := filepath.Glob(filepath.Join(corpus, corpusName, "*", "options.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			dir := filepath.Dir(file)
			c := recorded{name: corpusName + "/" + filepath.Base(dir), dir: dir, version: version}
			if err := json.Unmarshal(c.read(t, "options.json"), &c); err != nil {
				t.Fatal(err)
			}
			out = append(out, c)
		}
	}
	if len(out) < 479 {
		t.Fatalf("%d recorded cases, 479 or more were expected", len(out))
	}
	return out
}

func (c recorded) read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// engine loads the case's files; an error is one that kube-inject's user would see too.
func (c recorded) engine(t testing.TB) (*Engine, error) {
	t.Helper()
	var file struct {
		Template            string            `json:"template"`
		Templates           map[string]string `json:"templates"`
		InjectedAnnotations map[string]string `json:"injectedAnnotations"`
	}
	if err := yaml.Unmarshal(c.read(t, c.Config), &file); err != nil {
		return nil, err
	}
	if len(file.Templates) > 0 {
		return nil, errors.New("a modern config is not for this engine")
	}
	cfg := Config{Template: file.Template, Version: c.version, Revision: c.Revision, InjectedAnnotations: file.InjectedAnnotations}
	if err := yaml.Unmarshal(c.read(t, c.Values), &cfg.Values); err != nil {
		return nil, err
	}
	mesh, fs := ParseMesh(c.read(t, c.Mesh), c.version)
	if err := firstError(fs); err != nil {
		return nil, err
	}
	cfg.Mesh = mesh
	e, fs := New(cfg)
	return e, firstError(fs)
}

func firstError(fs []policy.Finding) error {
	for _, f := range fs {
		if f.Severity == policy.Error {
			return f
		}
	}
	return nil
}

// documents splits a stream at its separators, without those that hold nothing.
func documents(text []byte) [][]byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	var out [][]byte
	for _, doc := range strings.Split("\n"+string(text), "\n---\n") {
		doc = strings.TrimSuffix(doc, "\n---")
		var v any
		if yaml.Unmarshal([]byte(doc), &v) == nil && v == nil {
			continue
		}
		out = append(out, []byte(doc))
	}
	return out
}

// template is where a kind keeps its pod template.
type place []string

// places by group and kind; extensions is the group that Deployment, DaemonSet and ReplicaSet came from.
func podPlace(apiVersion, kind string) place {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group = ""
	}
	switch group + "/" + kind {
	case "/Pod":
		return place{}
	case "apps/Deployment", "apps/DaemonSet", "apps/ReplicaSet", "apps/StatefulSet", "extensions/Deployment",
		"extensions/DaemonSet", "extensions/ReplicaSet", "batch/Job", "/ReplicationController",
		"apps.openshift.io/DeploymentConfig", "/DeploymentConfig":
		return place{"spec", "template"}
	case "batch/CronJob":
		return place{"spec", "jobTemplate", "spec", "template"}
	}
	return nil
}

// injected is one workload of a document with its outcome.
type injected struct {
	workload Workload
	after    corev1.PodTemplateSpec
	trace    Trace
}

// inject runs the engine on a decoded document and gives the document with the results in their places.
func inject(e *Engine, doc map[string]any, seen func(injected)) (map[string]any, error) {
	apiVersion, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	if items, ok := doc["items"].([]any); ok && kind == "List" {
		for i, it := range items {
			out, err := inject(e, it.(map[string]any), seen)
			if err != nil {
				return nil, err
			}
			items[i] = out
		}
		return doc, nil
	}
	at := podPlace(apiVersion, kind)
	if at == nil {
		return doc, nil
	}
	parent, node := map[string]any(nil), doc
	for _, key := range at {
		next, ok := node[key].(map[string]any)
		if !ok {
			return doc, nil // no pod template: passed with a notice
		}
		parent, node = node, next
	}
	var w Workload
	if err := typed(node, &w.Pod); err != nil {
		return nil, err
	}
	var head struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	if err := typed(doc, &head); err != nil {
		return nil, err
	}
	w.TypeMeta, w.ObjectMeta = head.TypeMeta, head.ObjectMeta
	if w.Pod.Spec.HostNetwork {
		return doc, nil // decided in package policy
	}
	before := w.Pod.DeepCopy()
	after, fs, trace := e.Inject(w)
	if err := firstError(fs); err != nil {
		return nil, err
	}
	if !equalJSON(before, w.Pod) {
		return nil, errors.New("the workload was changed")
	}
	if trace.Skipped == "" {
		seen(injected{w, after, trace})
	}
	var result map[string]any
	if err := typed(after, &result); err != nil {
		return nil, err
	}
	if parent == nil {
		doc["metadata"], doc["spec"] = result["metadata"], result["spec"]
	} else {
		parent[at[len(at)-1]] = result
	}
	return doc, nil
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// typed moves data between generic and typed form, coercing scalars as Istio's reader did.
func typed(from, into any) error {
	text, err := yaml.Marshal(from)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}
