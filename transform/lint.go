package transform

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// LintOptions is what linting needs beside a configuration.
type LintOptions struct {
	// Rules are those that are asked; all others of the catalogue count as switched off.
	Rules []lint.Rule
	// KubeVersion is --kube-version; empty for the profile's, else DefaultKubeVersion.
	KubeVersion string
	// Revisions are further revisions and tags of the mesh, besides those that the configuration names.
	Revisions []string
	// Output says that the manifests are meant to hold an injected proxy.
	Output bool
}

// Linter lints documents by one configuration. It is safe for concurrent use.
type Linter struct {
	*Injector
	bundle *config.Bundle
	opts   LintOptions
	run    *lint.Run
	// active are the ids of the rules that are asked, known those of the catalogue.
	active map[string]lint.Rule
	known  map[string]bool
	kinds  manifest.KindSet
}

// Linted is what linting found.
type Linted struct {
	// Findings are sorted by place.
	Findings []policy.Finding
	// Unreadable tells that a document could not be parsed, so that nothing in it was checked.
	Unreadable bool
	// Documents counts those that were read, Checked names the objects that rules were asked about, in input order.
	Documents int
	Checked   []Checked
}

// Checked is an object that was linted.
type Checked struct {
	File     string
	Resource policy.Resource
}

// NewLinter makes a linter of a loaded and compiled configuration.
func NewLinter(b *config.Bundle, c *Compiled, o LintOptions) *Linter {
	l := &Linter{
		Injector: New(c.Options), bundle: b, opts: o,
		active: map[string]lint.Rule{}, known: map[string]bool{}, kinds: manifest.KindSet{},
	}
	for _, r := range o.Rules {
		l.active[r.ID] = r
	}
	for _, r := range lint.Rules() {
		l.known[r.ID] = true
	}
	for k, v := range l.Injector.kinds {
		l.kinds[k] = v
	}
	l.kinds["Namespace"] = nil
	kube, _ := lifecycle.ParseVersion(cmp.Or(o.KubeVersion, b.KubeVersion, DefaultKubeVersion))
	l.run = &lint.Run{
		Kubernetes: kube, Istio: lifecycle.Version{Major: b.Istio.Version.Major, Minor: b.Istio.Version.Minor},
		Values: b.Values.Tree, ValueAt: b.Values.Origin, Mesh: b.Mesh.Config, MeshAt: b.Mesh.Origin,
		Templates: templateNames(b), Revisions: revisions(b, o.Revisions), Output: o.Output,
	}
	return l
}

func templateNames(b *config.Bundle) []string {
	var names []string
	for n := range b.Injection.Templates {
		names = append(names, n)
	}
	for n := range b.Injection.Aliases {
		names = append(names, n)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// revisions gives the revisions of the mesh. Where nothing but the embedded profile speaks they are unknown.
func revisions(b *config.Bundle, more []string) []string {
	var out []string
	add := func(name string) {
		if name != "" {
			out = append(out, name)
		}
	}
	add(b.Revision)
	for _, path := range [][]string{{"revisionTags"}, {"global", "revisionTags"}} {
		for _, tag := range valueList(b.Values.Tree, path) {
			add(tag)
		}
	}
	out = append(out, more...)
	if len(out) == 0 && b.EmbeddedTemplates {
		return nil
	}
	out = append(out, policy.DefaultRevision)
	slices.Sort(out)
	return slices.Compact(out)
}

func valueList(tree map[string]any, path []string) []string {
	var v any = tree
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// ConfigFindings gives what loading the configuration found in the words of the rules: a field of defaultConfig that
// ProxyConfig does not have is a finding of its rule, or none where that is switched off. All else stays as it is.
func (l *Linter) ConfigFindings(fs []policy.Finding) []policy.Finding {
	const rule = "proxy-config-unknown-field"
	var out []policy.Finding
	for _, f := range fs {
		if f.Code == config.CodeUnknown && strings.HasPrefix(f.Field, "defaultConfig.") {
			r, on := l.active[rule]
			if !on {
				continue
			}
			f.Code, f.Severity = rule, r.Severity
		}
		out = append(out, f)
	}
	return out
}

// Lint asks the rules about all documents. Namespaces among them tell about the workloads in them, whatever the order.
func (l *Linter) Lint(docs []manifest.Document) Linted {
	spaces := l.namespaces(docs)
	results := make([]Linted, len(docs))
	parallel(len(docs), func(i int) { results[i] = l.document(docs[i], spaces) })
	return collect(docs, results)
}

// document lints one document. A panic is an error about the document that caused it.
func (l *Linter) document(d manifest.Document, spaces map[string]*lint.Namespace) (out Linted) {
	r := guarded(d, func(d manifest.Document) Result {
		class, kind := d.Sniff(l.kinds)
		out.Findings = policy.Errors(d.Findings)
		if class == manifest.Pass {
			return Result{}
		}
		parsed, fs := d.Parse()
		if parsed == nil {
			out.Findings = append(out.Findings, named(fs, kind)...)
			out.Unreadable = true
			return Result{}
		}
		found := l.parsed(parsed, spaces)
		found.Findings = append(found.Findings, out.Findings...)
		out = found
		return Result{}
	})
	if len(r.Findings) > 0 {
		out.Findings, out.Unreadable = append(out.Findings, r.Findings...), true
	}
	return out
}

// LintParsed is Lint for documents that are parsed already.
func (l *Linter) LintParsed(docs []*manifest.Parsed) Linted {
	spaces := map[string]*lint.Namespace{}
	for _, p := range docs {
		l.addNamespaces(p, spaces)
	}
	results := make([]Linted, len(docs))
	raw := make([]manifest.Document, len(docs))
	for i, p := range docs {
		raw[i] = p.Doc
		results[i] = l.parsed(p, spaces)
	}
	return collect(raw, results)
}

func collect(docs []manifest.Document, results []Linted) Linted {
	var out Linted
	for i := range results {
		out.Findings = append(out.Findings, results[i].Findings...)
		out.Unreadable = out.Unreadable || results[i].Unreadable
		out.Checked = append(out.Checked, results[i].Checked...)
		if docs[i].Index > 0 {
			out.Documents++
		}
	}
	out.Findings = policy.SortFindings(out.Findings)
	return out
}

// parallel calls work for each number below n, on all cores.
func parallel(n int, work func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for i := range n {
			work(i)
		}
		return
	}
	next := make(chan int, workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				work(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// namespaces gives the Namespace objects of the input by name; the first of a name counts.
func (l *Linter) namespaces(docs []manifest.Document) map[string]*lint.Namespace {
	out := map[string]*lint.Namespace{}
	only := manifest.KindSet{"Namespace": nil}
	for _, d := range docs {
		if class, _ := d.Sniff(only); class == manifest.Pass {
			continue
		}
		if p, _ := d.Parse(); p != nil && p.Root != nil {
			l.addNamespaces(p, out)
		}
	}
	return out
}

func (l *Linter) addNamespaces(p *manifest.Parsed, out map[string]*lint.Namespace) {
	for _, o := range workload.Find(l.Injector.opts.Registry, p.Root).Objects {
		if o.Resource.Kind != "Namespace" || o.Group != "" || o.Resource.Name == "" {
			continue
		}
		if _, known := out[o.Resource.Name]; !known {
			out[o.Resource.Name] = l.namespace(p, o)
		}
	}
}

// parsed lints one document.
func (l *Linter) parsed(p *manifest.Parsed, spaces map[string]*lint.Namespace) Linted {
	var out Linted
	if p.Root == nil {
		return out
	}
	found := workload.Find(l.Injector.opts.Registry, p.Root)
	s := l.suppressions(p, found)
	for _, n := range found.Notices {
		if n.Severity == policy.Error {
			out.Findings = append(out.Findings, l.notice(p, n))
		}
	}
	for _, o := range found.Objects {
		if o.Resource.Kind == "Namespace" && o.Group == "" {
			out.Checked = append(out.Checked, Checked{p.Doc.File, o.Resource})
			n := l.namespace(p, o)
			s.annotation(o.Resource, n.Annotations, locate(p, o.Node))
			out.Findings = append(out.Findings, s.apply(lint.InNamespace(l.opts.Rules, n))...)
			s.leave()
		}
		for _, t := range o.Templates {
			out.Checked = append(out.Checked, Checked{p.Doc.File, o.Resource})
			out.Findings = append(out.Findings, l.template(p, o, t, spaces, s)...)
		}
	}
	out.Findings = append(out.Findings, s.rest()...)
	return out
}

func (l *Linter) notice(p *manifest.Parsed, n workload.Notice) policy.Finding {
	f := n.Finding
	f.Document, f.Position = p.Doc.Index, p.Position(n.Node)
	return f
}

// namespace gives the facts about a Namespace object.
func (l *Linter) namespace(p *manifest.Parsed, o workload.Object) *lint.Namespace {
	n := &lint.Namespace{
		Run: l.run, Resource: o.Resource, Document: p.Doc.Index,
		Labels: stringMap(o.Metadata, "labels"), Annotations: stringMap(o.Metadata, "annotations"),
	}
	n.Locator = l.locator(p, o, nil)
	return n
}

// stringMap reads a map of strings; values that are no strings are left out.
func stringMap(metadata *yaml.Node, key string) map[string]string {
	n := typedGet(metadata, key)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if v := manifest.Resolve(n.Content[i+1]); isString(v) {
			out[n.Content[i].Value] = v.Value
		}
	}
	return out
}
