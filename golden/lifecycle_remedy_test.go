package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// remedyReport is what the test reads of a JSON report with details.
type remedyReport struct {
	Verdicts []struct {
		ID, Severity, Remedy string
		Edits                []struct {
			Remedy int
			Path   []string
			Job    bool
			Remove bool
			Value  any
		}
	}
}

func (r remedyReport) severities() map[string]policy.Severity {
	out := map[string]policy.Severity{}
	for _, v := range r.Verdicts {
		out[v.ID] = map[string]policy.Severity{"warning": policy.Warning, "error": policy.Error}[v.Severity]
	}
	return out
}

// remedySource is a manifest with a verdict or more.
type remedySource struct {
	kind string
	// spec is the pod's, annotations are the pod template's, both in flow style or as block text.
	spec, annotations string
	// values are Helm values; empty for none.
	values string
	args   string
	// deadline is the activeDeadlineSeconds of a Job; zero for none.
	deadline int
}

// remedySources give between them every verdict that an injection of today can have and that has a remedy to apply.
func remedySources() map[string]remedySource {
	const (
		app  = "containers: [{name: app, image: registry.example/app:1}]"
		init = "initContainers: [{name: fetch, image: registry.example/app:1}], " + app
		once = "restartPolicy: Never, " + app
		old  = "--native-sidecar=false "
		http = "containers: [{name: app, image: registry.example/app:1, lifecycle: {%s: {httpGet: {path: /hook, port: 8080}}}}]"
	)
	sleepy := "containers: [{name: app, image: registry.example/app:1}, {name: istio-proxy, image: auto, lifecycle: {preStop: {exec: {command: [sleep, '5']}}}}]"
	lifecycleValues := "global: {proxy: {lifecycle: {preStop: {exec: {command: [sleep, '5']}}}}}"
	zero := `proxy.istio.io/config: '{"proxyMetadata": {"EXIT_ON_ZERO_ACTIVE_CONNECTIONS": "true"}}'`
	long := `proxy.istio.io/config: '{"terminationDrainDuration": "%s"}'`
	return map[string]remedySource{
		"classic":               {kind: "Deployment", spec: app, args: old},
		"classic slow app":      {kind: "Deployment", spec: app, args: old + "--app-shutdown 20s"},
		"classic slow request":  {kind: "Deployment", spec: app, args: old + "--app-shutdown 12s --requests-in-flight 10s"},
		"classic long hook":     {kind: "Deployment", spec: app, annotations: fmt.Sprintf(long, "20s"), args: old + "--requests-in-flight 10s"},
		"classic lag":           {kind: "Deployment", spec: app, args: old + "--endpoint-lag 8s"},
		"classic never stops":   {kind: "Deployment", spec: app, args: old + "--app-shutdown 40s"},
		"classic long drain":    {kind: "Deployment", spec: app, annotations: fmt.Sprintf(long, "40s"), args: old},
		"classic cni":           {kind: "Deployment", spec: init, args: old + "--init-network fetch --set istio_cni.enabled=true --set pilot.cni.enabled=true"},
		"classic prestop http":  {kind: "Deployment", spec: fmt.Sprintf(http, "preStop"), args: old},
		"classic poststart":     {kind: "Deployment", spec: fmt.Sprintf(http, "postStart"), args: old},
		"classic own hook":      {kind: "Deployment", spec: sleepy, args: old + "--app-shutdown 15s"},
		"classic values":        {kind: "Deployment", spec: app, values: lifecycleValues, args: old + "--set-mesh defaultConfig.holdApplicationUntilProxyStarts=true --app-shutdown 15s"},
		"hold slow":             {kind: "Deployment", spec: app, args: old + "--set global.proxy.holdApplicationUntilProxyStarts=true --proxy-ready 90s"},
		"hold slow by mesh":     {kind: "Deployment", spec: app, args: old + "--set-mesh defaultConfig.holdApplicationUntilProxyStarts=true --proxy-ready 90s"},
		"zero early":            {kind: "Deployment", spec: app, annotations: zero, args: old + "--app-shutdown 20s"},
		"zero hangs":            {kind: "Deployment", spec: app, annotations: zero, args: old + "--connections-open never"},
		"native slow proxy":     {kind: "Deployment", spec: app, args: "--proxy-ready 700s"},
		"native lag":            {kind: "Deployment", spec: app, args: "--endpoint-lag 8s --requests-in-flight 6s"},
		"native never stops":    {kind: "Deployment", spec: app, args: "--app-shutdown 40s"},
		"native own hook":       {kind: "Deployment", spec: sleepy},
		"native own hook late":  {kind: "Deployment", spec: sleepy, args: "--app-shutdown 28s"},
		"native values":         {kind: "Deployment", spec: app, values: lifecycleValues},
		"native no probe":       {kind: "Deployment", spec: app, args: "--set global.proxy.startupProbe.enabled=false"},
		"native no status port": {kind: "Deployment", spec: app, annotations: `status.sidecar.istio.io/port: "0"`},
		"native other port":     {kind: "Deployment", spec: app, annotations: `status.sidecar.istio.io/port: "15099"`},
		"native on 1.27":        {kind: "Deployment", spec: app, args: "--native-sidecar=true --kube-version 1.27"},
		"native on 1.28":        {kind: "Deployment", spec: app, args: "--native-sidecar=true --kube-version 1.28 --feature-gate-sidecar-containers --app-shutdown 8s --requests-in-flight 6s"},
		"job":                   {kind: "Job", spec: once, args: old},
		"job with deadline":     {kind: "Job", spec: "activeDeadlineSeconds: 120, " + once, args: old},
		"job deadline too near": {kind: "Job", spec: once, args: "--app-duration 3m", deadline: 100},
		"cron job crash":        {kind: "CronJob", spec: once, args: old + "--proxy-crash-at 20s"},
		"pod":                   {kind: "Pod", spec: app, args: old + "--app-shutdown 9s"},
	}
}

// manifest writes the source as a tree.
func (s remedySource) manifest(t testing.TB) map[string]any {
	t.Helper()
	pod := map[string]any{"metadata": map[string]any{}}
	for field, text := range map[string]string{"spec": s.spec, "annotations": s.annotations} {
		var tree map[string]any
		if err := yaml.Unmarshal([]byte("{"+text+"}"), &tree); err != nil {
			t.Fatal(err)
		}
		if field == "spec" {
			pod["spec"] = tree
		} else {
			pod["metadata"].(map[string]any)["annotations"] = tree
		}
	}
	job := map[string]any{"template": pod}
	if s.deadline > 0 {
		job["activeDeadlineSeconds"] = s.deadline
	}
	switch s.kind {
	case "Job":
		return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "x"}, "spec": job}
	case "CronJob":
		return map[string]any{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": map[string]any{"name": "x"}, "spec": map[string]any{
			"schedule": "0 4 * * *", "jobTemplate": map[string]any{"spec": job},
		}}
	case "Pod":
		pod["apiVersion"], pod["kind"] = "v1", "Pod"
		pod["metadata"].(map[string]any)["name"] = "x"
		return pod
	}
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "x"}, "spec": map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}}, "template": pod,
	}}
}

// applyEdit changes a manifest as an edit of the report says. Elements of containers go by name.
func applyEdit(t testing.TB, root map[string]any, kind string, job bool, path []string, remove bool, value any) {
	t.Helper()
	at := map[string][]string{
		"Deployment": {"spec", "template"}, "Job": {"spec", "template"}, "Pod": nil, "CronJob": {"spec", "jobTemplate", "spec", "template"},
	}[kind]
	if job {
		at = at[:len(at)-2] // the Job itself, or the template of one
	}
	path = slices.Concat(at, path)
	node := any(root)
	for i, key := range path[:len(path)-1] {
		node = step(node.(map[string]any), key, path, i)
	}
	last := node.(map[string]any)
	if remove {
		delete(last, path[len(path)-1])
		return
	}
	last[path[len(path)-1]] = value
}

// step goes one key down and makes what is not there. A list of containers becomes the container named next; the
// caller's next key then is that name, which stays where it is.
func step(m map[string]any, key string, path []string, i int) any {
	if i > 0 && (path[i-1] == "containers" || path[i-1] == "initContainers") {
		return m // the container was found by the key before
	}
	if key == "containers" || key == "initContainers" {
		name := path[i+1]
		for _, list := range []string{"containers", "initContainers"} {
			cs, _ := m[list].([]any)
			for _, c := range cs {
				if c.(map[string]any)["name"] == name {
					return c
				}
			}
		}
		added := map[string]any{"name": name, "image": policy.ImageAuto}
		cs, _ := m[key].([]any)
		m[key] = append(cs, added)
		return added
	}
	next, ok := m[key].(map[string]any)
	if !ok {
		next = map[string]any{}
		m[key] = next
	}
	return next
}

// play writes the manifest and simulates it with the real program.
func (s remedySource) play(t testing.TB, manifest map[string]any) remedyReport {
	t.Helper()
	dir := t.TempDir()
	text, err := yaml.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-f", "x.yaml", "-o", "json", "--details"}, strings.Fields(s.args)...)
	files := map[string]string{"x.yaml": string(text)}
	if s.values != "" {
		files["values.yaml"] = s.values
		args = append(args, "--values-file", "values.yaml")
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, stderr, status := lifecycleRun(t, dir, args...)
	if status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, stderr, text)
	}
	var r remedyReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLifecycleRemedies writes each remedy that a report offers into the source, injects that for real and plays it
// again: the verdict must be gone, and nothing as bad may have come, but for what the remedy itself names.
func TestLifecycleRemedies(t *testing.T) {
	t.Parallel()
	type met struct {
		id      string
		applied int
	}
	results := make(chan met, 1000)
	t.Run("all", func(t *testing.T) {
		for name, s := range remedySources() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				before := s.play(t, s.manifest(t))
				for _, v := range before.Verdicts {
					byRemedy := map[int]bool{}
					for _, e := range v.Edits {
						byRemedy[e.Remedy] = true
					}
					results <- met{v.ID, len(byRemedy)}
					for _, n := range slices.Sorted(maps.Keys(byRemedy)) {
						manifest := s.manifest(t)
						for _, e := range v.Edits {
							if e.Remedy == n {
								applyEdit(t, manifest, s.kind, e.Job, e.Path, e.Remove, e.Value)
							}
						}
						after := s.play(t, manifest)
						had, has := before.severities(), after.severities()
						if _, still := has[v.ID]; still {
							text, _ := yaml.Marshal(manifest)
							t.Errorf("%s: remedy %d of %q does not help:\n%s", v.ID, n, v.Remedy, text)
						}
						for id, severity := range has {
							_, old := had[id]
							if !old && severity > policy.Info && severity >= had[v.ID] && !strings.Contains(v.Remedy, "(then: "+id+")") {
								t.Errorf("%s: remedy %d of %q brings %s", v.ID, n, v.Remedy, id)
							}
						}
					}
				}
			})
		}
	})
	close(results)
	applied := map[string]int{}
	for m := range results {
		applied[m.id] += m.applied
	}
	// Verdicts without a manifest change that mends them: find out why Envoy died; Istio up to 1.3.
	advice := []lifecycle.ID{lifecycle.ProxyRestarts, lifecycle.AgentWithoutEnvoy}
	for _, r := range lifecycle.Ranks() {
		if r.Severity > policy.Info && applied[string(r.ID)] == 0 && !slices.Contains(advice, r.ID) {
			t.Errorf("no remedy of %s was applied", r.ID)
		}
	}
}
