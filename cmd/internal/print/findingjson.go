package print

import "github.com/kube-inject/inject/policy"

// jsonFinding is the JSON form of a finding. Zero numbers and empty texts, which mean unknown, are left out.
type jsonFinding struct {
	Rule      string      `json:"rule"`
	Severity  string      `json:"severity"`
	Message   string      `json:"message"`
	Hint      string      `json:"hint,omitempty"`
	File      string      `json:"file,omitempty"`
	Line      int         `json:"line,omitempty"`
	Column    int         `json:"column,omitempty"`
	EndLine   int         `json:"endLine,omitempty"`
	EndColumn int         `json:"endColumn,omitempty"`
	Document  int         `json:"document,omitempty"`
	Object    *jsonObject `json:"object,omitempty"`
	Field     string      `json:"field,omitempty"`
	Fix       *jsonFix    `json:"fix,omitempty"`
}

type jsonObject struct {
	APIVersion   string `json:"apiVersion"`
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace,omitempty"`
	Name         string `json:"name,omitempty"`
	GenerateName string `json:"generateName,omitempty"`
	Item         string `json:"item,omitempty"`
}

type jsonFix struct {
	Summary string     `json:"summary"`
	Edits   []jsonEdit `json:"edits"`
}

type jsonEdit struct {
	Path   []string `json:"path"`
	Remove bool     `json:"remove,omitempty"`
	Value  any      `json:"value,omitempty"`
}

func toJSON(f policy.Finding, o Options) jsonFinding {
	out := jsonFinding{
		Rule: f.Code, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint,
		Line: f.Position.Line, Column: f.Position.Column,
		EndLine: f.EndLine, EndColumn: f.EndColumn, Document: f.Document, Field: f.Field,
	}
	if f.Position.File != "" {
		out.File = o.file(f.Position.File)
	}
	if r := f.Resource; r != (policy.Resource{}) {
		out.Object = &jsonObject{
			APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name,
			GenerateName: r.GenerateName, Item: r.Item,
		}
	}
	if f.Fix != nil {
		out.Fix = &jsonFix{Summary: f.Fix.Summary, Edits: []jsonEdit{}}
		for _, e := range f.Fix.Edits {
			out.Fix.Edits = append(out.Fix.Edits, jsonEdit{Path: e.Path, Remove: e.Remove, Value: e.Value})
		}
	}
	return out
}
