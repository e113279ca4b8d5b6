package transform

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/typed"
)

// Names of Istio's ConfigMaps and their keys (istio/istio, manifests/charts/istio-control/istio-discovery, 1.30).
const (
	mapNamespace = "istio-system"
	mapInjector  = "istio-sidecar-injector"
	mapMesh      = "istio"
)

// Names of sources that are no files begin with one of these words.
const (
	inFunctionConfig = "functionConfig "
	inConfigMap      = "ConfigMap "
)

// isInline tells whether a source is a text inside of an object.
func isInline(name string) bool {
	return strings.HasPrefix(name, inFunctionConfig) || strings.HasPrefix(name, inConfigMap)
}

// loadOptions gathers the three parts from the functionConfig, from files, and from ConfigMaps among the items. What is
// given in a part's own field is not looked for elsewhere.
func (r *functionRun) loadOptions() (config.LoadOptions, []policy.Finding) {
	s := &r.spec
	o := config.LoadOptions{
		Embedded: Embedded(), Revision: s.revision, IstioVersion: s.istioVersion, Set: s.set, SetMesh: s.setMesh,
	}
	var fs []policy.Finding
	for _, p := range []struct {
		name string
		part part
		into **config.Source
	}{{"config", s.config, &o.Injection}, {"values", s.values, &o.Values}, {"mesh", s.mesh, &o.Mesh}} {
		source, f := r.source(p.name, p.part)
		if f != nil {
			fs = append(fs, *f)
		}
		*p.into = source
	}
	if s.profile != "" {
		profile, more := r.profile(s.profile)
		o.Profile, fs = profile, append(fs, more...)
	}
	if s.maps != nil {
		fs = append(fs, r.fromMaps(*s.maps, &o)...)
	} else {
		fs = append(fs, r.unreadMaps()...)
	}
	return o, fs
}

// source gives a part that the functionConfig names; nil where it does not.
func (r *functionRun) source(name string, p part) (*config.Source, *policy.Finding) {
	switch {
	case !p.given:
		return nil, nil
	case p.path == "":
		return &config.Source{Name: inFunctionConfig + "spec." + name, Data: []byte(p.inline)}, nil
	case r.Files == nil:
		f := atField("spec."+name+".path", "files cannot be read here", "give the text with inline")
		return nil, &f
	}
	data, err := r.Files.ReadFile(p.path)
	if err != nil {
		f := atField("spec."+name+".path", "cannot read the file: "+err.Error(),
			"paths are relative to the folder of the kustomization")
		return nil, &f
	}
	return &config.Source{Name: p.path, Data: data}, nil
}

func (r *functionRun) profile(dir string) (*config.Profile, []policy.Finding) {
	if r.Files == nil {
		return nil, []policy.Finding{atField("spec.profile", "files cannot be read here", "")}
	}
	parts, fs := r.Files.ReadFolder(dir)
	if policy.HasErrors(fs) {
		return nil, fs
	}
	profile, more := config.ReadProfile(dir, parts)
	return profile, append(fs, more...)
}

// fromMaps takes the parts that have no field of their own out of Istio's ConfigMaps among the items.
func (r *functionRun) fromMaps(m configMaps, o *config.LoadOptions) []policy.Finding {
	if m.namespace == "" {
		m.namespace = mapNamespace
	}
	if m.injector == "" {
		m.injector = mapInjector
	}
	if m.mesh == "" {
		m.mesh = mapMesh
	}
	if m.revision != "" && m.revision != policy.DefaultRevision {
		m.injector, m.mesh = m.injector+"-"+m.revision, m.mesh+"-"+m.revision
	}
	if o.Revision == "" {
		o.Revision = m.revision
	}
	var fs []policy.Finding
	if o.Injection == nil || o.Values == nil {
		item, more := r.configMap(m.namespace, m.injector)
		fs = append(fs, more...)
		if item != nil {
			fs = append(fs, fromMap(item, "config", &o.Injection)...)
			fs = append(fs, fromMap(item, "values", &o.Values)...)
		}
	}
	if o.Mesh == nil {
		item, more := r.configMap(m.namespace, m.mesh)
		fs = append(fs, more...)
		if item != nil {
			fs = append(fs, fromMap(item, "mesh", &o.Mesh)...)
		}
	}
	return fs
}

// fromMap takes one key of a ConfigMap, unless the part is given.
func fromMap(item *listItem, key string, into **config.Source) []policy.Finding {
	if *into != nil {
		return nil
	}
	id := objectOf(item.node)
	text := typed.Deref(typed.Get(typed.Get(item.node, "data"), key))
	if text == nil || text.Kind != yaml.ScalarNode {
		f := misuse(fmt.Sprintf("the ConfigMap has no data.%s", key), "fromConfigMaps takes the maps as the cluster has them")
		f.Resource, f.Field, f.Position.File = id, "data."+key, item.path
		return []policy.Finding{f}
	}
	*into = &config.Source{Name: fmt.Sprintf("%s%s/%s data.%s", inConfigMap, id.Namespace, id.Name, key), Data: []byte(text.Value)}
	return nil
}

// configMap finds a ConfigMap by its name, or by the name and namespace that it had before kustomize changed them.
func (r *functionRun) configMap(namespace, name string) (*listItem, []policy.Finding) {
	var found *listItem
	for i := range r.list.items {
		item := &r.list.items[i]
		if id := objectOf(item.node); isConfigMap(id) && id.Name == name && id.Namespace == namespace {
			found = item
			break
		}
		if found == nil && wasConfigMap(item.node, namespace, name) {
			found = item
		}
	}
	if found == nil {
		return nil, []policy.Finding{atField("spec.fromConfigMaps", fmt.Sprintf("the input has no ConfigMap %s/%s", namespace, name),
			"list it under resources:, with the annotation "+annotationLocal+`: "true"`)}
	}
	if annotation(found.node, annotationLocal) == "true" {
		return found, nil
	}
	return found, []policy.Finding{{
		Code: CodeDeployed, Severity: policy.Warning, Resource: objectOf(found.node), Position: policy.Position{File: found.path},
		Message: "this ConfigMap configures the function and will be deployed too",
		Hint:    "annotate it with " + annotationLocal + `: "true"`,
	}}
}

func isConfigMap(id policy.Resource) bool { return id.APIVersion == "v1" && id.Kind == "ConfigMap" }

// wasConfigMap compares the first of the names that kustomize has noted.
func wasConfigMap(n *yaml.Node, namespace, name string) bool {
	id := objectOf(n)
	if !isConfigMap(id) {
		return false
	}
	return first(annotation(n, annotationPreviousNames), id.Name) == name &&
		first(annotation(n, annotationPreviousSpace), id.Namespace) == namespace
}

// first is the first entry of a comma-separated list, or the other text where there is none.
func first(list, other string) string {
	if head, _, _ := strings.Cut(list, ","); head != "" {
		return head
	}
	return other
}

// unreadMaps warns of a mesh's injector map that was put into the list to configure the function while nothing says to
// read it.
func (r *functionRun) unreadMaps() []policy.Finding {
	if s := r.spec; s.config.given || s.values.given || s.profile != "" {
		return nil
	}
	for i := range r.list.items {
		item := &r.list.items[i]
		id := objectOf(item.node)
		if isConfigMap(id) && strings.HasPrefix(id.Name, mapInjector) && annotation(item.node, annotationLocal) == "true" {
			return []policy.Finding{{
				Code: CodeFunction, Severity: policy.Warning, Resource: id, Position: policy.Position{File: item.path},
				Message: "this ConfigMap is not read, the embedded profile is used",
				Hint:    "set spec.fromConfigMaps: {namespace: " + id.Namespace + "}",
			}}
		}
	}
	return nil
}
