package transform

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/workload"
)

// StepResult is what a step came to.
type StepResult string

// The results. A step passes where it says nothing, stops where it ends injection, sets where it decides something.
const (
	StepPass       StepResult = "pass"
	StepStop       StepResult = "stop"
	StepSet        StepResult = "set"
	StepNotReached StepResult = "not-reached"
)

// The ids of the steps beside the rules of the decision, which have the ids of package policy.
const (
	StepKind        = "kind"
	StepInjected    = "already-injected"
	StepAnnotations = "annotations"
	StepTemplates   = "templates"
	StepNative      = "native"
	StepLifecycle   = "lifecycle"
	StepRedirect    = "redirect"
	StepOrder       = "order"
	StepProbes      = "probes"
	StepPrometheus  = "prometheus"
	StepOverrides   = "overrides"
	StepSeal        = "seal"
	StepResultCheck = "result"
)

// Step is one step of the way from a pod template to its injected form.
type Step struct {
	ID string
	// Field is where the step looked, as a path from the object, a key of the configuration or a flag; Saw what was there.
	Field, Saw string
	Result     StepResult
	// Note says what the step did, or why it did not.
	Note string
	// Source is the place of Field in the manifest or the configuration; zero where it is in neither.
	Source policy.Position
}

// kindStop is the one step of an object of a registered kind without a pod template.
func kindStop(d *documentWork, o workload.Object) Step {
	s := Step{ID: StepKind, Field: "kind", Saw: o.Row.Name(), Result: StepStop, Source: d.parsed.Position(walkField(o.Node, "kind"))}
	switch o.Row.Mode {
	case workload.Never:
		s.Note = o.Row.Reason
	case workload.Off:
		s.Note = "off; --kind +" + o.Row.Name() + " switches it on"
	default:
		s.Note = "no pod template in it"
	}
	return s
}

// trail makes the steps.
func (x *explaining) trail() []Step {
	t := x.doc
	steps := []Step{{
		ID: StepKind, Field: "kind", Saw: x.view.object.Row.Name(), Result: StepPass,
		Note:   "pod template at " + orObject(x.view.place.Field(x.view.object)),
		Source: t.parsed.Position(walkField(x.view.object.Node, "kind")),
	}}
	webhook := false
	for _, s := range x.workload.Decision.Trail {
		steps = append(steps, x.decisionStep(s))
		webhook = webhook || s.Rule == policy.RuleWebhook
	}
	if !webhook {
		steps = append(steps, Step{
			ID: policy.RuleWebhook, Result: StepNotReached,
			Note: "not asked: needs --namespace-labels, or --namespaces-from-input and the Namespace",
		})
	}
	if !x.workload.Decision.Inject {
		return append(steps, notReached()...)
	}
	if x.workload.Action == Failed || x.doc.hasErrors(x.firstFinding) || x.watch.out == nil {
		return append(steps, x.failed()...)
	}
	return append(steps, x.injection()...)
}

func orObject(field string) string {
	if field == "" {
		return "the object itself"
	}
	return field
}

// injectionSteps lists the ids of the steps behind the decision, in order.
func injectionSteps() []string {
	return []string{
		StepInjected, StepAnnotations, StepTemplates, StepNative, StepLifecycle, StepRedirect, StepOrder, StepProbes,
		StepPrometheus, StepOverrides, StepSeal,
	}
}

func notReached() []Step {
	var out []Step
	for _, id := range injectionSteps() {
		out = append(out, Step{ID: id, Result: StepNotReached})
	}
	return out
}

// decisionStep is a rule of the decision with the place of what it saw.
func (x *explaining) decisionStep(s policy.TrailStep) Step {
	out := Step{ID: s.Rule, Field: s.Field, Saw: s.Saw, Note: s.Note, Source: x.rulePlace(s)}
	if s.Place == policy.InTemplate && s.Field != "" {
		out.Field = joinField(x.view.place.Field(x.view.object), s.Field)
	}
	if !s.Present {
		out.Saw = ""
	}
	switch s.Result {
	case policy.Yes:
		out.Result = StepSet
	case policy.No:
		out.Result = StepStop
	case policy.NotReached:
		out.Result = StepNotReached
	default:
		out.Result = StepPass
	}
	return out
}

// rulePlace finds the place of what a rule saw.
func (x *explaining) rulePlace(s policy.TrailStep) policy.Position {
	if s.Result == policy.NotReached || !s.Present && s.Result == policy.Pass {
		return policy.Position{}
	}
	switch s.Place {
	case policy.InTemplate:
		if n := walkField(x.view.place.Node, s.Field); n != nil {
			return x.doc.parsed.Position(n)
		}
	case policy.InWorkload:
		if n := walkField(x.view.object.Node, s.Field); n != nil {
			return x.doc.parsed.Position(n)
		}
	case policy.InNamespace:
		return x.namespacePlace(s.Field)
	case policy.InConfig:
		return builtIn(x.configPlace(s.Field))
	case policy.InFlags:
		return policy.Position{File: s.Field}
	}
	return policy.Position{}
}

// namespacePlace is where a label of the pod's namespace stands: in the input, or on the command line.
func (x *explaining) namespacePlace(field string) policy.Position {
	n := x.surroundings().Namespace(x.facts.Namespace)
	if n == nil || !x.watch.explainer.src.Setup.NamespacesDecide {
		return policy.Position{File: "--namespace-labels"}
	}
	key := strings.TrimSuffix(strings.TrimPrefix(field, "metadata.labels["), "]")
	if at, ok := n.Places[[2]string{"labels", key}]; ok {
		return at
	}
	return n.Position
}

// builtIn leaves the line out of a place in the embedded profile: nobody has that file open.
func builtIn(p policy.Position) policy.Position {
	if strings.HasPrefix(p.File, "embedded profile/") {
		p.Line, p.Column = 0, 0
	}
	return p
}

// configPlace is where a part of the injection config was written: in its file, or in the values that the embedded
// templates come with.
func (x *explaining) configPlace(field string) policy.Position {
	b := x.watch.explainer.src.Bundle
	name, index := field, -1
	if list, i, ok := strings.Cut(strings.TrimSuffix(field, "]"), "["); ok {
		name = list
		index, _ = strconv.Atoi(i)
	}
	selectors := b.Injection.Never
	if name == "alwaysInjectSelector" {
		selectors = b.Injection.Always
	}
	if index >= 0 && index < len(selectors) {
		return selectors[index].Position
	}
	if b.EmbeddedTemplates {
		if name == "policy" {
			return b.Values.Origin("global", "proxy", "autoInject")
		}
		return b.Values.Origin("sidecarInjectorWebhook", name)
	}
	if at, ok := b.Injection.Places[name]; ok {
		return at
	}
	return b.Injection.Source
}

// failed says at which step injection failed, by the errors about the workload.
func (x *explaining) failed() []Step {
	at := StepResultCheck
	var messages []string
	var source policy.Position
	for _, f := range x.doc.result.Findings[x.firstFinding:] {
		if f.Severity != policy.Error {
			continue
		}
		switch {
		case f.Code == "E_ANNOTATION":
			at = StepAnnotations
		case strings.HasPrefix(f.Code, "E_TEMPLATE") && at == StepResultCheck:
			at = StepTemplates
		case f.Code == codeSeal && at == StepResultCheck:
			at = StepSeal
		}
		if len(messages) == 0 {
			source = f.Position
		}
		messages = append(messages, f.Message)
	}
	var out []Step
	stopped := false
	for _, id := range append(injectionSteps(), StepResultCheck) {
		switch {
		case stopped && id == StepResultCheck:
		case stopped:
			out = append(out, Step{ID: id, Result: StepNotReached})
		case id == at:
			stopped = true
			out = append(out, Step{ID: id, Result: StepStop, Note: strings.Join(messages, "; "), Source: source})
		default:
			out = append(out, Step{ID: id, Result: StepPass})
		}
	}
	return out
}

// injection are the steps of an injection that went through, from the engine's trace.
func (x *explaining) injection() []Step {
	tr := &x.watch.out.Trace
	var out []Step
	add := func(id string, r StepResult, note string) *Step {
		out = append(out, Step{ID: id, Result: r, Note: note})
		return &out[len(out)-1]
	}
	annotation := func(s *Step, key string) {
		s.Field, s.Saw = joinField(x.view.place.Field(x.view.object), "metadata.annotations["+key+"]"), x.original.Annotations[key]
		s.Source = x.annotationPlace(key)
	}
	if tr.Stripped {
		s := add(StepInjected, StepSet, "the earlier injection is taken out first")
		s.Field = joinField(x.view.place.Field(x.view.object), "metadata.annotations["+policy.AnnotationStatus+"]")
		s.Source = x.annotationPlace(policy.AnnotationStatus)
	} else {
		add(StepInjected, StepPass, "no earlier injection")
	}
	add(StepAnnotations, StepPass, "all values are accepted")
	for _, id := range [][2]string{{StepTemplates, "templates"}, {StepNative, "nativeSidecar"}} {
		if v := x.value(id[1]); v != nil {
			out = append(out, Step{ID: id[0], Result: StepSet, Field: v.Name, Saw: v.Value, Note: cmp.Or(v.Note, "from "+v.Layer), Source: v.Source})
		}
	}
	x.lifecycleStep(add)
	if v := x.value("interceptionMode"); v != nil {
		note := v.Value + ", " + x.redirector()
		if u := x.value("proxyUID"); u != nil {
			note += ", proxy runs as user " + u.Value
		}
		*add(StepRedirect, StepSet, note) = Step{ID: StepRedirect, Result: StepSet, Field: v.Name, Saw: v.Value, Note: note, Source: v.Source}
	} else {
		add(StepRedirect, StepPass, "nothing redirects traffic")
	}
	add(StepOrder, StepSet, x.orderNote())
	if len(tr.Probes) > 0 {
		add(StepProbes, StepSet, fmt.Sprintf("%d sent to the agent: %s", len(tr.Probes), strings.Join(tr.Probes, ", ")))
	} else {
		add(StepProbes, StepPass, "nothing to rewrite")
	}
	if tr.Prometheus {
		add(StepPrometheus, StepSet, "scraping goes to the agent, which merges the application's metrics")
	} else {
		add(StepPrometheus, StepPass, "the scrape annotations stay as they are")
	}
	if len(tr.Overridden) > 0 {
		add(StepOverrides, StepSet, "the pod's own fields count in "+strings.Join(tr.Overridden, ", "))
	} else {
		add(StepOverrides, StepPass, "the pod has no container of an injected name")
	}
	if _, ok := x.watch.out.Template.Annotations[policy.AnnotationSealed]; ok {
		annotation(add(StepSeal, StepSet, "the cluster's webhook leaves the pod as it is"), policy.AnnotationSealed)
	} else {
		add(StepSeal, StepPass, "not sealed")
	}
	return out
}

// lifecycleStep says which hook the proxy has: values lifecycle before the hold hook and the drain hook.
func (x *explaining) lifecycleStep(add func(string, StepResult, string) *Step) {
	tr := &x.watch.out.Trace
	v := x.watch.explainer.src.Bundle.Values
	own, _ := dig(v.Tree, "global", "proxy", "lifecycle").(map[string]any)
	var s *Step
	switch {
	case len(own) > 0:
		s = add(StepLifecycle, StepSet, "global.proxy.lifecycle of the values takes the place of any other hook")
		s.Field, s.Source = "global.proxy.lifecycle", v.Origin("global", "proxy", "lifecycle")
	case x.native():
		s = add(StepLifecycle, StepSet, "native sidecar: it drains when the pod begins to stop")
	case tr.Hold:
		s = add(StepLifecycle, StepSet, "the application waits until the proxy is ready")
	default:
		s = add(StepLifecycle, StepPass, "no hook: the application does not wait for the proxy")
	}
	if hold := x.value("holdApplicationUntilProxyStarts"); hold != nil && s.Field == "" {
		s.Field, s.Saw, s.Source = hold.Name, hold.Value, hold.Source
	}
}

// redirector names what redirects the traffic.
func (x *explaining) redirector() string {
	for _, c := range x.watch.out.Template.Spec.InitContainers {
		switch c.Name {
		case policy.ContainerInit:
			return "by the init container " + policy.ContainerInit
		case policy.ContainerValidation:
			return "by the CNI plugin, checked by " + policy.ContainerValidation
		}
	}
	return "by nothing in the pod"
}

// orderNote says where the proxy stands and why.
func (x *explaining) orderNote() string {
	spec := &x.watch.out.Template.Spec
	var names []string
	for _, c := range spec.InitContainers {
		names = append(names, c.Name)
	}
	text := "init containers " + strings.Join(names, ", ")
	if len(names) == 0 {
		text = "no init containers"
	}
	names = nil
	for _, c := range spec.Containers {
		names = append(names, c.Name)
	}
	text += "; containers " + strings.Join(names, ", ")
	switch tr := &x.watch.out.Trace; {
	case x.native():
		return text + " (native: the proxy starts before the other init containers)"
	case tr.Hold:
		return text + " (hold: the proxy first)"
	default:
		return text + " (the proxy last)"
	}
}
