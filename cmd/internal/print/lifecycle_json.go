package print

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// LifecycleJSONOptions says what the JSON report holds besides its fixed fields.
type LifecycleJSONOptions struct {
	// Details adds "edits" to every verdict, "sensitivity" and "variant" to the report. Without it the report has
	// exactly the fields of docs/lifecycle.md.
	Details bool
}

// lifecycleReport is the JSON form of a result. Times are seconds, exact to the millisecond.
//
//	apiVersion  "inject.krm/v1alpha1"
//	kind        "LifecycleReport"; several results come as the items of a "LifecycleReportList"
//	workload    kind, namespace, name
//	sidecar     "classic", "native" or "none"
//	options     both versions, and every option that is not the default (durations as text)
//	events      phase, t, container (null for the pod), event; exitCode, restart, epoch, cause where they mean something
//	verdicts    id, severity, phase; from and to where they are known; message, remedy (alternatives in one text)
type lifecycleReport struct {
	APIVersion  string             `json:"apiVersion"`
	Kind        string             `json:"kind"`
	Workload    lifecycleWorkload  `json:"workload"`
	Variant     string             `json:"variant,omitempty"`
	Sidecar     string             `json:"sidecar"`
	Options     map[string]any     `json:"options"`
	Events      []lifecycleEvent   `json:"events"`
	Verdicts    []lifecycleVerdict `json:"verdicts"`
	Sensitivity []lifecycleFlip    `json:"sensitivity,omitempty"`
}

type lifecycleList struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []lifecycleReport `json:"items"`
}

type lifecycleWorkload struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type lifecycleEvent struct {
	Phase     string  `json:"phase"`
	T         float64 `json:"t"`
	Container *string `json:"container"`
	Event     string  `json:"event"`
	ExitCode  *int    `json:"exitCode,omitempty"`
	Restart   int     `json:"restart,omitempty"`
	Epoch     *int    `json:"epoch,omitempty"`
	Cause     string  `json:"cause,omitempty"`
}

type lifecycleVerdict struct {
	ID       string          `json:"id"`
	Severity string          `json:"severity"`
	Phase    string          `json:"phase"`
	From     *float64        `json:"from,omitempty"`
	To       *float64        `json:"to,omitempty"`
	Message  string          `json:"message"`
	Remedy   string          `json:"remedy,omitempty"`
	Edits    []lifecycleEdit `json:"edits,omitempty"`
}

type lifecycleEdit struct {
	Remedy int      `json:"remedy"`
	Path   []string `json:"path"`
	Job    bool     `json:"job,omitempty"`
	Remove bool     `json:"remove,omitempty"`
	Value  any      `json:"value,omitempty"`
}

type lifecycleFlip struct {
	Option  string  `json:"option"`
	At      float64 `json:"at"`
	Above   bool    `json:"above"`
	Verdict string  `json:"verdict"`
	Appears bool    `json:"appears"`
}

// LifecycleJSON writes one result as a LifecycleReport, and any other number of them as a LifecycleReportList.
func LifecycleJSON(w io.Writer, results []lifecycle.Result, o LifecycleJSONOptions) error {
	list := lifecycleList{APIVersion: lifecycleVersion(), Kind: "LifecycleReportList", Items: []lifecycleReport{}}
	for _, r := range results {
		list.Items = append(list.Items, toLifecycleReport(r, o))
	}
	var document any = list
	if len(results) == 1 {
		document = list.Items[0]
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func lifecycleVersion() string { return policy.Prefix + "/v1alpha1" }

func toLifecycleReport(r lifecycle.Result, o LifecycleJSONOptions) lifecycleReport {
	out := lifecycleReport{
		APIVersion: lifecycleVersion(), Kind: "LifecycleReport",
		Workload: lifecycleWorkload{Clean(r.Kind), Clean(r.Namespace), Clean(r.Name)},
		Sidecar:  string(r.Sidecar), Options: r.Options.Changed(),
		Events: []lifecycleEvent{}, Verdicts: []lifecycleVerdict{},
	}
	for _, e := range r.Events {
		out.Events = append(out.Events, toLifecycleEvent(e))
	}
	for _, v := range r.Verdicts {
		out.Verdicts = append(out.Verdicts, toLifecycleVerdict(v, o))
	}
	if o.Details {
		out.Variant = Clean(r.Variant)
		for _, f := range r.Flips {
			out.Sensitivity = append(out.Sensitivity, lifecycleFlip{f.Option, f.At.Seconds(), f.Above, string(f.Verdict), f.Appears})
		}
	}
	return out
}

func toLifecycleEvent(e lifecycle.Event) lifecycleEvent {
	out := lifecycleEvent{
		Phase: string(e.Phase), T: e.At.Seconds(), Event: string(e.Kind), Restart: e.Restart, Cause: e.Cause,
	}
	if e.Container != "" {
		name := Clean(e.Container)
		out.Container = &name
	}
	if e.HasExitCode() {
		out.ExitCode = &e.ExitCode
	}
	if e.HasEpoch() {
		out.Epoch = &e.Epoch
	}
	return out
}

func toLifecycleVerdict(v lifecycle.Verdict, o LifecycleJSONOptions) lifecycleVerdict {
	out := lifecycleVerdict{
		ID: string(v.ID), Severity: v.Severity.String(), Phase: string(v.Phase),
		Message: Clean(v.Message), Remedy: Clean(v.Advice()),
	}
	if v.Timed {
		out.From, out.To = number(v.From), number(v.To)
	}
	if o.Details {
		for i, r := range v.Remedies {
			for _, e := range r.Edits {
				out.Edits = append(out.Edits, lifecycleEdit{i, e.Path, e.Job, e.Remove, e.Value})
			}
		}
	}
	return out
}

// number gives seconds; what never ends has none.
func number(d time.Duration) *float64 {
	if d >= lifecycle.Never {
		return nil
	}
	s := d.Seconds()
	return &s
}
