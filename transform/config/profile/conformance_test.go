package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// config is the injection config that the profile stands in for.
const config = "config-e1626edee6.yaml"

// caseOptions is the part of a case's options.json that is used here.
type caseOptions struct {
	Config, Values, Mesh, Revision string
	NativeSidecars                 bool
	ExpectError                    *string
}

// TestConformance runs the recorded cases of Istio 1.30 with the profile in the place of their config. It finds pod
// templates in the plainest way: what depends on the decision or on finding workloads is not asked here.
func TestConformance(t *testing.T) {
	t.Parallel()
	other := deviations(t)
	cases, err := filepath.Glob(filepath.Join(shared(t, ""), "*", "options.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, file := range cases {
		var o caseOptions
		decodeFile(t, file, &o)
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		if filepath.Base(o.Config) != config {
			continue
		}
		run++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if why := other[name]; why != "" {
				t.Skip(why)
			}
			conform(t, dir, o)
		})
	}
	if run != 267 {
		t.Errorf("%d cases use %s, want 267", run, config)
	}
}

// deviations gives the cases that differ on purpose, with the reason.
func deviations(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(shared(t, "")), "deviations.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, why, found := strings.Cut(strings.TrimSpace(line), "\t")
		if name, ours := strings.CutPrefix(name, "istio-1.30/"); found && ours {
			out[name] = why
		}
	}
	return out
}

func conform(t *testing.T, dir string, o caseOptions) {
	var values map[string]any
	decodeFile(t, filepath.Join(dir, o.Values), &values)
	mesh := &meshconfig.MeshConfig{}
	decodeFile(t, filepath.Join(dir, o.Mesh), mesh)
	e := engine(t, values, mesh, o.Revision, o.NativeSidecars)
	input, err := documents(t, filepath.Join(dir, "input.yaml"))
	var findings []policy.Finding
	if err != nil {
		findings = append(findings, policy.Finding{Message: err.Error()})
	}
	for _, d := range input {
		findings = append(findings, inject(e, d)...)
	}
	if o.ExpectError != nil {
		if len(findings) == 0 {
			t.Errorf("no error; Istio has %s", *o.ExpectError)
		}
		return
	}
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var got, want []any
	for _, d := range input {
		got = append(got, plain(typed.Generic(d)))
	}
	wanted, err := documents(t, filepath.Join(dir, "want.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range wanted {
		want = append(want, plain(typed.Generic(d)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func engine(t testing.TB, values map[string]any, mesh *meshconfig.MeshConfig, revision string, native bool) *pod.Engine {
	t.Helper()
	c, fs := Config(values)
	if len(fs) > 0 {
		t.Fatal(fs)
	}
	texts := map[string]pod.Text{}
	for name, text := range c.Templates {
		texts[name] = pod.Text{Text: text, Position: policy.Position{File: name, Line: 1}}
	}
	return pod.New(pod.Options{
		Templates: texts, Aliases: c.Aliases, DefaultTemplates: c.DefaultTemplates, InjectedAnnotations: c.InjectedAnnotations,
		Values: values, Mesh: mesh, ProxyDefaults: proxyDefaults(t), Revision: revision, Native: native,
		Behaviour: pod.Behaviour{RewriteLifecycle: true},
		ProxyConfig: func(text string) (*meshconfig.ProxyConfig, error) {
			return overProxyConfig(mesh.GetDefaultConfig(), text)
		},
	})
}

// overProxyConfig lays the text of an annotation over a proxy config; proxyMetadata is merged by key.
func overProxyConfig(base *meshconfig.ProxyConfig, text string) (*meshconfig.ProxyConfig, error) {
	var over map[string]any
	if err := yaml.Unmarshal([]byte(text), &over); err != nil {
		return nil, err
	}
	full, err := base.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(full, &tree); err != nil {
		return nil, err
	}
	if metadata, ok := tree["proxyMetadata"].(map[string]any); ok {
		if more, ok := over["proxyMetadata"].(map[string]any); ok {
			over["proxyMetadata"] = merged(metadata, more)
		}
	}
	for k, v := range over {
		tree[k] = v
	}
	full, err = json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	out := &meshconfig.ProxyConfig{}
	return out, out.UnmarshalJSON(full)
}

// inject injects the pod template of a document, or those of a list, in place.
func inject(e *pod.Engine, doc *yaml.Node) []policy.Finding {
	kind := text(doc, "kind")
	if kind == "List" {
		var out []policy.Finding
		for _, item := range typed.Get(doc, "items").Content {
			out = append(out, inject(e, item)...)
		}
		return out
	}
	at := doc
	switch kind {
	case "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "ReplicationController", "DeploymentConfig":
		at = typed.Get(typed.Get(doc, "spec"), "template")
	case "Pod":
	default:
		return nil
	}
	var p corev1.PodTemplateSpec
	if ps := e.Schema().Decode(at, &p, false); len(ps) > 0 {
		return []policy.Finding{{Message: ps[0].Message, Field: ps[0].Path}}
	}
	said := p.Annotations[policy.AnnotationInject]
	if l, ok := p.Labels[policy.LabelInject]; ok {
		said = l
	}
	if p.Spec.HostNetwork || said == "false" || p.Namespace == "kube-system" {
		return nil
	}
	if ps := policy.ValidateAnnotations(p.Annotations, policy.ValidateOptions{}); len(ps) > 0 {
		return []policy.Finding{{Message: fmt.Sprint(ps)}}
	}
	meta := p.ObjectMeta
	if kind != "Pod" {
		of := typed.Get(doc, "metadata")
		meta = metav1.ObjectMeta{Name: text(of, "name"), Namespace: text(of, "namespace")}
	}
	owner := workload.OwnerOf(metav1.TypeMeta{Kind: kind, APIVersion: text(doc, "apiVersion")}, meta)
	out, fs := e.Inject(pod.Input{
		Template: p, TypeMeta: metav1.TypeMeta{Kind: owner.Kind, APIVersion: owner.APIVersion},
		Owner: metav1.ObjectMeta{Name: owner.Name, Namespace: owner.Namespace},
	})
	if len(fs) > 0 {
		return fs
	}
	encoded := e.Schema().Encode(&out.Template, nil)
	for i := 0; i+1 < len(encoded.Content); i += 2 {
		set(at, encoded.Content[i], encoded.Content[i+1])
	}
	return nil
}

func text(n *yaml.Node, key string) string {
	if v := typed.Get(n, key); v != nil {
		return v.Value
	}
	return ""
}

func set(m, key, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key.Value {
			m.Content[i+1] = value
			return
		}
	}
	m.Content = append(m.Content, key, value)
}

func documents(t *testing.T, file string) ([]*yaml.Node, error) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(n.Content) > 0 && !typed.IsNull(n.Content[0]) {
			out = append(out, typed.Deref(n.Content[0]))
		}
	}
}

// zero tells that a field of a DeploymentConfig holds its zero value, which Istio's types leave out or add.
func zero(key string, v any) bool {
	return (key == "paused" || key == "test") && v == false || key == "minReadySeconds" && v == 0.0
}

// plain leaves out what is empty, and status: what typed objects print and untyped ones do not.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e = plain(e); e != nil && k != "status" && !zero(k, e) {
				out[k] = e
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, plain(e))
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case int64:
		return float64(v)
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}
