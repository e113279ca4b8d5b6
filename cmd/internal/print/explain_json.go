package print

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
)

// ExplainKind is the kind of the JSON form of explanations.
const ExplainKind = "ExplainReport"

type explainReport struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Workloads  []explainedJSON    `json:"workloads"`
	Findings   []explainedFinding `json:"findings"`
}

type explainedJSON struct {
	File       string             `json:"file"`
	Line       int                `json:"line"`
	Document   int                `json:"document"`
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Namespace  string             `json:"namespace,omitempty"`
	Name       string             `json:"name"`
	Template   string             `json:"template,omitempty"`
	Inject     bool               `json:"inject"`
	Action     Action             `json:"action"`
	Rule       string             `json:"rule"`
	Reason     string             `json:"reason"`
	Templates  []string           `json:"templates"`
	Trail      []stepJSON         `json:"trail"`
	Values     []valueJSON        `json:"values"`
	Shutdown   *shutdownJSON      `json:"shutdown,omitempty"`
	Bootstrap  []settingJSON      `json:"bootstrap,omitempty"`
	Changes    []changeJSON       `json:"changes"`
	Checks     []explainedFinding `json:"checks"`
}

type explainedFinding struct {
	Code     string      `json:"code"`
	Severity string      `json:"severity"`
	Source   *sourceJSON `json:"source,omitempty"`
	Field    string      `json:"field,omitempty"`
	Message  string      `json:"message"`
	Hint     string      `json:"hint,omitempty"`
}

type sourceJSON struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

type stepJSON struct {
	ID     string               `json:"id"`
	Result transform.StepResult `json:"result"`
	Field  string               `json:"field,omitempty"`
	Saw    string               `json:"saw,omitempty"`
	Note   string               `json:"note,omitempty"`
	Source *sourceJSON          `json:"source,omitempty"`
}

type layeredJSON struct {
	Value  string      `json:"value"`
	Layer  string      `json:"layer"`
	Source *sourceJSON `json:"source,omitempty"`
}

type valueJSON struct {
	Name string `json:"name"`
	layeredJSON
	Note       string        `json:"note,omitempty"`
	Overridden []layeredJSON `json:"overridden"`
	Runtime    *layeredJSON  `json:"runtime,omitempty"`
	Fields     []string      `json:"fields,omitempty"`
	Rules      []string      `json:"rules,omitempty"`
}

type shutdownJSON struct {
	Durations []valueJSON `json:"durations"`
	Wins      string      `json:"wins"`
	Why       string      `json:"why"`
}

type settingJSON struct {
	Name  string   `json:"name"`
	Value string   `json:"value,omitempty"`
	Items []string `json:"items,omitempty"`
}

type changeJSON struct {
	Path     string      `json:"path"`
	Was      string      `json:"was,omitempty"`
	Is       string      `json:"is,omitempty"`
	Step     string      `json:"step"`
	Template string      `json:"template,omitempty"`
	Source   *sourceJSON `json:"source,omitempty"`
}

// ExplainJSON prints explanations and the findings of the run for tools.
func ExplainJSON(w io.Writer, ws []transform.Workload, fs []policy.Finding, o ExplainOptions) error {
	r := explainReport{APIVersion: APIVersion, Kind: ExplainKind, Workloads: []explainedJSON{}, Findings: findingsJSON(prepare(fs))}
	for i := range ws {
		r.Workloads = append(r.Workloads, explainedOf(ws[i], o))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func explainedOf(w transform.Workload, o ExplainOptions) explainedJSON {
	out := explainedJSON{
		File: w.File, Line: w.Line, Document: w.Document, APIVersion: w.Resource.APIVersion, Kind: w.Resource.Kind,
		Namespace: w.Resource.Namespace, Name: w.Resource.Name, Template: w.Template, Inject: w.Decision.Inject,
		Action: Action(w.Action.String()), Rule: w.Decision.Rule, Templates: []string{}, Trail: []stepJSON{},
		Values: []valueJSON{}, Changes: []changeJSON{}, Checks: []explainedFinding{},
	}
	if out.Name == "" && w.Resource.GenerateName != "" {
		out.Name = w.Resource.GenerateName + "*"
	}
	if w.Decision.Rule != transform.StepKind {
		out.Reason = w.Decision.Reason()
	}
	if w.Trace != nil && w.Trace.Templates != nil {
		out.Templates = w.Trace.Templates
	}
	x := w.Explanation
	if x == nil {
		return out
	}
	for _, s := range x.Trail {
		if s.Result == transform.StepNotReached && !o.All {
			continue
		}
		out.Trail = append(out.Trail, stepJSON{s.ID, s.Result, s.Field, s.Saw, s.Note, source(s.Source)})
	}
	out.Values = valuesJSON(x.Values)
	if s := x.Shutdown; s != nil {
		out.Shutdown = &shutdownJSON{valuesJSON(s.Durations), s.Wins, s.Why}
	}
	if x.Bootstrap != nil && o.Bootstrap {
		for _, s := range x.Bootstrap.Settings {
			out.Bootstrap = append(out.Bootstrap, settingJSON(s))
		}
	}
	for _, c := range x.Changes {
		out.Changes = append(out.Changes, changeJSON{c.Path, c.Was, c.Is, c.Step, c.Template, source(c.Source)})
	}
	out.Checks = findingsJSON(x.Checks)
	return out
}

func source(p policy.Position) *sourceJSON {
	if p.File == "" {
		return nil
	}
	return &sourceJSON{p.File, p.Line}
}

func layered(l transform.Layered) layeredJSON { return layeredJSON{l.Value, l.Layer, source(l.Source)} }

func valuesJSON(vs []transform.Value) []valueJSON {
	out := []valueJSON{}
	for _, v := range vs {
		j := valueJSON{
			Name: v.Name, layeredJSON: layered(v.Layered), Note: v.Note, Overridden: []layeredJSON{}, Fields: v.Fields, Rules: v.Rules,
		}
		for _, l := range v.Overridden {
			j.Overridden = append(j.Overridden, layered(l))
		}
		if v.Runtime != nil {
			r := layered(*v.Runtime)
			j.Runtime = &r
		}
		out = append(out, j)
	}
	return out
}

func findingsJSON(fs []policy.Finding) []explainedFinding {
	out := []explainedFinding{}
	for _, f := range fs {
		out = append(out, explainedFinding{f.Code, f.Severity.String(), source(f.Position), f.Field, f.Message, f.Hint})
	}
	return out
}
