package legacy

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
)

// engineOf makes an engine from a template that stands on line 11 of its file.
func engineOf(t testing.TB, template string, change ...func(*Config)) *Engine {
	t.Helper()
	cfg := Config{Template: template, TemplatePos: policy.Position{File: "config.yaml", Line: 11}}
	for _, c := range change {
		c(&cfg)
	}
	e, fs := New(cfg)
	if err := firstError(fs); err != nil {
		t.Fatal(err)
	}
	return e
}

// workloadOf makes a Deployment from its pod template.
func workloadOf(t testing.TB, pod string) Workload {
	t.Helper()
	w := Workload{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", Labels: map[string]string{"team": "a"}},
	}
	if err := yaml.UnmarshalStrict([]byte(pod), &w.Pod); err != nil {
		t.Fatal(err)
	}
	return w
}

const simplePod = "spec: {containers: [{name: app, image: app:1}]}"

const simpleTemplate = `
initContainers:
- {name: istio-init, image: "proxy:1"}
containers:
- {name: istio-proxy, image: "proxy:1"}
volumes:
- {name: istio-envoy, emptyDir: {}}
`

func texts(fs []policy.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Error())
	}
	return out
}

func TestNewErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ template, want string }{
		"none":     {"", "config.yaml:11: error: the injection configuration has no template [E_LEGACY_CONFIG]"},
		"blank":    {" \n", "config.yaml:11: error: the injection configuration has no template [E_LEGACY_CONFIG]"},
		"syntax":   {"a: b\n{{ if }}", `config.yaml:12: error: template "inject": missing value for if [E_TEMPLATE_PARSE]`},
		"function": {"a: {{ nofunc }}", `config.yaml:11: error: template "inject": function nofunc is not known [E_TEMPLATE_PARSE]`},
		"sprig":    {"a: {{ upper `a` }}", `config.yaml:11: error: template "inject": function upper is not known [E_TEMPLATE_PARSE]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, fs := New(Config{Template: tc.template, TemplatePos: policy.Position{File: "config.yaml", Line: 11}})
			if diff := cmp.Diff([]string{tc.want}, texts(fs)); diff != "" || e != nil {
				t.Error(e != nil, diff)
			}
		})
	}
}

func TestHoldInVain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		hold    any
		version Version
		want    []string
	}{
		"unset":        {nil, V17, nil},
		"1.7 true":     {true, V17, nil},
		"1.6 false":    {false, V16, nil},
		"1.6 true":     {true, V16, []string{"warning: global.proxy.holdApplicationUntilProxyStarts: Istio 1.6 does not hold the application: istio-proxy is put last [W_HOLD]"}},
		"1.7 a string": {"true", V17, []string{"warning: global.proxy.holdApplicationUntilProxyStarts: the value is no boolean and has no effect [W_HOLD]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, fs := New(Config{Template: simpleTemplate, Version: tc.version, Values: holdValues(tc.hold)})
			if diff := cmp.Diff(tc.want, texts(fs)); diff != "" || e == nil {
				t.Error(e != nil, diff)
			}
		})
	}
}

func holdValues(hold any) map[string]any {
	return map[string]any{"global": map[string]any{"proxy": map[string]any{"holdApplicationUntilProxyStarts": hold}}}
}

func TestSkipped(t *testing.T) {
	t.Parallel()
	e := engineOf(t, simpleTemplate)
	for name, tc := range map[string]struct{ pod, reason, want string }{
		"no containers": {"spec: {}", "no containers", "info: spec.containers: the pod has no containers; it is left as it is [W_NO_CONTAINERS]"},
		"own proxy": {
			"spec: {containers: [{name: app}, {name: istio-proxy}]}", "has an istio-proxy",
			"info: spec.containers[1]: the pod has an istio-proxy that no status annotation accounts for; it is left as it is [W_HAS_PROXY]",
		},
		"own proxy as init container": {
			"spec: {containers: [{name: app}], initContainers: [{name: istio-proxy}]}", "has an istio-proxy",
			"info: spec.initContainers[0]: the pod has an istio-proxy that no status annotation accounts for; it is left as it is [W_HAS_PROXY]",
		},
		"status that does not name it": {
			"metadata: {annotations: {sidecar.istio.io/status: '{\"version\":\"x\",\"containers\":[\"other\"]}'}}\n" +
				"spec: {containers: [{name: app}, {name: istio-proxy}]}", "has an istio-proxy",
			"info: spec.containers[1]: the pod has an istio-proxy that no status annotation accounts for; it is left as it is [W_HAS_PROXY]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := workloadOf(t, tc.pod)
			pod, fs, trace := e.Inject(w)
			if diff := cmp.Diff([]string{tc.want}, texts(fs)); diff != "" || trace.Skipped != tc.reason {
				t.Error(trace.Skipped, diff)
			}
			if diff := cmp.Diff(w.Pod, pod); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	e := engineOf(t, simpleTemplate+"imagePullSecrets: [{name: pull}]\npodRedirectAnnot: {sidecar.istio.io/interceptionMode: TPROXY}\n")
	_, fs, got := e.Inject(workloadOf(t, simplePod))
	want := Trace{
		InitContainers: []string{"istio-init"}, Containers: []string{"istio-proxy"}, Volumes: []string{"istio-envoy"},
		ImagePullSecrets: []string{"pull"}, Annotations: []string{policy.AnnotationInterceptionMode},
		Steps: []string{
			"prometheus", "init-containers", "containers", "volumes", "image-pull-secrets", "fs-group",
			"redirect-annotations", "status", "labels",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(fs) > 0 {
		t.Error(fs, diff)
	}
}

// TestInjectErrors: a template or pod that cannot be injected gives an error and the pod as it came.
func TestInjectErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		template, pod string
		want          []string
	}{
		"missing value": {
			"containers:\n- name: istio-proxy\n  image: '{{ .Values.hub }}'\n", simplePod,
			[]string{`config.yaml:13: error: template "inject": .Values.hub has no value [E_TEMPLATE_VALUE]`},
		},
		"missing map": {
			"containers:\n- name: istio-proxy\n  image: '{{ .Values.null.hub }}'\n", simplePod,
			[]string{`config.yaml:13: error: template "inject": .Values.null.hub: the value that should hold hub is missing [E_TEMPLATE_RUN]`},
		},
		"nothing": {
			"{{ if false }}a{{ end }}", simplePod,
			[]string{`config.yaml:11: error: template "inject" renders nothing to inject [E_TEMPLATE_EMPTY]`},
		},
		"no mapping": {
			"[]", simplePod,
			[]string{`config.yaml:11: error: the output of template "inject" is no injection: it is a list and no mapping [E_TEMPLATE_OUTPUT]`},
		},
		"wrong type": {
			"containers: [{name: a, ports: [{containerPort: http}]}]", simplePod,
			[]string{`config.yaml:11: error: the output of template "inject" is no injection: containers.ports.containerPort: expected a number, found a string [E_TEMPLATE_OUTPUT]`},
		},
		"clashes": {
			simpleTemplate, "spec: {containers: [{name: istio-init}], volumes: [{name: istio-envoy, emptyDir: {}}]}",
			[]string{
				`error: spec.containers[0]: the pod has a container "istio-init", and the template brings one of that name [E_NAME_CLASH]`,
				`error: spec.volumes[0]: the pod has a volume "istio-envoy", and the template brings one of that name [E_NAME_CLASH]`,
			},
		},
		"clash in the template": {
			"containers: [{name: a}, {name: a}]\nvolumes: [{name: v}, {name: v}]\n", simplePod,
			[]string{
				`error: the template renders two containers with the name "a" [E_NAME_CLASH]`,
				`error: the template renders two volumes with the name "v" [E_NAME_CLASH]`,
			},
		},
		"annotations, all of them": {
			simpleTemplate, "metadata: {annotations: {status.sidecar.istio.io/port: a, sidecar.istio.io/interceptionMode: b, proxy.istio.io/config: 'statusPort: 0'}}\n" + simplePod,
			[]string{
				"error: metadata.annotations[proxy.istio.io/config]: statusPort: 0 is no port (1 to 65535) [E_ANNOTATION]",
				`error: metadata.annotations[sidecar.istio.io/interceptionMode]: "b" is none of REDIRECT, TPROXY, NONE [E_ANNOTATION]`,
				`error: metadata.annotations[status.sidecar.istio.io/port]: "a" is no port (0 to 65535) [E_ANNOTATION]`,
			},
		},
		"render without end": {
			"{{ define `x` }}{{ end }}a: {{ render .Values.loop }}", simplePod,
			[]string{`config.yaml:11: error: template "inject": render is called too often: it renders a text that calls render again [E_TEMPLATE_LIMIT]`},
		},
		"missing value in render": {
			"a: {{ render `{{ .Values.hub }}` }}", simplePod,
			[]string{`config.yaml:11: error: template "inject": render ` + "`{{ .Values.hub }}`" + `: render: template "render": .Values.hub has no value [E_TEMPLATE_RUN]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := engineOf(t, tc.template, func(c *Config) {
				c.Values = map[string]any{"null": nil, "loop": "{{ render .Values.loop }}{{ render .Values.loop }}"}
			})
			w := workloadOf(t, tc.pod)
			pod, fs, _ := e.Inject(w)
			if diff := cmp.Diff(tc.want, texts(fs)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(w.Pod, pod); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestParallel: one engine serves many goroutines, each with the data of its own pod, in render too.
func TestParallel(t *testing.T) {
	t.Parallel()
	e := engineOf(t, "containers:\n- {name: istio-proxy, image: '{{ render `{{ (index .Spec.Containers 0).Image }}` }}'}\n")
	var wg sync.WaitGroup
	for range 8 {
		for _, image := range []string{"a", "b", "c", "d"} {
			wg.Go(func() {
				pod, fs, _ := e.Inject(workloadOf(t, strings.ReplaceAll(simplePod, "app:1", image)))
				if len(fs) > 0 || pod.Spec.Containers[1].Image != image {
					t.Errorf("want %s, got %v %v", image, pod.Spec.Containers[1].Image, fs)
				}
			})
		}
	}
	wg.Wait()
}

func container(t *testing.T, pod corev1.PodTemplateSpec, name string) corev1.Container {
	t.Helper()
	i := indexOf(pod.Spec.Containers, name)
	if i < 0 {
		t.Fatalf("no container %s", name)
	}
	return pod.Spec.Containers[i]
}
