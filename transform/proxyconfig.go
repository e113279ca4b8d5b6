package transform

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1beta1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// ProxyConfigResource is a ProxyConfig object (networking.istio.io): settings of the proxies of a namespace, of the pods
// that its selector matches, or, in the root namespace and without selector, of the mesh.
type ProxyConfigResource struct {
	Name, Namespace string
	// Created is metadata.creationTimestamp as written; Istio takes the oldest of several.
	Created string
	// Selector are the labels that a pod must have; nil where there is no selector.
	Selector map[string]string
	// Concurrency, Env and ImageType are what it may set; HasImage tells an empty image from none.
	Concurrency *int32
	Env         map[string]string
	ImageType   string
	HasImage    bool
	// Position is where the object begins, Places where its fields are: "concurrency", "image.imageType" and
	// "environmentVariables." with the name behind it.
	Position policy.Position
	Places   map[string]policy.Position
}

// message gives the settings as a part of a ProxyConfig of the mesh (Istio, pilot/pkg/model/proxy_config.go,
// toMeshConfigProxyConfig, 1.30).
func (r *ProxyConfigResource) message() *meshconfig.ProxyConfig {
	out := &meshconfig.ProxyConfig{}
	if r.Concurrency != nil {
		out.Concurrency = wrapperspb.Int32(*r.Concurrency)
	}
	if len(r.Env) > 0 {
		out.ProxyMetadata = maps.Clone(r.Env)
	}
	if r.HasImage {
		out.Image = &networking.ProxyImage{ImageType: r.ImageType}
	}
	return out
}

// over lays the settings over base, which is not changed: variables merge by name, the rest replaces.
func (r *ProxyConfigResource) over(base *meshconfig.ProxyConfig) *meshconfig.ProxyConfig {
	if r == nil {
		return base
	}
	out := shallowProxyConfig(base)
	m := r.message()
	if m.Concurrency != nil {
		out.Concurrency = m.Concurrency
	}
	if m.Image != nil {
		out.Image = m.Image
	}
	if len(m.ProxyMetadata) > 0 {
		merged := maps.Clone(base.GetProxyMetadata())
		if merged == nil {
			merged = map[string]string{}
		}
		maps.Copy(merged, m.ProxyMetadata)
		out.ProxyMetadata = merged
	}
	return out
}

// shallowProxyConfig copies the top level of a message.
func shallowProxyConfig(c *meshconfig.ProxyConfig) *meshconfig.ProxyConfig {
	out := &meshconfig.ProxyConfig{}
	from, to := c.ProtoReflect(), out.ProtoReflect()
	fields := from.Descriptor().Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); from.Has(fd) {
			to.Set(fd, from.Get(fd))
		}
	}
	return out
}

// ProxyConfigLayers are the resources that count for one pod, nil where there is none: in rising order of weight Root and
// Namespace stand below the pod's annotation, Workload above it (Istio, pilot/pkg/model/proxy_config.go,
// EffectiveProxyConfig, 1.30).
type ProxyConfigLayers struct {
	Root, Namespace, Workload *ProxyConfigResource
}

// empty tells that no resource counts.
func (l ProxyConfigLayers) empty() bool {
	return l.Root == nil && l.Namespace == nil && l.Workload == nil
}

// ProxyConfigs gives the resources that count for a pod with these labels in a namespace, where root is the mesh's
// root namespace. Of several the oldest counts, then the first by name.
func (s *Surroundings) ProxyConfigs(root, namespace string, labels map[string]string) ProxyConfigLayers {
	var l ProxyConfigLayers
	if s == nil || len(s.proxies) == 0 {
		return l
	}
	sorted := slices.Clone(s.proxies)
	slices.SortStableFunc(sorted, func(a, b ProxyConfigResource) int {
		return cmp.Or(strings.Compare(created(a), created(b)), strings.Compare(a.Name, b.Name))
	})
	for i := range sorted {
		r := &sorted[i]
		in := cmp.Or(r.Namespace, s.DefaultNamespace)
		switch {
		case r.Selector == nil && in == root && l.Root == nil && root != "":
			l.Root = r
		case r.Selector == nil && in == namespace && namespace != root && l.Namespace == nil:
			l.Namespace = r
		case len(r.Selector) > 0 && in == namespace && l.Workload == nil && matches(r.Selector, labels):
			l.Workload = r
		}
	}
	return l
}

// created sorts objects that are not in a cluster yet behind those that are: they will be younger.
func created(r ProxyConfigResource) string { return cmp.Or(r.Created, "~") }

func matches(selector, labels map[string]string) bool {
	for k, v := range selector {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// effective gives the ProxyConfig of a pod: base with root and namespace over it, the annotation, then the workload's.
func (l ProxyConfigLayers) effective(m *config.Mesh, annotation string) (*meshconfig.ProxyConfig, error) {
	under := l.Namespace.over(l.Root.over(m.Config.GetDefaultConfig()))
	pc := under
	if annotation != "" {
		laid := *m
		mesh := &meshconfig.MeshConfig{}
		from, to := m.Config.ProtoReflect(), mesh.ProtoReflect()
		fields := from.Descriptor().Fields()
		for i := range fields.Len() {
			if fd := fields.Get(i); from.Has(fd) {
				to.Set(fd, from.Get(fd))
			}
		}
		mesh.DefaultConfig = under
		laid.Config = mesh
		own, err := proxyConfig(&laid, annotation)
		if err != nil {
			return nil, err
		}
		pc = own
	}
	return l.Workload.over(pc), nil
}

// proxyConfig reads a ProxyConfig object. A field of a wrong type is left out with a warning: the cluster's API server
// would not have taken the object.
func (s *Surroundings) proxyConfig(p *manifest.Parsed, o workload.Object) {
	r := ProxyConfigResource{
		Name: o.Resource.Name, Namespace: o.Resource.Namespace, Position: p.Position(o.Node),
		Places: map[string]policy.Position{},
	}
	reader := proxyConfigReader{surroundings: s, parsed: p, resource: &r, object: o.Resource}
	if n := typed.Get(o.Metadata, "creationTimestamp"); n != nil && !typed.IsNull(n) {
		r.Created = n.Value
	}
	reader.spec(typed.Get(o.Node, "spec"))
	s.proxies = append(s.proxies, r)
}

type proxyConfigReader struct {
	surroundings *Surroundings
	parsed       *manifest.Parsed
	resource     *ProxyConfigResource
	object       policy.Resource
}

func (r *proxyConfigReader) wrong(n *yaml.Node, field, needs string) {
	r.surroundings.Findings = append(r.surroundings.Findings, policy.Finding{
		Code: "W_PROXYCONFIG", Severity: policy.Warning, Position: r.parsed.Position(n),
		Resource: r.object, Field: field, Message: "this is not " + needs + ", so it does not count",
		Hint: "write " + needs,
	})
}

func (r *proxyConfigReader) spec(spec *yaml.Node) {
	if typed.IsNull(spec) {
		return
	}
	if spec.Kind != yaml.MappingNode {
		r.wrong(spec, "spec", "a mapping")
		return
	}
	for i := 0; i+1 < len(spec.Content); i += 2 {
		key, value := spec.Content[i], typed.Deref(spec.Content[i+1])
		if typed.IsNull(value) {
			continue
		}
		switch key.Value {
		case "selector":
			r.resource.Selector = r.texts(typed.Get(value, "matchLabels"), "spec.selector.matchLabels", "")
		case "environmentVariables":
			r.resource.Env = r.texts(value, "spec.environmentVariables", "environmentVariables.")
		case "concurrency":
			n, err := strconv.ParseInt(value.Value, 10, 32)
			if err != nil || n < 0 {
				r.wrong(value, "spec.concurrency", "a whole number from 0 on")
				continue
			}
			c := int32(n)
			r.resource.Concurrency = &c
			r.resource.Places["concurrency"] = r.parsed.Position(key)
		case "image":
			r.resource.HasImage = true
			if t := typed.Get(value, "imageType"); t != nil {
				r.resource.ImageType = t.Value
			}
			r.resource.Places["image.imageType"] = r.parsed.Position(key)
		default:
			r.wrong(key, "spec."+key.Value, "selector, concurrency, environmentVariables or image")
		}
	}
}

// texts reads a map of texts; places are filed under prefix where that is not empty.
func (r *proxyConfigReader) texts(m *yaml.Node, field, prefix string) map[string]string {
	out := map[string]string{}
	if typed.IsNull(m) {
		return out
	}
	if m.Kind != yaml.MappingNode {
		r.wrong(m, field, "a mapping of texts")
		return out
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], typed.Deref(m.Content[i+1])
		if value == nil || value.Kind != yaml.ScalarNode {
			r.wrong(key, fmt.Sprintf("%s[%s]", field, key.Value), "a text")
			continue
		}
		out[key.Value] = value.Value
		if prefix != "" {
			r.resource.Places[prefix+key.Value] = r.parsed.Position(key)
		}
	}
	return out
}
