package transform

import (
	"errors"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Filter injects the objects of a kyaml pipeline in place, so that an Injector is a kio.Filter (kubernetes-sigs/kustomize,
// kyaml/kio, 0.21). It returns the nodes it was given, in their order. With an error, which joins a [policy.Finding] for
// each problem, no node has been changed. Warnings and what became of each pod are told by [Injector.Node].
//
// The nodes keep their comments; how they are printed is the writer's affair. Restore records are not written.
func (in *Injector) Filter(nodes []*kyaml.RNode) ([]*kyaml.RNode, error) {
	after := make([]*yaml.Node, len(nodes))
	var errs []error
	for i, n := range nodes {
		var r Result
		after[i], r = in.Node(n.YNode())
		for _, f := range policy.Errors(r.Findings) {
			errs = append(errs, f)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for i, n := range nodes {
		if old := n.YNode(); old != nil && after[i] != old {
			*old = *after[i]
		}
	}
	return nodes, nil
}

// Node injects one object that is given as the tree a YAML parser made of it, and gives the tree as it is to be: the
// given one, which is never written to, where nothing changes. Plain scalars are read as kyaml reads them, so on and
// yes are text where text must stand. The result has no Raw. Findings name the file that kyaml's readers note in the
// object's annotations, and no line.
func (in *Injector) Node(object *yaml.Node) (*yaml.Node, Result) {
	root := object
	if root != nil && root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	var r Result
	if root == nil || root.Kind != yaml.MappingNode {
		return object, r
	}
	own := *in
	own.opts.function, own.opts.NoRecord = true, true
	w := &documentWork{Injector: &own, parsed: &manifest.Parsed{Doc: manifest.Document{Index: 1, Line: 1}, Root: root}, result: &r}
	after := w.node()
	w.placeAll(newListItem(root))
	return after, r
}

// node is run without bytes.
func (w *documentWork) node() *yaml.Node {
	found := workload.Find(w.opts.Registry, w.parsed.Root)
	for _, n := range found.Notices {
		w.notice(n)
	}
	for _, o := range found.Objects {
		for _, t := range o.Templates {
			w.template(o, t)
		}
	}
	if policy.HasErrors(w.result.Findings) || len(w.changes) == 0 {
		return w.parsed.Root
	}
	for i := range w.changes {
		w.changes[i].Value = plainSafe(w.changes[i].Value)
	}
	after, err := manifest.Tree(w.parsed.Root, w.changes)
	if err != nil || !w.readsAll(after) {
		w.defect("the edited object does not read as the intended pod")
		return w.parsed.Root
	}
	w.result.Changed = true
	return after
}

// defect files an error of ours.
func (w *documentWork) defect(message string) {
	w.add(policy.Finding{
		Code: "E_VERIFY", Severity: policy.Error, Message: message, Hint: "this is a defect of inject: please report it with this object",
	}, nil, objectOf(w.parsed.Root))
	w.result.Changed = false
}

// placeAll gives what there is to say the object's file. Lines are those of a text that the caller may never have had.
func (w *documentWork) placeAll(item listItem) {
	at := policy.Position{File: item.path}
	for i := range w.result.Findings {
		w.result.Findings[i].Position, w.result.Findings[i].Document = at, item.index+1
	}
	for i := range w.result.Workloads {
		w.result.Workloads[i].File, w.result.Workloads[i].Line = item.path, 0
		w.result.Workloads[i].Document = item.index + 1
	}
}

// plainSafe gives a value whose texts stay texts for readers of YAML 1.1, which a printer of YAML 1.2 does not see to.
func plainSafe(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	cp := *n
	cp.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		cp.Content[i] = plainSafe(c)
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Style == 0 && typed.PlainKind(n.Value) != typed.String {
		cp.Style = yaml.DoubleQuotedStyle
	}
	return &cp
}
