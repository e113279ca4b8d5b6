package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// scenario is one entry of lifecycle-scenarios.json.
type scenario struct {
	ID      string          `json:"id"`
	Pod     scenarioPod     `json:"pod"`
	Options scenarioOptions `json:"options"`
	Expect  struct {
		Events   []scenarioEvent `json:"events"`
		Verdicts []string        `json:"verdicts"`
	} `json:"expect"`
}

type scenarioPod struct {
	Kind           string              `json:"kind"`
	RestartPolicy  string              `json:"restartPolicy"`
	Grace          *int64              `json:"terminationGracePeriodSeconds"`
	Deadline       *int64              `json:"activeDeadlineSeconds"`
	HoldRequested  bool                `json:"holdRequested"`
	InitContainers []scenarioContainer `json:"initContainers"`
	Containers     []scenarioContainer `json:"containers"`
}

type scenarioContainer struct {
	Name          string            `json:"name"`
	RestartPolicy string            `json:"restartPolicy"`
	Env           map[string]string `json:"env"`
	ProxyConfig   map[string]any    `json:"proxyConfig"`
	Mode          string            `json:"interceptionMode"`
	StatusPort    int               `json:"statusPort"`
	StartupProbe  *corev1.Probe     `json:"startupProbe"`
	PostStart     *scenarioHook     `json:"postStart"`
	PreStop       *scenarioHook     `json:"preStop"`
}

type scenarioHook struct {
	Exec    []string `json:"exec"`
	HTTPGet *struct {
		Path string `json:"path"`
		Port int    `json:"port"`
	} `json:"httpGet"`
}

type scenarioEvent struct {
	Phase     string  `json:"phase"`
	T         float64 `json:"t"`
	Container *string `json:"container"`
	Event     string  `json:"event"`
	ExitCode  *int    `json:"exitCode,omitempty"`
	Restart   *int    `json:"restart,omitempty"`
	Epoch     *int    `json:"epoch,omitempty"`
	Cause     *string `json:"cause,omitempty"`
}

// scenarioOptions keeps the camelCase options as text, one value for each flag.
type scenarioOptions map[string][]string

func (o *scenarioOptions) UnmarshalJSON(data []byte) error {
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*o = scenarioOptions{}
	for name, value := range raw {
		(*o)[name] = optionTexts(value)
	}
	return nil
}

func optionTexts(value any) []string {
	var out []string
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			out = append(out, optionTexts(e)...)
		}
	case map[string]any:
		for name, e := range v {
			out = append(out, name+"="+optionTexts(e)[0])
		}
		sort.Strings(out)
	case float64:
		out = []string{strconv.FormatFloat(v, 'f', -1, 64)}
	case bool:
		out = []string{strconv.FormatBool(v)}
	case string:
		out = []string{v}
	}
	return out
}

// flagName turns the scenario's camelCase into the name of the flag.
func flagName(camel string) string {
	switch camel {
	case "kubernetes":
		return "kube-version"
	case "istio":
		return "istio-version"
	case "phases":
		return "phase"
	}
	var b strings.Builder
	for _, r := range camel {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (s scenario) options(t *testing.T) lifecycle.Options {
	t.Helper()
	o := lifecycle.Defaults()
	for name, values := range s.Options {
		if err := lifecycle.SetFlag(&o, flagName(name), strings.Join(values, ",")); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func (s scenario) pod() lifecycle.Pod {
	p := lifecycle.Pod{
		Kind: s.Pod.Kind, Name: "web", HoldRequested: s.Pod.HoldRequested, ActiveDeadlineSeconds: s.Pod.Deadline,
		Annotations: map[string]string{},
	}
	p.Spec.RestartPolicy = corev1.RestartPolicy(s.Pod.RestartPolicy)
	p.Spec.TerminationGracePeriodSeconds = s.Pod.Grace
	for _, c := range s.Pod.InitContainers {
		p.Spec.InitContainers = append(p.Spec.InitContainers, c.container(&p))
	}
	for _, c := range s.Pod.Containers {
		p.Spec.Containers = append(p.Spec.Containers, c.container(&p))
	}
	return p
}

func (c scenarioContainer) container(p *lifecycle.Pod) corev1.Container {
	out := corev1.Container{Name: c.Name, StartupProbe: c.StartupProbe}
	if c.RestartPolicy != "" {
		policy := corev1.ContainerRestartPolicy(c.RestartPolicy)
		out.RestartPolicy = &policy
	}
	if c.ProxyConfig != nil {
		text, err := json.Marshal(c.ProxyConfig)
		if err != nil {
			panic(err)
		}
		out.Env = append(out.Env, corev1.EnvVar{Name: "PROXY_CONFIG", Value: string(text)})
	}
	for k, v := range c.Env {
		out.Env = append(out.Env, corev1.EnvVar{Name: k, Value: v})
	}
	if c.Mode != "" {
		out.Env = append(out.Env, corev1.EnvVar{Name: "ISTIO_META_INTERCEPTION_MODE", Value: c.Mode})
	}
	if c.StatusPort != 0 {
		p.Annotations[policy.AnnotationStatusPort] = strconv.Itoa(c.StatusPort)
	}
	if c.PostStart != nil || c.PreStop != nil {
		out.Lifecycle = &corev1.Lifecycle{PostStart: c.PostStart.handler(), PreStop: c.PreStop.handler()}
	}
	return out
}

func (h *scenarioHook) handler() *corev1.LifecycleHandler {
	switch {
	case h == nil:
		return nil
	case h.HTTPGet != nil:
		port := intstr.FromInt32(int32(h.HTTPGet.Port))
		return &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: h.HTTPGet.Path, Port: port}}
	default:
		return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: h.Exec}}
	}
}

// readScenarios reads the shared scenarios, or skips where they are absent.
func readScenarios(t testing.TB) []scenario {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "spec", "lifecycle-scenarios.json"))
	if os.IsNotExist(err) {
		t.Skip("The shared lifecycle scenarios are not beside the checkout.")
	}
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var file struct {
		Scenarios []scenario `json:"scenarios"`
	}
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Scenarios
}

func asScenarioEvents(events []lifecycle.Event) []scenarioEvent {
	var out []scenarioEvent
	for _, e := range events {
		s := scenarioEvent{Phase: string(e.Phase), T: float64(e.At) / float64(time.Second), Event: string(e.Kind)}
		if e.Container != "" {
			s.Container = &e.Container
		}
		if e.HasExitCode() {
			s.ExitCode = &e.ExitCode
		}
		if e.Restart > 0 {
			s.Restart = &e.Restart
		}
		if e.HasEpoch() {
			s.Epoch = &e.Epoch
		}
		if e.Cause != "" {
			s.Cause = &e.Cause
		}
		out = append(out, s)
	}
	return out
}

// TestScenarios holds every event and every verdict of the shared scenarios.
func TestScenarios(t *testing.T) {
	t.Parallel()
	scenarios := readScenarios(t)
	if len(scenarios) < 57 {
		t.Errorf("only %d scenarios", len(scenarios))
	}
	for _, s := range scenarios {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			got := lifecycle.Simulate(s.pod(), s.options(t))
			if d := cmp.Diff(s.Expect.Events, asScenarioEvents(got.Events)); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			var ids []string
			for _, v := range got.Verdicts {
				ids = append(ids, string(v.ID))
			}
			if d := cmp.Diff(s.Expect.Verdicts, ids); d != "" {
				t.Errorf("verdicts (-want +got):\n%s", d)
			}
		})
	}
}
