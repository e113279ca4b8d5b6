package typed

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

func node(t testing.TB, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

// library merges by apimachinery.
func library(t testing.TB, pod corev1.PodTemplateSpec, overlay *yaml.Node) corev1.PodTemplateSpec {
	t.Helper()
	original, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(Generic(overlay))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(original, patch, &pod)
	if err != nil {
		t.Fatal(err)
	}
	var out corev1.PodTemplateSpec
	if err := json.Unmarshal(merged, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const mergeBase = `
metadata:
  labels: {app: web, drop: me}
  annotations: {a: "1"}
spec:
  terminationGracePeriodSeconds: 10
  securityContext: {runAsUser: 5, sysctls: [{name: a, value: "1"}]}
  initContainers:
  - {name: one, image: one}
  - {name: two, image: two}
  containers:
  - name: web
    image: web:1
    args: [one, two]
    env: [{name: A, value: "1"}, {name: B, value: "2"}]
    ports: [{containerPort: 80, name: http}]
    volumeMounts: [{name: v, mountPath: /v}]
    resources: {limits: {cpu: "1", memory: 1Gi}}
    livenessProbe: {httpGet: {path: /, port: 80}}
  - {name: side, image: side:1}
  volumes:
  - {name: v, emptyDir: {}}
  - {name: w, hostPath: {path: /w}}
  imagePullSecrets: [{name: s}]
  tolerations: [{key: k}]
`

// TestMergeAsLibrary: every overlay gives what apimachinery's strategic merge gives, order of lists included.
func TestMergeAsLibrary(t *testing.T) {
	t.Parallel()
	for name, overlay := range map[string]string{
		"maps":              `metadata: {labels: {app: other, new: x}, annotations: {b: "2"}}`,
		"null key":          `metadata: {labels: {drop: null}}`,
		"null map":          `metadata: {annotations: null}`,
		"new container":     `spec: {containers: [{name: proxy, image: p}]}`,
		"merge container":   `spec: {containers: [{name: web, image: web:2, env: [{name: B, value: "3"}, {name: C, value: "4"}]}]}`,
		"interleave":        `spec: {containers: [{name: new1, image: new}, {name: side, image: s2}, {name: new2, image: new}]}`,
		"against the order": `spec: {containers: [{name: side, image: s2}, {name: web, image: w2}]}`,
		"atomic list":       `spec: {containers: [{name: web, args: [z]}], tolerations: [{key: q}]}`,
		"ports and mounts":  `spec: {containers: [{name: web, ports: [{containerPort: 81}, {containerPort: 80, name: web}], volumeMounts: [{mountPath: /v, name: u}, {mountPath: /x, name: w}]}]}`,
		"null in container": `spec: {containers: [{name: web, livenessProbe: null, resources: {limits: {cpu: null}}}]}`,
		"probe":             `spec: {containers: [{name: web, livenessProbe: {periodSeconds: 3}}]}`,
		"init order":        `spec: {initContainers: [{name: zero, image: z}, {name: two, image: t2}]}`,
		"volumes":           `spec: {volumes: [{name: x, emptyDir: {medium: Memory}}, {name: v, emptyDir: {sizeLimit: 1Gi}}]}`,
		"pull secrets":      `spec: {imagePullSecrets: [{name: t}, {name: s}]}`,
		"numbers":           `spec: {terminationGracePeriodSeconds: 030, securityContext: {runAsUser: 1337, fsGroup: 1}}`,
		"null number":       `spec: {terminationGracePeriodSeconds: null}`,
		"delete directive":  `spec: {containers: [{name: side, $patch: delete}]}`,
		"replace directive": `spec: {volumes: [{$patch: replace}, {name: only, emptyDir: {}}]}`,
		"empty list":        `spec: {containers: []}`,
		"sysctls":           `spec: {securityContext: {sysctls: [{name: b, value: "2"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Schema{}
			var pod corev1.PodTemplateSpec
			if ps := s.Decode(node(t, mergeBase), &pod, true); len(ps) > 0 {
				t.Fatal(ps)
			}
			before := pod.DeepCopy()
			want := library(t, pod, node(t, overlay))
			got := pod // shares everything below the top, which the merge must not write into
			if ps := s.Merge(&got, node(t, overlay)); len(ps) > 0 {
				t.Fatal(ps)
			}
			if !s.Equal(&want, &got) {
				t.Errorf("(-library +ours)\n%s", cmp.Diff(want, got))
			}
			if !s.Equal(before, &pod) {
				t.Errorf("the merge wrote into the pod that it was given\n%s", cmp.Diff(*before, pod))
			}
		})
	}
}

// TestMergeConformance lays every pod that Istio injected over the pod it came from: a large overlay over real pods.
func TestMergeConformance(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "conformance", "istio-1.30", "*", "want.yaml"))
	if len(files) == 0 {
		t.Skip("the conformance data are not beside the checkout")
	}
	s := &Schema{}
	ran := 0
	for _, f := range files {
		var pods []*yaml.Node
		for _, name := range []string{"input.yaml", "want.yaml"} {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(f), name))
			if err != nil {
				t.Fatal(err)
			}
			var doc yaml.Node
			if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
				break
			}
			if tmpl := Get(Get(doc.Content[0], "spec"), "template"); tmpl != nil {
				pods = append(pods, tmpl)
			}
		}
		if len(pods) != 2 {
			continue
		}
		var pod corev1.PodTemplateSpec
		if ps := s.Decode(pods[0], &pod, false); len(ps) > 0 {
			continue
		}
		ran++
		want := library(t, pod, pods[1])
		if ps := s.Merge(&pod, pods[1]); len(ps) > 0 {
			t.Fatal(f, ps)
		}
		if !s.Equal(&want, &pod) {
			t.Errorf("%s: (-library +ours)\n%s", f, cmp.Diff(want, pod))
		}
	}
	if ran < 100 {
		t.Errorf("only %d pods", ran)
	}
}
