package transform

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Annotations by which orchestrators tell where an item came from (kubernetes-sigs/kustomize, kyaml/kio/kioutil, 5.8).
const (
	annotationPath          = "internal.config.kubernetes.io/path"
	annotationPathOld       = "config.kubernetes.io/path"
	annotationIndex         = "internal.config.kubernetes.io/index"
	annotationOrigin        = "config.kubernetes.io/origin"
	annotationLocal         = "config.kubernetes.io/local-config"
	annotationPreviousNames = "internal.config.kubernetes.io/previousNames"
	annotationPreviousSpace = "internal.config.kubernetes.io/previousNamespaces"
)

const (
	resourceListKind  = "ResourceList"
	resourceListGroup = "config.kubernetes.io/"
)

// resourceList is the document that a function is fed.
type resourceList struct {
	parsed         *manifest.Parsed
	functionConfig *yaml.Node
	items          []listItem
}

// listItem is an object of the list and where it came from.
type listItem struct {
	node *yaml.Node
	// path is the item's file, empty where nobody says; index is its place there, from 0.
	path  string
	index int
}

// parseResourceList reads the one document of input. The list is nil where a finding is an error.
func parseResourceList(name string, input []byte) (*resourceList, []policy.Finding) {
	data, _, f := manifest.Decode(name, input)
	if f != nil {
		return nil, []policy.Finding{*f}
	}
	docs, fs := manifest.Split(name, data)
	if policy.HasErrors(fs) {
		return nil, fs
	}
	var list *manifest.Parsed
	n := 0
	for _, d := range docs {
		parsed, fs := d.Parse()
		if policy.HasErrors(fs) {
			return nil, fs
		}
		if parsed != nil && !typed.IsNull(parsed.Root) {
			list, n = parsed, n+1
		}
	}
	if n == 0 {
		return nil, []policy.Finding{misuse("no input: a function is fed a ResourceList", "a stream of manifests goes through inject -f -")}
	}
	if n > 1 || !isResourceList(list.Root) {
		return nil, []policy.Finding{misuse("the input is no ResourceList of "+strings.TrimSuffix(resourceListGroup, "/"),
			"a stream of manifests goes through inject -f -")}
	}
	return openResourceList(list)
}

// isResourceList tells whether a document is what functions are fed, of any version.
func isResourceList(root *yaml.Node) bool {
	return scalarText(typed.Get(root, "kind")) == resourceListKind &&
		strings.HasPrefix(scalarText(typed.Get(root, "apiVersion")), resourceListGroup)
}

// scalarText is the text of a scalar, empty for anything else.
func scalarText(n *yaml.Node) string {
	if n = typed.Deref(n); n == nil || n.Kind != yaml.ScalarNode || typed.IsNull(n) {
		return ""
	}
	return n.Value
}

func openResourceList(p *manifest.Parsed) (*resourceList, []policy.Finding) {
	l := &resourceList{parsed: p, functionConfig: typed.Deref(typed.Get(p.Root, "functionConfig"))}
	if typed.IsNull(l.functionConfig) {
		l.functionConfig = nil
	}
	if l.functionConfig != nil && l.functionConfig.Kind != yaml.MappingNode {
		return nil, []policy.Finding{misuse("functionConfig is no object", "")}
	}
	items := typed.Deref(typed.Get(p.Root, "items"))
	if typed.IsNull(items) {
		return l, nil
	}
	if items.Kind != yaml.SequenceNode {
		return nil, []policy.Finding{misuse("items of the ResourceList is no list", "")}
	}
	for _, n := range items.Content {
		l.items = append(l.items, newListItem(typed.Deref(n)))
	}
	return l, nil
}

func newListItem(n *yaml.Node) listItem {
	item := listItem{node: n, path: annotation(n, annotationPath)}
	if item.path == "" {
		item.path = annotation(n, annotationPathOld)
	}
	if item.path == "" {
		item.path = originPath(annotation(n, annotationOrigin))
	}
	if i, err := strconv.Atoi(annotation(n, annotationIndex)); err == nil && i >= 0 {
		item.index = i
	}
	return item
}

// annotation gives the text of an annotation of an object.
func annotation(object *yaml.Node, key string) string {
	return scalarText(typed.Get(typed.Get(typed.Get(object, "metadata"), "annotations"), key))
}

// originPath reads the file out of the YAML text that kustomize writes with buildMetadata: [originAnnotations].
func originPath(text string) string {
	if text == "" {
		return ""
	}
	var n yaml.Node
	if yaml.Unmarshal([]byte(text), &n) != nil || len(n.Content) == 0 {
		return ""
	}
	return scalarText(typed.Get(n.Content[0], "path"))
}

// objectOf is apiVersion, kind, namespace and name of an object.
func objectOf(n *yaml.Node) policy.Resource {
	meta := typed.Get(n, "metadata")
	return policy.Resource{
		APIVersion: scalarText(typed.Get(n, "apiVersion")), Kind: scalarText(typed.Get(n, "kind")),
		Namespace: scalarText(typed.Get(meta, "namespace")), Name: scalarText(typed.Get(meta, "name")),
	}
}

// functionResource names the functionConfig in findings.
func (l *resourceList) functionResource() policy.Resource {
	if l.functionConfig == nil {
		return policy.Resource{}
	}
	return objectOf(l.functionConfig)
}

// isGenerator tells whether the list is what kustomize feeds to a generator: the function's configuration and nothing
// else, without a file, which the same object has when a package is read from disk.
func (l *resourceList) isGenerator() bool {
	if len(l.items) != 1 || l.functionConfig == nil || l.items[0].path != "" {
		return false
	}
	id := objectOf(l.items[0].node)
	return workload.Group(id.APIVersion) == policy.Prefix && id == l.functionResource()
}

// written gives the list with the results added, from the text in which its items are as they shall be. Results of
// functions that ran before stay in front.
func (l *resourceList) written(text []byte, fs []policy.Finding, empty bool) ([]byte, *policy.Finding) {
	docs, _ := manifest.Split(l.parsed.Doc.File, text)
	if len(docs) == 0 {
		f := misuse("the written list cannot be read again", "this is a defect of inject: please report it")
		return nil, &f
	}
	var parsed *manifest.Parsed
	for _, d := range docs {
		if p, _ := d.Parse(); p != nil && !typed.IsNull(p.Root) {
			parsed = p
		}
	}
	var changes []manifest.Change
	if empty && len(l.items) > 0 {
		changes = append(changes, manifest.Change{
			Op: manifest.Set, Path: manifest.Keys("items"), Value: &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle},
		})
	}
	if len(fs) > 0 {
		changes = append(changes, l.resultChanges(parsed, fs)...)
	}
	res, problems := manifest.Apply(parsed, changes)
	if policy.HasErrors(problems) {
		return nil, &problems[0]
	}
	return res.Raw, nil
}

// resultChanges sets the results, or adds to those that are there.
func (l *resourceList) resultChanges(p *manifest.Parsed, fs []policy.Finding) []manifest.Change {
	at := manifest.Keys("results")
	before := typed.Deref(typed.Get(p.Root, "results"))
	if before == nil || before.Kind != yaml.SequenceNode || len(before.Content) == 0 {
		return []manifest.Change{{Op: manifest.Set, Path: at, Value: resultNodes(fs)}}
	}
	var out []manifest.Change
	for _, n := range resultNodes(fs).Content {
		out = append(out, manifest.Change{Op: manifest.Insert, Path: at, Index: len(before.Content), Value: n})
	}
	return out
}
