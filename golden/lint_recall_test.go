package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// mistake is what somebody does wrong: fields of the pod template (or, behind "own:", of the workload) that are set, in
// the form path = YAML, where "+" in a path inserts at the start of a list.
type mistake struct {
	edits []string
	// options are the lines of a case's options file.
	options string
	// behind is added to the stream; NS is the namespace of the workload.
	behind string
	// jobs takes Jobs instead of Deployments and the like; injected takes the injected manifest.
	jobs, injected bool
}

const (
	note     = "metadata annotations "
	classic  = note + `sidecar.istio.io/nativeSidecar = "false"`
	settings = note + "proxy.istio.io/config = "
	spaceNS  = "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: NS\n  labels:\n    "
	ns       = "own: metadata namespace = mesh-test"
	sleep15  = "spec containers 0 lifecycle = {preStop: {exec: {command: [sleep, '15']}}}"
	exit0    = "proxyMetadata: {EXIT_ON_ZERO_ACTIVE_CONNECTIONS: 'true'}"
)

// mistakes has one for each rule.
func mistakes() map[string]mistake {
	set := func(edits ...string) mistake { return mistake{edits: edits} }
	with := func(options string, edits ...string) mistake { return mistake{edits: edits, options: options} }
	return map[string]mistake{
		"annotation-unknown":           set(note + "sidecar.istio.io/logLevell = debug"),
		"annotation-wrong-kind":        set("metadata labels sidecar.istio.io/logLevel = debug"),
		"annotation-misplaced":         set("own: metadata annotations sidecar.istio.io/logLevel = debug"),
		"annotation-deprecated":        set(note + "sidecar.istio.io/discoveryAddress = 'a:15012'"),
		"annotation-invalid-value":     set(note + "traffic.sidecar.istio.io/excludeInboundPorts = '*'"),
		"annotation-ignored-value":     set(note + "sidecar.istio.io/rewriteAppHTTPProbers = nope"),
		"inject-value-invalid":         set("metadata labels sidecar.istio.io/inject = 'yes'"),
		"inject-annotation":            set(note + "sidecar.istio.io/inject = 'true'"),
		"inject-conflict":              set(note+"sidecar.istio.io/inject = 'false'", "metadata labels sidecar.istio.io/inject = 'true'"),
		"native-value-invalid":         set(note + "sidecar.istio.io/nativeSidecar = 'off'"),
		"host-network":                 set("spec hostNetwork = true", "metadata labels sidecar.istio.io/inject = 'true'"),
		"namespace-label-typo":         {edits: []string{ns}, behind: spaceNS + "istio-injetion: enabled\n"},
		"namespace-label-conflict":     {edits: []string{ns}, behind: spaceNS + "istio-injection: enabled\n    istio.io/rev: canary\n"},
		"revision-unknown":             with("revisions canary", "metadata labels istio.io/rev = canry"),
		"ambient-conflict":             set("metadata labels istio.io/dataplane-mode = ambient"),
		"template-unknown":             set(note + "inject.istio.io/templates = sidecars"),
		"proxy-config-unknown-field":   set(settings + "'holdApplicationUntilProxyStart: true'"),
		"proxy-config-invalid":         set(settings + "'drainDuration: 15'"),
		"proxy-metadata-not-string":    set(settings + "'proxyMetadata: {ISTIO_META_DNS_CAPTURE: true}'"),
		"agent-env-bad":                set(settings + "'proxyMetadata: {MINIMUM_DRAIN_DURATION: \"15\"}'"),
		"resources-partial":            set(note + "sidecar.istio.io/proxyMemory = 256Mi"),
		"resources-request-over-limit": set(note+"sidecar.istio.io/proxyMemory = 2Gi", note+"sidecar.istio.io/proxyMemoryLimit = 1Gi"),
		"reserved-port":                set("spec containers 0 ports = [{containerPort: 15001}]"),
		"prometheus-port-loop":         set(note+"prometheus.io/port = '15020'", note+"prometheus.io/scrape = 'true'", note+"prometheus.io/path = /metrics"),
		"probe-port-name-missing":      set("spec containers 0 readinessProbe = {httpGet: {path: /, port: nosuch}}"),
		"uid-1337":                     set("spec containers 0 securityContext = {runAsUser: 1337}"),
		"podsecurity-init":             {edits: []string{ns}, behind: spaceNS + "pod-security.kubernetes.io/enforce: restricted\n"},
		"hold-replaced": with("set-json global.proxy.lifecycle={\"preStop\":{\"exec\":{\"command\":[\"sleep\",\"9\"]}}}", classic,
			settings+"'holdApplicationUntilProxyStarts: true'"),
		"hold-no-restart":         set(classic, settings+"'holdApplicationUntilProxyStarts: true'", "spec restartPolicy = Never"),
		"hold-workaround":         set("spec containers 0 command = [sh, -c, 'until nc -z 127.0.0.1 15021; do sleep 1; done; exec /app']"),
		"first-without-hold":      set(classic, "spec containers + = {name: istio-proxy, image: auto}"),
		"init-network":            with("set pilot.cni.enabled=true", classic, "spec initContainers = [{name: migrate, image: 'example/migrate:1'}]"),
		"poststart-http":          set(classic, "spec containers 0 lifecycle = {postStart: {httpGet: {path: /, port: 80}}}"),
		"prestop-http":            set(classic, "spec containers 0 lifecycle = {preStop: {httpGet: {path: /, port: 80}}}"),
		"grace-below-drain":       set(classic, "spec terminationGracePeriodSeconds = 3"),
		"drain-below-app-prestop": set(classic, sleep15),
		"drain-duration-ignored":  set(settings + "'{terminationDrainDuration: 9s, " + strings.ReplaceAll(exit0, "'", "\"") + "}'"),
		"exit-on-zero-short":      set(classic, sleep15, settings+"'"+strings.ReplaceAll(exit0, "'", "\"")+"'"),
		"exit-on-zero-native":     with("native true", settings+"'"+strings.ReplaceAll(exit0, "'", "\"")+"'"),
		"native-drain-replaced":   with("set-json global.proxy.lifecycle={\"postStart\":{\"exec\":{\"command\":[\"true\"]}}}\nnative true"),
		"job-classic-sidecar":     {edits: []string{classic}, jobs: true},
		"native-unsupported":      with("kube 1.27", note+"sidecar.istio.io/nativeSidecar = 'true'"),
		"feature-needs-istio":     with("istio 1.18\nnative true"),
		"dead-sidecar-type":       set("spec containers 0 lifecycle = {type: Sidecar}"),
		"container-name-clash":    set("spec containers 0 name = istio-proxy"),
		"volume-name-clash":       set("spec volumes + = {name: istio-envoy, emptyDir: {}}"),
		"image-auto-not-injected": set("spec containers 0 image = auto", "metadata labels sidecar.istio.io/inject = 'false'"),
		"already-injected":        {injected: true},
		"stale-injection":         {injected: true, options: "injected\nset global.tag=1.30.999"},
		"webhook-will-overwrite":  {edits: []string{ns}, injected: true, behind: spaceNS + "istio-injection: enabled\n"},
		"suppression-unknown":     set(note + "inject.krm/lint-ignore = no-such-rule"),
		"suppression-unused":      set(note + "inject.krm/lint-ignore = uid-1337"),
	}
}

// recallWorkloads is how many real workloads each mistake is made in.
const recallWorkloads = 8

// TestLintRecall makes each rule's mistake in real workloads and looks whether it is found.
func TestLintRecall(t *testing.T) {
	t.Parallel()
	files := lintCorpus(t)
	for _, r := range lint.Rules() {
		m, ok := mistakes()[r.ID]
		if !ok {
			t.Errorf("no mistake for %s", r.ID)
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			before, _ := optionsSetup(t, "").linter(t, lint.Rules())
			l, configured := optionsSetup(t, m.options).linter(t, lint.Rules())
			tried, found := 0, 0
			repositories := map[string]bool{}
			for _, name := range sortedNames(files) {
				repository, _, _ := strings.Cut(name, "/")
				if tried == recallWorkloads || repositories[repository] {
					continue
				}
				docs, _ := manifest.Split(name, files[name])
				for _, d := range docs {
					text := m.make(t, d, before.Injector.Document)
					if text == "" {
						continue
					}
					repositories[repository] = true
					tried++
					mutated, _ := manifest.Split("input.yaml", []byte(text))
					found += min(1, len(of(r.ID, append(l.Lint(mutated).Findings, configured...))))
					if len(of(r.ID, append(l.Lint(mutated).Findings, configured...))) == 0 {
						t.Errorf("not found in %s, document %d", name, d.Index)
					}
					break
				}
			}
			if tried < 5 {
				t.Errorf("only %d workloads", tried)
			}
			t.Logf("%d of %d found", found, tried)
		})
	}
}

// optionsSetup is readLintSetup of a text.
func optionsSetup(t testing.TB, options string) lintSetup {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "options"), []byte(options), 0o644); err != nil {
		t.Fatal(err)
	}
	return readLintSetup(t, dir)
}

// make gives the document with the mistake in it; empty where it holds no plain workload.
func (m mistake) make(t testing.TB, d manifest.Document, inject func(manifest.Document) transform.Result) string {
	t.Helper()
	p, _ := d.Parse()
	if p == nil || p.Root == nil {
		return ""
	}
	found := workload.Find(workload.Default(), p.Root)
	if len(found.Objects) != 1 || len(found.Objects[0].Templates) != 1 {
		return ""
	}
	o := found.Objects[0]
	job := o.Resource.Kind == "Job" || o.Resource.Kind == "CronJob"
	if job != m.jobs || o.Group != "apps" && o.Group != "batch" || typed.Get(o.Templates[0].Spec, "hostNetwork") != nil {
		return ""
	}
	if o.Resource.Namespace == "kube-system" || strings.Contains(string(d.Raw), "istio.io/") {
		return ""
	}
	var list []manifest.Change
	for _, e := range m.edits {
		list = append(list, changeOf(t, o, e))
	}
	res, fs := manifest.Apply(p, list)
	for _, f := range fs {
		if f.Severity == policy.Error {
			return ""
		}
	}
	raw := res.Raw
	if m.injected {
		again, _ := manifest.Split("input.yaml", raw)
		var all []byte
		for _, d := range again {
			r := inject(d)
			if r.Failed() {
				return ""
			}
			all = append(all, r.Raw...)
		}
		raw = all
	}
	text := string(raw)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + strings.ReplaceAll(m.behind, "NS", "mesh-test")
}

func changeOf(t testing.TB, o workload.Object, edit string) manifest.Change {
	t.Helper()
	where, value, ok := strings.Cut(edit, " = ")
	if !ok {
		t.Fatalf("%q is no edit", edit)
	}
	steps := o.Templates[0].Path
	if rest, own := strings.CutPrefix(where, "own: "); own {
		where, steps = rest, o.Path
	}
	c := manifest.Change{}
	for _, s := range steps {
		c.Path = append(c.Path, manifest.Step(s))
	}
	for word := range strings.FieldsSeq(where) {
		switch {
		case word == "+":
			c.Op = manifest.Insert
		case word == "0":
			c.Path = append(c.Path, manifest.At(0))
		default:
			c.Path = append(c.Path, manifest.Key(word))
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(value), &doc); err != nil {
		t.Fatalf("%q: %v", edit, err)
	}
	c.Value = doc.Content[0]
	return c
}
