package transform

import (
	"bytes"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/workload"
)

// CodePatchName is an object that a kustomize patch cannot point to.
const CodePatchName = "E_PATCH_NAME"

// Component prints patches as a kustomize Component, for the components: of a kustomization: one JSON 6902 patch for
// each object, written as JSON (in YAML an unquoted y, on or no would come out as "true"), and guarded by its test,
// as kustomize ignores a patch whose target matches nothing (kustomize, 5.8). An object that has only a generateName
// cannot be named; each is an error, and there is no text.
func Component(patches []Patch) ([]byte, []policy.Finding) {
	var fs []policy.Finding
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, p := range patches {
		if p.Target.Name == "" {
			fs = append(fs, policy.Finding{
				Code: CodePatchName, Severity: policy.Error, Position: p.Position, Document: p.Target.Index + 1,
				Resource: p.Target.Resource(), Field: "metadata.name",
				Message: "the object has only a generateName: kustomize cannot point a patch at it",
				Hint:    "give it a name, or inject its manifest itself",
			})
			continue
		}
		list.Content = append(list.Content, componentPatch(p))
	}
	if len(fs) > 0 {
		return nil, fs
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	put(root, "apiVersion", textNode("kustomize.config.k8s.io/v1alpha1"))
	put(root, "kind", textNode("Component"))
	if len(list.Content) == 0 {
		// kustomize refuses a file that says nothing at all.
		list.Style = yaml.FlowStyle
	}
	put(root, "patches", list)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		panic("a component made of texts cannot be printed: " + err.Error())
	}
	return b.Bytes(), nil
}

// componentPatch is one entry of patches. kustomize reads each field of a target as a regular expression that must match
// all of the value (kustomize, api/types/selector.go, 5.8).
func componentPatch(p Patch) *yaml.Node {
	group := workload.Group(p.Target.APIVersion)
	version := p.Target.APIVersion[strings.IndexByte(p.Target.APIVersion, '/')+1:]
	target := &yaml.Node{Kind: yaml.MappingNode}
	for _, kv := range [][2]string{
		{"group", group}, {"version", version}, {"kind", p.Target.Kind}, {"name", p.Target.Name}, {"namespace", p.Target.Namespace},
	} {
		if kv[1] != "" {
			put(target, kv[0], plainSafe(textNode(regexp.QuoteMeta(kv[1]))))
		}
	}
	ops := p.Ops
	if p.Guard.Op != "" {
		ops = append([]PatchOp{p.Guard}, ops...)
	}
	entry := &yaml.Node{Kind: yaml.MappingNode}
	put(entry, "target", target)
	text := textNode(string(PatchText(ops, "")))
	text.Style = yaml.LiteralStyle
	put(entry, "patch", text)
	return entry
}
