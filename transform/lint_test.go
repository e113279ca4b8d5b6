package transform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// testLinter lints with the embedded profile; mesh is a mesh config file, empty for none.
func testLinter(t testing.TB, mesh string) (*Linter, []policy.Finding) {
	t.Helper()
	load := config.LoadOptions{Embedded: Embedded()}
	if mesh != "" {
		load.Mesh = &config.Source{Name: "mesh.yaml", Data: []byte(mesh)}
	}
	b, fs := config.Load(load)
	if b == nil {
		t.Fatal(fs)
	}
	c, more := Compile(b, Setup{Registry: workload.Default()})
	if c == nil {
		t.Fatal(more)
	}
	l := NewLinter(b, c, LintOptions{Rules: lint.Rules()})
	return l, l.ConfigFindings(fs)
}

// places gives position and rule of each finding.
func places(fs []policy.Finding) string {
	var out []string
	for _, f := range fs {
		text := fmt.Sprintf("%d:%d", f.Position.Line, f.Position.Column)
		if f.EndColumn > 0 {
			text += fmt.Sprintf("-%d", f.EndColumn)
		}
		out = append(out, text+" "+f.Code)
	}
	return strings.Join(out, ", ")
}

func fixedText(t testing.TB, l *Linter, name, text string) string {
	t.Helper()
	docs, _ := manifest.Split(name, []byte(text))
	f := l.Fix(docs)
	for _, p := range f.Problems {
		t.Error(p)
	}
	var b strings.Builder
	for _, d := range f.Docs {
		b.Write(d.Raw)
	}
	return b.String()
}

// pod is a Pod with this metadata, its lines indented as given.
func lintPod(metadata string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n" + metadata + "spec:\n  containers:\n  - name: web\n    image: registry.example/web:1\n"
}

// TestLintPlaces: findings point at the very field, whatever the form of the document, and fixes keep that form.
func TestLintPlaces(t *testing.T) {
	t.Parallel()
	const key = "  annotations:\n    proxy.istio.io/config: "
	for name, c := range map[string]struct {
		file, text, want, fixed string
	}{
		"literal": {
			text:  lintPod(key + "|\n      # kept\n      drainDuraton: 9s\n"),
			want:  "8:7-19 proxy-config-unknown-field",
			fixed: lintPod(key + "|\n      # kept\n      drainDuration: 9s\n"),
		},
		"literal with indent": {
			text: lintPod(key + "|2-\n        drainDuraton: 9s\n"),
			want: "7:9-21 proxy-config-unknown-field",
		},
		"quoted": {
			text:  lintPod(key + "'drainDuraton: 9s'\n"),
			want:  "6:29-41 proxy-config-unknown-field",
			fixed: lintPod(key + "'drainDuration: 9s'\n"),
		},
		"JSON in quotes": {
			text:  lintPod(key + `'{"drainDuraton": "9s"}'` + "\n"),
			want:  "6:30-44 proxy-config-unknown-field",
			fixed: lintPod(key + `'{"drainDuration": "9s"}'` + "\n"),
		},
		"folded": {
			text: lintPod(key + ">\n      drainDuraton: 9s\n"),
			want: "6:28 proxy-config-unknown-field",
		},
		"CRLF": {
			text:  strings.ReplaceAll(lintPod("  labels:\n    sidecar.istio.io/inject: 'yes' # note\n"), "\n", "\r\n"),
			want:  "6:30-35 inject-value-invalid",
			fixed: strings.ReplaceAll(lintPod("  labels:\n    sidecar.istio.io/inject: 'true' # note\n"), "\n", "\r\n"),
		},
		"flow": {
			text:  lintPod("  annotations: {a: b, sidecar.istio.io/loglevel: debug}\n"),
			want:  "5:23-48 annotation-unknown",
			fixed: lintPod("  annotations: {a: b, sidecar.istio.io/logLevel: debug}\n"),
		},
		"wide characters": {
			text:  lintPod("  annotations: {ключ: значение, sidecar.istio.io/loglevel: debug}\n"),
			want:  "5:33-58 annotation-unknown",
			fixed: lintPod("  annotations: {ключ: значение, sidecar.istio.io/logLevel: debug}\n"),
		},
		"JSON": {
			file: "pod.json",
			text: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"sidecar.istio.io/inject":"on"}},` +
				`"spec":{"containers":[{"name":"web","image":"a"}]}}`,
			want: "1:94-98 inject-value-invalid",
			fixed: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"sidecar.istio.io/inject":"true"}},` +
				`"spec":{"containers":[{"name":"web","image":"a"}]}}`,
		},
		"second document": {
			text:  "# first\n---\n" + lintPod("  labels:\n    sidecar.istio.io/inject: 'yes'\n"),
			want:  "8:30-35 inject-value-invalid",
			fixed: "# first\n---\n" + lintPod("  labels:\n    sidecar.istio.io/inject: 'true'\n"),
		},
		"list": {
			text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    labels:\n" +
				"      sidecar.istio.io/inject: 'off' # so it was\n  spec:\n    containers:\n    - name: a\n      image: a\n",
			want: "8:32-37 inject-value-invalid",
			fixed: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    labels:\n" +
				"      sidecar.istio.io/inject: 'false' # so it was\n  spec:\n    containers:\n    - name: a\n      image: a\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := testLinter(t, "")
			if c.file == "" {
				c.file = "pod.yaml"
			}
			docs, _ := manifest.Split(c.file, []byte(c.text))
			if d := cmp.Diff(c.want, places(l.Lint(docs).Findings)); d != "" {
				t.Error(d)
			}
			if c.fixed == "" {
				return
			}
			if d := cmp.Diff(c.fixed, fixedText(t, l, c.file, c.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLintSuppressions: a comment covers what begins on its line or the next one, an annotation its object.
func TestLintSuppressions(t *testing.T) {
	t.Parallel()
	const ports = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n%s  - name: web\n    image: a\n    ports:\n%s    - containerPort: 15090%s\n"
	for name, c := range map[string]struct{ text, want string }{
		"none":               {fmt.Sprintf(ports, "", "", ""), "10:22-27 reserved-port"},
		"behind":             {fmt.Sprintf(ports, "", "", " # inject:ignore reserved-port"), ""},
		"above":              {fmt.Sprintf(ports, "", "    # inject:ignore reserved-port because\n", ""), ""},
		"above a comment":    {fmt.Sprintf(ports, "", "    # inject:ignore reserved-port because\n\n    # metrics\n", ""), ""},
		"above the item":     {fmt.Sprintf(ports, "  # inject:ignore reserved-port\n", "", ""), ""},
		"other rule":         {fmt.Sprintf(ports, "", "", " # inject:ignore uid-1337"), "10:22-27 reserved-port, 10:28 suppression-unused"},
		"two rules":          {fmt.Sprintf(ports, "", "", " # inject:ignore uid-1337, reserved-port both"), "10:28 suppression-unused"},
		"the line before it": {fmt.Sprintf(ports, "", "    # inject:ignore reserved-port\n    - containerPort: 80\n", ""), "10:5 suppression-unused, 12:22-27 reserved-port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := testLinter(t, "")
			docs, _ := manifest.Split("pod.yaml", []byte(c.text))
			if d := cmp.Diff(c.want, places(l.Lint(docs).Findings)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLintMeshConfig: a field of defaultConfig that ProxyConfig does not have is a finding of the rule, in the file.
func TestLintMeshConfig(t *testing.T) {
	t.Parallel()
	_, fs := testLinter(t, "defaultConfig:\n  drainDuraton: 9s\n")
	if len(fs) != 1 || fs[0].Code != "proxy-config-unknown-field" || fs[0].Position.File != "mesh.yaml" || fs[0].Position.Line != 2 {
		t.Errorf("%v", fs)
	}
}

// TestLintUnreadable: a workload that does not parse is reported, and what else is there is linted all the same.
func TestLintUnreadable(t *testing.T) {
	t.Parallel()
	l, _ := testLinter(t, "")
	docs, _ := manifest.Split("pod.yaml", []byte("apiVersion: v1\nkind: Pod\nspec: [\n---\n"+lintPod("  labels:\n    sidecar.istio.io/inject: 'yes'\n")))
	got := l.Lint(docs)
	if !got.Unreadable || len(got.Findings) != 2 || got.Documents != 2 || len(got.Checked) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestLintEngineErrors: what keeps a pod from being injected and no rule speaks of is said in the engine's words.
func TestLintEngineErrors(t *testing.T) {
	t.Parallel()
	l, _ := testLinter(t, "")
	text := lintPod("") + "  - name: web\n    image: b\n"
	docs, _ := manifest.Split("pod.yaml", []byte(text))
	got := l.Lint(docs).Findings
	if len(got) != 1 || got[0].Code != "E_DUPNAME" || got[0].Position.Line != 9 {
		t.Errorf("%v", got)
	}
}

// TestLintParsed gives for parsed documents what Lint gives for their bytes.
func TestLintParsed(t *testing.T) {
	t.Parallel()
	l, _ := testLinter(t, "")
	text := "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels: {istio.io/dataplane-mode: ambient}\n---\n" +
		lintPod("  namespace: shop\n  annotations:\n    sidecar.istio.io/logLevell: debug\n")
	docs, _ := manifest.Split("pod.yaml", []byte(text))
	var parsed []*manifest.Parsed
	for _, d := range docs {
		p, fs := d.Parse()
		if p == nil {
			t.Fatal(fs)
		}
		parsed = append(parsed, p)
	}
	want, got := l.Lint(docs), l.LintParsed(parsed)
	if d := cmp.Diff(want, got); d != "" || len(want.Findings) != 2 {
		t.Errorf("%d findings, (-Lint +LintParsed)\n%s", len(want.Findings), d)
	}
}
