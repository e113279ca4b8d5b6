package transform

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// Codes of the function's own findings.
const (
	// CodeFunction is wrong usage of the function: its place, its configuration, or what it was fed.
	CodeFunction = "E_FUNCTION"
	// CodeNotInjected names, in Validate, a pod that is not injected or not up to date.
	CodeNotInjected = "W_NOT_INJECTED"
	// CodeDeployed warns of a mesh's own ConfigMap that configures the function and would be deployed as well.
	CodeDeployed = "W_DEPLOYED"
	// codeAsked warns of a pod that asked for a sidecar and got none, codeInjected tells of one that got it.
	codeAsked    = "W_SKIPPED"
	codeInjected = "I_INJECTED"
)

// Status is how a run of the function ended; the values are exit statuses.
type Status int

// The endings.
const (
	// Done: the list is to be taken.
	Done Status = 0
	// FoundErrors: Validate found something of severity error.
	FoundErrors Status = 1
	// CannotRun: bad configuration or a manifest that cannot be injected; the items are as they came.
	CannotRun Status = 2
)

// Files reads what a functionConfig names by path. Paths are those of the functionConfig, relative to the folder of the
// kustomization.
type Files interface {
	// ReadFile gives the content of a file.
	ReadFile(name string) ([]byte, error)
	// ReadFolder gives the files of a profile folder by their names.
	ReadFolder(name string) (map[string][]byte, []policy.Finding)
}

// Function is inject as a KRM function (kubernetes-sigs/kustomize, cmd/config/docs/api-conventions/functions-spec.md).
type Function struct {
	// Files reads what the functionConfig names; nil refuses paths.
	Files Files
	// Registry is what kinds of the functionConfig are added to; the zero value is workload.Default().
	Registry workload.Registry
}

// FunctionOutput is what a run of the function made.
type FunctionOutput struct {
	// Raw is the ResourceList to write: items as they are to be, and results. It is empty where the input was none.
	Raw    []byte
	Status Status
	// Findings are the results in the order of the items; their positions name the item's file where that is known.
	Findings []policy.Finding
	// Workloads are the pod templates of the items.
	Workloads []Workload
	// Quiet is the functionConfig's wish that findings go to the results alone.
	Quiet bool
}

// Run takes the ResourceList of a stream, injects or checks its items, and gives the list with the results set. Order
// and number of items stay, unless the functionConfig says passItems: false.
func (f Function) Run(name string, input []byte) FunctionOutput {
	if len(f.Registry.Rows()) == 0 {
		f.Registry = workload.Default()
	}
	run := functionRun{Function: f}
	if !run.read(name, input) {
		return run.out
	}
	run.work()
	run.finish()
	return run.out
}

// functionRun is one run.
type functionRun struct {
	Function
	list *resourceList
	spec functionSpec
	out  FunctionOutput
	// injected is the list with its items injected; pieced says that it was cut for that.
	injected []byte
	pieced   bool
}

// fail files errors that keep the function from running.
func (r *functionRun) fail(fs ...policy.Finding) {
	r.out.Findings = append(r.out.Findings, fs...)
	if policy.HasErrors(fs) {
		r.out.Status = CannotRun
	}
}

// misuse is an error about the function itself.
func misuse(message, hint string) policy.Finding {
	return policy.Finding{Code: CodeFunction, Severity: policy.Error, Message: message, Hint: hint}
}

// read opens the list and its functionConfig.
func (r *functionRun) read(name string, input []byte) bool {
	list, fs := parseResourceList(name, input)
	r.fail(fs...)
	if list == nil {
		if LooksLikeResourceList(input) {
			r.out.Raw = resultsOnly(r.out.Findings)
		}
		return false
	}
	r.list = list
	return true
}

// work injects the items into r.injected, or leaves findings.
func (r *functionRun) work() {
	r.injected = r.list.parsed.Doc.Raw
	spec, fs := readFunctionConfig(r.list.functionConfig)
	r.spec, r.out.Quiet = spec, spec.quiet
	r.configProblems(fs)
	if len(fs) > 0 {
		return
	}
	if r.list.isGenerator() {
		r.configProblems([]policy.Finding{misuse("the only item is the function's own configuration, as it is under generators:",
			"inject belongs under transformers: in the kustomization")})
		return
	}
	bundle, compiled := r.compile()
	if compiled == nil {
		return
	}
	compiled.Options.function = true
	result := r.document(New(compiled.Options))
	for i := range result.Findings {
		r.file(&result.Findings[i])
	}
	for i := range result.Workloads {
		r.place(&result.Workloads[i])
	}
	r.out.Workloads = result.Workloads
	if spec.validate {
		r.validated(result, NewLinter(bundle, compiled, LintOptions{Rules: defaultRules(), KubeVersion: spec.kubeVersion}))
	} else {
		r.transformed(result)
	}
}

// transformed takes the injected items.
func (r *functionRun) transformed(result Result) {
	fs := result.Findings
	for _, w := range result.Workloads {
		switch {
		case w.Action == Injected:
			fs = append(fs, about(w, codeInjected, policy.Info, "sidecar injected"))
		case w.Action == Skipped && w.Decision.Asked:
			fs = append(fs, about(w, codeAsked, policy.Warning, "injection was asked for and did not happen: "+skipReason(w)))
		}
	}
	if r.spec.strict {
		for i := range fs {
			if fs[i].Severity == policy.Warning {
				fs[i].Severity = policy.Error
			}
		}
	}
	r.fail(fs...)
	if r.out.Status == Done {
		r.injected = result.Raw
	}
}

// skipReason says why a pod that asked for injection was passed.
func skipReason(w Workload) string {
	if w.Trace != nil && w.Trace.Skipped != "" {
		return w.Trace.Skipped
	}
	return w.Decision.Reason()
}

// about makes a finding about a pod template.
func about(w Workload, code string, severity policy.Severity, message string) policy.Finding {
	return policy.Finding{
		Code: code, Severity: severity, Position: policy.Position{File: w.File}, Document: w.Document,
		Resource: w.Resource, Field: w.Template, Message: message,
	}
}

// validated leaves the items alone and reports what injection and the lint rules have to say about them.
func (r *functionRun) validated(result Result, l *Linter) {
	for _, f := range result.Findings {
		// A rule speaks of this one too.
		if f.Code != policy.CodeInjectValue {
			r.fail(f)
		}
	}
	var fs []policy.Finding
	for _, w := range result.Workloads {
		if w.Action == Injected {
			fs = append(fs, about(w, CodeNotInjected, policy.Warning,
				"not injected, or not up to date: a sidecar would be injected here"))
		}
	}
	for _, f := range l.LintParsed([]*manifest.Parsed{r.list.parsed}).Findings {
		r.file(&f)
		fs = append(fs, f)
	}
	r.out.Findings = append(r.out.Findings, fs...)
	if r.out.Status == Done && policy.HasErrors(fs) {
		r.out.Status = FoundErrors
	}
}

// defaultRules are the lint rules that are asked where nobody chooses.
func defaultRules() []lint.Rule {
	rules, err := lint.Select(lint.Rules(), lint.Settings{})
	if err != nil {
		panic("the rules cannot be selected: " + err.Error())
	}
	return rules
}

// configProblems files findings about the configuration. The functionConfig is their resource where they have none; a
// place in a text goes into the message, as results have no line, and texts inside of objects are no files.
func (r *functionRun) configProblems(fs []policy.Finding) {
	for i := range fs {
		f := &fs[i]
		if f.Resource == (policy.Resource{}) {
			f.Resource = r.list.functionResource()
		}
		if f.Position.Line > 0 {
			f.Message = f.Position.String() + ": " + f.Message
		}
		if isInline(f.Position.File) {
			f.Position = policy.Position{}
		}
	}
	r.fail(fs...)
}

// compile makes a configuration ready; it is nil where there are errors about it.
func (r *functionRun) compile() (*config.Bundle, *Compiled) {
	load, fs := r.loadOptions()
	r.configProblems(fs)
	setup, fs := r.spec.setup(r.Registry)
	r.configProblems(fs)
	if r.out.Status != Done {
		return nil, nil
	}
	bundle, fs := config.Load(load)
	r.configProblems(fs)
	if bundle == nil {
		r.out.Status = CannotRun
		return nil, nil
	}
	if r.spec.strict && bundle.EmbeddedTemplates {
		r.configProblems([]policy.Finding{misuse("strict needs a configuration: the embedded profile is nobody's mesh",
			"give spec.profile, spec.config or spec.fromConfigMaps")})
	}
	around := &Surroundings{DefaultNamespace: setup.Namespace}
	around.add(r.list.parsed)
	r.configProblems(around.Findings)
	setup.Surroundings = func() *Surroundings { return around }
	compiled, fs := Compile(bundle, setup)
	r.configProblems(fs)
	if compiled == nil || r.out.Status != Done {
		r.out.Status = CannotRun
		return nil, nil
	}
	return bundle, compiled
}

// file gives a finding about an item the file of that item. Lines of the ResourceList are lines of no file.
func (r *functionRun) file(f *policy.Finding) {
	i, rest, ok := itemIndex(f.Resource.Item)
	if !ok {
		f.Position = policy.Position{}
		return
	}
	f.Resource.Item = rest
	f.Position = policy.Position{File: r.list.items[i].path}
	f.Document = r.list.items[i].index + 1
}

// place does the same for a workload.
func (r *functionRun) place(w *Workload) {
	i, rest, ok := itemIndex(w.Resource.Item)
	if !ok {
		return
	}
	w.Resource.Item, w.Line, w.Document = rest, 0, r.list.items[i].index+1
	w.File = r.list.items[i].path
}

// itemIndex takes items[3].items[0] apart into 3 and items[0].
func itemIndex(item string) (i int, rest string, ok bool) {
	text, ok := strings.CutPrefix(item, "items[")
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(text, "]")
	i, err := strconv.Atoi(number)
	return i, strings.TrimPrefix(rest, "."), ok && err == nil
}

// finish writes the list.
func (r *functionRun) finish() {
	empty := r.spec.validate && !r.spec.passItems && r.out.Status == Done
	if r.pieced && !empty {
		r.out.Raw = appendResults(r.injected, r.out.Findings)
		return
	}
	raw, err := r.list.written(r.injected, r.out.Findings, empty)
	if err != nil {
		r.fail(*err)
		raw = resultsOnly(r.out.Findings)
	}
	r.out.Raw = raw
}

// LooksLikeResourceList tells, without parsing, whether text begins as a ResourceList: apiVersion and kind are among the
// first fields, since every orchestrator writes them first.
func LooksLikeResourceList(text []byte) bool {
	head := text[:min(len(text), 512)]
	kind := bytes.Index(head, []byte(resourceListKind))
	if kind < 0 || !bytes.Contains(head, []byte(resourceListGroup)) {
		return false
	}
	items := bytes.Index(head, []byte("items"))
	return items < 0 || kind < items
}
