package print

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kube-inject/inject/policy"
)

func sampleReport() Report {
	return Report{
		Tool: Tool{Name: "inject", Version: "v1.2.3"},
		Workloads: []Workload{
			{
				File: "a.yaml", Line: 4, Document: 1, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web",
				Template: "spec.template", Action: Injected, Rule: "namespace-label", Field: "metadata.namespace",
				Templates: []string{"sidecar"}, Engine: "1.30", Written: Spliced,
			},
			{
				File: "a.yaml", Line: 40, Document: 2, APIVersion: "v1", Kind: "Pod", Name: "job-*", Action: Skipped,
				Rule: "host-network", Field: "spec.hostNetwork", Reason: "shares the network of its node", Asked: true,
			},
			{
				File: "a.yaml", Line: 50, Document: 3, APIVersion: "v1", Kind: "Pod", Name: "quiet", Action: Skipped,
				Rule: "pod-label", Field: "metadata.labels", Reason: "says sidecar.istio.io/inject=false",
			},
			{
				File: "<stdin>", Line: 1, Document: 1, APIVersion: "batch/v1", Kind: "Job", Namespace: "shop", Name: "once",
				Template: "items[1].spec.template", Action: Injected, Engine: "1.30", Templates: []string{"sidecar", "extra"},
				Written: Reencoded, Reason: "an alias was in the way",
			},
			{File: "<stdin>", Line: 30, Document: 2, APIVersion: "v1", Kind: "Pod", Name: "same", Action: Unchanged, Engine: "1.30"},
			{File: "<stdin>", Line: 60, Document: 3, APIVersion: "v1", Kind: "Pod", Name: "bad\x1b", Action: Failed},
		},
		Findings:  sampleFindings()[:3],
		Documents: 9,
	}
}

func TestReportGolden(t *testing.T) {
	t.Parallel()
	const summary = "inject: Istio 1.30, native sidecars: 2 injected, 2 skipped"
	var text, verbose, machine, none bytes.Buffer
	for _, err := range []error{
		ReportText(&text, sampleReport(), summary, false, Options{}),
		ReportText(&verbose, sampleReport(), summary, true, Options{Style: Style{On: true}}),
		ReportJSON(&machine, sampleReport(), Options{StdinName: "chart.yaml"}),
		ReportJSON(&none, Report{Workloads: []Workload{}}, Options{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	compareGolden(t, "report.txt", text.Bytes())
	compareGolden(t, "report.verbose.txt", verbose.Bytes())
	compareGolden(t, "report.json", machine.Bytes())
	compareGolden(t, "report.empty.json", none.Bytes())
	wellFormed(t, "json", machine.Bytes())
}

func TestReportNothingToSay(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := Report{Workloads: []Workload{{Action: Injected, Written: Spliced}, {Action: Skipped}}}
	if err := ReportText(&b, r, "", false, Options{}); err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// A report is not changed by printing it.
func TestReportKeepsArgument(t *testing.T) {
	t.Parallel()
	r := sampleReport()
	if err := ReportJSON(&bytes.Buffer{}, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleReport(), r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	want := Summary{Documents: 9, Workloads: 6, Injected: 2, Skipped: 2, Errors: 2, Warnings: 1}
	if diff := cmp.Diff(want, sampleReport().Summary()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// fields lists the JSON fields of a type as the page writes them: workloads[].file.
func fields(typ reflect.Type, prefix string) []string {
	var out []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		name = prefix + name
		inner := typ.Field(i).Type
		if inner.Kind() == reflect.Slice {
			name += "[]"
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		out = append(out, name)
		if inner.Kind() == reflect.Struct {
			out = append(out, fields(inner, name+".")...)
		}
	}
	return out
}

// docs/report.md names every field of the JSON report, and no other.
func TestReportPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, match[1])
	}
	want := fields(reflect.TypeFor[jsonReport](), "")
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(documented))); diff != "" {
		t.Errorf("fields (-code +page):\n%s", diff)
	}
	for _, word := range []string{
		APIVersion, ReportKind, string(Injected), string(Skipped), string(Unchanged), string(Failed),
		string(Spliced), string(Reencoded), policy.Error.String(), policy.Warning.String(), policy.Info.String(),
	} {
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("the page does not name `%s`", word)
		}
	}
}

// The page's example is what the writer prints for it.
func TestReportPageExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	web := policy.Resource{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	r := Report{
		Tool:      Tool{Name: "inject", Version: "v1.0.0"},
		Documents: 3,
		Workloads: []Workload{{
			File: "deploy/web.yaml", Line: 1, Document: 1, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web",
			Template: "spec.template", Action: Injected, Rule: "pod-label", Field: `spec.template.metadata.labels["sidecar.istio.io/inject"]`,
			Templates: []string{"sidecar"}, Engine: "1.30", Written: Spliced,
		}},
		Findings: []policy.Finding{{
			Code: "W_TAG", Severity: policy.Warning, Position: policy.Position{File: "deploy/web.yaml", Line: 31, Column: 18},
			Document: 1, Resource: web, Field: "spec.template.spec.containers[0].env[0].value",
			Message: "local tag !vault is kept", Hint: "kubectl ignores the tag",
		}},
	}
	var b bytes.Buffer
	if err := ReportJSON(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), example); diff != "" {
		t.Errorf("example (-printed +page):\n%s", diff)
	}
}
