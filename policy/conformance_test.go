package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestInjectRequired(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Name   string
		Config struct {
			Policy               string
			NeverInjectSelector  []metav1.LabelSelector
			AlwaysInjectSelector []metav1.LabelSelector
		}
		Metadata metav1.ObjectMeta
		PodSpec  struct{ HostNetwork bool }
		Want     bool
	}
	readShared(t, tables+"/inject-required.json", &rows)
	refused := 0
	for _, row := range rows {
		f := Facts{
			HostNetwork: row.PodSpec.HostNetwork, Namespace: row.Metadata.Namespace,
			Labels: row.Metadata.Labels, Annotations: row.Metadata.Annotations,
		}
		var ok, okNever, okAlways bool
		f.Policy, ok = ParsePolicy(row.Config.Policy)
		f.Never, okNever = compile(row.Config.NeverInjectSelector)
		f.Always, okAlways = compile(row.Config.AlwaysInjectSelector)
		if !ok || !okNever || !okAlways {
			refused++ // such a config is an error when it is read
			continue
		}
		if got := Decide(f); got.Inject != row.Want {
			t.Errorf("%s: inject %v (%s), want %v", row.Name, got.Inject, got.Reason(), row.Want)
		}
	}
	if len(rows) < 100 || refused > 20 {
		t.Errorf("%d rows of which %d refused: the table is not what it was", len(rows), refused)
	}
}

func compile(selectors []metav1.LabelSelector) (compiled []labels.Selector, ok bool) {
	for i := range selectors {
		s, err := metav1.LabelSelectorAsSelector(&selectors[i])
		if err != nil {
			return nil, false
		}
		compiled = append(compiled, s)
	}
	return compiled, true
}

func TestIgnoredNamespaces(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Namespace string
		Want      bool
	}
	readShared(t, tables+"/ignored-namespaces.json", &rows)
	for _, row := range rows {
		if got := !Decide(Facts{Namespace: row.Namespace}).Inject; got != row.Want {
			t.Errorf("%s: ignored %v, want %v", row.Namespace, got, row.Want)
		}
	}
}

func TestWebhookSelectors(t *testing.T) {
	t.Parallel()
	installs := map[string][]Webhooks{
		"default":                 {{}},
		"default+revision-canary": {{}, {Revision: "canary"}},
		"enableNamespacesByDefault+revision-canary": {{EnableNamespacesByDefault: true}, {Revision: "canary"}},
		"revision-canary+tag-default":               {{Revision: "canary"}}, // the chart renders no webhook for that tag
		"revision-canary+tag-prod":                  {{Revision: "canary", Tags: []string{"prod"}}},
	}
	var table struct {
		Rows []struct {
			Install                    string
			NamespaceLabels, PodLabels map[string]string
			WantWebhooks               []string
		}
	}
	readShared(t, tables+"/webhook-selectors.json", &table)
	for _, row := range table.Rows {
		webhooks, ok := installs[row.Install]
		if !ok {
			t.Fatalf("install %s is not modelled", row.Install)
		}
		got := []string{}
		for _, w := range webhooks {
			if name, ok := w.Match(row.NamespaceLabels, row.PodLabels); ok {
				got = append(got, name)
			}
			f := Facts{Rules: Rules{Webhooks: w}, NamespaceLabels: row.NamespaceLabels, Labels: row.PodLabels}
			_, selected := w.Match(row.NamespaceLabels, row.PodLabels)
			if d := Decide(f); (d.Rule == RuleWebhook) == selected {
				t.Errorf("%s %v %v: rule %s, selected %v", row.Install, row.NamespaceLabels, row.PodLabels, d.Rule, selected)
			}
		}
		if diff := cmp.Diff(row.WantWebhooks, got); diff != "" {
			t.Errorf("%s %v %v (-want +got):\n%s", row.Install, row.NamespaceLabels, row.PodLabels, diff)
		}
	}
	if len(table.Rows) < 400 {
		t.Errorf("%d rows: the table is not what it was", len(table.Rows))
	}
}

func TestAnnotationValidation(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Annotation, Value string
		Valid             bool
	}
	readShared(t, tables+"/annotation-validation.json", &rows)
	seen := make(map[string]bool)
	for _, row := range rows {
		seen[row.Annotation] = true
		if row.Annotation == AnnotationProxyConfig {
			continue // needs the mesh types
		}
		got := ValidateAnnotations(map[string]string{row.Annotation: row.Value}, ValidateOptions{})
		if valid := len(got) == 0; valid != row.Valid {
			t.Errorf("%s %q: valid %v, want %v: %v", row.Annotation, row.Value, valid, row.Valid, got)
		}
	}
	for _, k := range Keys() {
		if k.Validated != seen[k.Name] && k.Kind == Annotation {
			t.Errorf("%s: validated %v, but in the table %v", k.Name, k.Validated, seen[k.Name])
		}
	}
}

func TestValidateAnnotationsTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Annotations map[string]string
		Valid       bool
	}
	readShared(t, tables+"/validate-annotations.json", &rows)
	for _, row := range rows {
		if got := ValidateAnnotations(row.Annotations, ValidateOptions{}); (len(got) == 0) != row.Valid {
			t.Errorf("%v: %v, want valid %v", row.Annotations, got, row.Valid)
		}
	}
}

func TestQuantityTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Value string
		Valid bool
	}
	readShared(t, tables+"/validate-resource-quantity.json", &rows)
	k, _ := Lookup(AnnotationProxyCPU, Annotation)
	for _, row := range rows {
		if err := k.Check(row.Value); (err == nil) != row.Valid {
			t.Errorf("%q: %v, want valid %v", row.Value, err, row.Valid)
		}
	}
}

func TestParsePortsTable(t *testing.T) {
	t.Parallel()
	var rows []struct {
		In    string
		Want  []int
		Error *string
	}
	readShared(t, tables+"/parse-ports.json", &rows)
	for _, row := range rows {
		got, err := ParsePorts(row.In)
		if (err != nil) != (row.Error != nil) {
			t.Errorf("%q: %v, want error %v", row.In, err, row.Error != nil)
		}
		if diff := cmp.Diff(row.Want, append([]int{}, got...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", row.In, diff)
		}
	}
}
