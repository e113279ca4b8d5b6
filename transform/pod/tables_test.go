package pod

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// rows reads a table of the conformance data, or skips.
func rows(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "conformance", "istio-1.30", "tables", name))
	if err != nil {
		t.Skip("the conformance data are not beside the checkout")
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

func TestProbersTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Name        string
		Pod         corev1.Pod
		StatusPort  int32
		Annotations map[string]string
		WantEnv     string
		WantPod     *corev1.Pod
	}
	rows(t, "app-probers.json", &table)
	if len(table) == 0 {
		t.Fatal("the table is empty")
	}
	for _, row := range table {
		port := (&work{pod: corev1.PodTemplateSpec{ObjectMeta: row.Pod.ObjectMeta}}).withAnnotations(row.Annotations).statusPort(row.StatusPort)
		r := rewriter{agentPort: port, meshPort: row.StatusPort, lifecycle: true, probers: map[string]prober{}}
		containers, inits := r.containers(row.Pod.Spec.Containers), r.containers(row.Pod.Spec.InitContainers)
		got := ""
		if len(r.probers) > 0 {
			got, _ = marshalProbers(r.probers)
		}
		if got != row.WantEnv {
			t.Errorf("%s: got %s, want %s", row.Name, got, row.WantEnv)
		}
		if row.WantPod != nil {
			if diff := cmp.Diff(row.WantPod.Spec.Containers, containers); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", row.Name, diff)
			}
			if diff := cmp.Diff(row.WantPod.Spec.InitContainers, inits); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", row.Name, diff)
			}
		}
	}
}

func (w *work) withAnnotations(a map[string]string) *work {
	if len(a) > 0 {
		w.pod.Annotations = a
	}
	return w
}

func TestShouldRewriteTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Name                      string
		Annotations               map[string]string
		RewriteAppHTTPProbe, Want bool
	}
	rows(t, "should-rewrite-app-http-probers.json", &table)
	for _, row := range table {
		e := &Engine{values: values{map[string]any{"sidecarInjectorWebhook": map[string]any{"rewriteAppHTTPProbe": row.RewriteAppHTTPProbe}}}}
		if got := (&work{Engine: e}).withAnnotations(row.Annotations).wantsRewrite(); got != row.Want {
			t.Errorf("%s: got %v", row.Name, got)
		}
	}
}

func TestStatusTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Name, Status                       string
		WantContainers, WantInitContainers []string
	}
	rows(t, "parse-status.json", &table)
	for _, row := range table {
		s, _ := ParseStatus(row.Status)
		if !slices.Equal(s.Containers, row.WantContainers) || !slices.Equal(s.InitContainers, row.WantInitContainers) {
			t.Errorf("%s: got %+v", row.Name, s)
		}
	}
}

func TestProxyImageTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Name             string
		Annotations      map[string]string
		ProxyConfigImage *struct{ ImageType string }
		Values           map[string]any
		Want             string
	}
	rows(t, "proxy-image.json", &table)
	for _, row := range table {
		pc := &meshconfig.ProxyConfig{}
		if row.ProxyConfigImage != nil {
			b, _ := json.Marshal(map[string]any{"image": map[string]any{"imageType": row.ProxyConfigImage.ImageType}})
			if err := pc.UnmarshalJSON(b); err != nil {
				t.Fatal(err)
			}
		}
		w := &work{Engine: &Engine{values: values{row.Values}}}
		w.original.Annotations = row.Annotations
		if got := w.image(pc, "proxy"); got != row.Want {
			t.Errorf("%s: got %s, want %s", row.Name, got, row.Want)
		}
	}
}

func TestInjectEnvsTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Name, Path string
		Want       map[string]string
	}
	rows(t, "parse-inject-envs.json", &table)
	for _, row := range table {
		if diff := cmp.Diff(row.Want, ParsePath(row.Path)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", row.Name, diff)
		}
	}
}

func TestClusterEnvsTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Path    string
		WantEnv []corev1.EnvVar
	}
	rows(t, "update-cluster-envs.json", &table)
	for _, row := range table {
		w := &work{Engine: &Engine{opts: Options{Proxy: ParsePath(row.Path)}}, out: &Output{}}
		w.pod.Spec.Containers = []corev1.Container{{Name: policy.ContainerProxy, Env: []corev1.EnvVar{{Name: policy.EnvNetwork, Value: "old"}}}}
		w.setCluster()
		if diff := cmp.Diff(row.WantEnv, w.pod.Spec.Containers[0].Env); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", row.Path, diff)
		}
	}
}

func TestPrometheusMergeTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Name        string
		Annotations map[string]string
		Mesh        json.RawMessage
		Want        bool
	}
	rows(t, "enable-prometheus-merge.json", &table)
	for _, row := range table {
		mesh := &meshconfig.MeshConfig{}
		if len(row.Mesh) > 0 && string(row.Mesh) != "null" {
			if err := mesh.UnmarshalJSON(row.Mesh); err != nil {
				t.Fatal(err)
			}
		}
		if got := (&work{mesh: mesh}).withAnnotations(row.Annotations).mergesMetrics(); got != row.Want {
			t.Errorf("%s: got %v", row.Name, got)
		}
	}
}

// nativeEngine renders a proxy where flag and annotation want it, by the rule of Istio's template.
func nativeEngine(native bool) *Engine {
	text := `spec:
{{- $native := ne (index .ObjectMeta.Annotations "sidecar.istio.io/nativeSidecar" | default (printf "%t" .NativeSidecars)) "false" }}
  initContainers:
  - name: istio-init
    image: i
{{- if $native }}
  - name: istio-proxy
    image: p
    restartPolicy: Always
{{- else }}
  containers:
  - name: istio-proxy
    image: p
{{- end }}
`
	return New(Options{
		Templates: map[string]Text{"sidecar": {Text: text}}, Native: native, Mesh: &meshconfig.MeshConfig{}, Values: map[string]any{},
	})
}

func TestNativePlacementTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Annotation                                     string
		NativeSidecars, UserDefinesIstioProxyContainer bool
		WantContainers, WantInitContainers             []string
	}
	rows(t, "native-sidecar-placement.json", &table)
	// Istio moves the user's own istio-proxy only where flag or annotation say exactly so, and so has it twice.
	otherwise := map[string]bool{"True": true, "bogus": true}
	for _, row := range table {
		var tmpl corev1.PodTemplateSpec
		if row.Annotation != "(unset)" {
			tmpl.Annotations = map[string]string{policy.AnnotationNativeSidecar: row.Annotation}
		}
		tmpl.Spec.Containers = []corev1.Container{{Name: "app"}}
		if row.UserDefinesIstioProxyContainer {
			tmpl.Spec.Containers = append(tmpl.Spec.Containers, corev1.Container{Name: policy.ContainerProxy, Image: "auto"})
		}
		w := &work{Engine: nativeEngine(row.NativeSidecars), in: Input{Template: tmpl}, out: &Output{}}
		w.original = tmpl
		w.mesh = w.opts.Mesh
		if fs := w.render(); len(fs) > 0 {
			t.Fatal(fs)
		}
		name := func(c *corev1.Container) string { return c.Name }
		got, gotInit := names(w.pod.Spec.Containers, name), names(w.pod.Spec.InitContainers, name)
		same := slices.Equal(got, row.WantContainers) && slices.Equal(sorted(gotInit), sorted(row.WantInitContainers))
		if deviates := otherwise[row.Annotation] && row.UserDefinesIstioProxyContainer && !row.NativeSidecars; same == deviates {
			t.Errorf("%+v: got %v and %v", row, got, gotInit)
		}
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func TestNativeAnnotationTable(t *testing.T) {
	t.Parallel()
	var table []struct {
		Name           string
		NativeSidecars bool
		Pod            corev1.Pod
		Want           string
	}
	rows(t, "native-sidecar-annotation.json", &table)
	for _, row := range table {
		out, fs := nativeEngine(row.NativeSidecars).Inject(Input{Template: corev1.PodTemplateSpec{ObjectMeta: row.Pod.ObjectMeta, Spec: row.Pod.Spec}})
		if len(fs) > 0 {
			t.Fatal(fs)
		}
		got := "containers"
		if hasProxy(out.Template.Spec.InitContainers) {
			got = "initContainers"
		}
		if got != row.Want {
			t.Errorf("%s: got %s, want %s", row.Name, got, row.Want)
		}
	}
}
