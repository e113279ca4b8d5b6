package transform

import (
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// Namespace is a Namespace object of the input.
type Namespace struct {
	Name                string
	Labels, Annotations map[string]string
	// Position is where the object begins; Places are those of labels and annotations, by "labels" or "annotations" and
	// the key.
	Position policy.Position
	Places   map[[2]string]policy.Position
}

// Surroundings are the objects of the input that have a say in other objects' pods: Namespaces and ProxyConfigs. The zero
// value holds none. It is filled by a [Survey] and only read after that.
type Surroundings struct {
	// DefaultNamespace is that of objects that name none, as --namespace gives it.
	DefaultNamespace string

	namespaces map[string]*Namespace
	proxies    []ProxyConfigResource
	bootstraps []bootstrapMap
	// Findings are warnings about such objects that cannot be read.
	Findings []policy.Finding
}

// Namespace gives the Namespace object of that name, nil where the input has none.
func (s *Surroundings) Namespace(name string) *Namespace {
	if s == nil {
		return nil
	}
	return s.namespaces[name]
}

// NamespaceLabels gives the labels of a namespace of the input; ok is false where the input has no such object.
func (s *Surroundings) NamespaceLabels(name string) (labels map[string]string, ok bool) {
	n := s.Namespace(name)
	if n == nil {
		return nil, false
	}
	return n.Labels, true
}

// ProxyIDs gives user and group of the proxy in a namespace: what OpenShift's annotations on it assign, else 1337.
func (s *Surroundings) ProxyIDs(name string) (uid, gid int64) {
	if n := s.Namespace(name); n != nil {
		return openShiftIDs(n.Annotations)
	}
	return policy.ProxyUserID, policy.ProxyUserID
}

// add takes the Namespaces and ProxyConfigs of a parsed document, those in the items of lists too.
func (s *Surroundings) add(p *manifest.Parsed) {
	for _, o := range workload.Find(workload.Registry{}, p.Root).Objects {
		s.object(p, o)
	}
}

func (s *Surroundings) object(p *manifest.Parsed, o workload.Object) {
	switch {
	case o.Resource.Kind == kindNamespace && o.Group == "":
		n := &Namespace{Name: o.Resource.Name, Position: p.Position(o.Node), Places: map[[2]string]policy.Position{}}
		n.Labels = n.texts(p, o.Metadata, "labels")
		n.Annotations = n.texts(p, o.Metadata, "annotations")
		if s.namespaces == nil {
			s.namespaces = map[string]*Namespace{}
		}
		if n.Name != "" {
			s.namespaces[n.Name] = n
		}
	case o.Resource.Kind == kindProxyConfig && o.Group == groupNetworking:
		s.proxyConfig(p, o)
	case o.Resource.Kind == "ConfigMap" && o.Group == "":
		if text := typed.Get(typed.Get(o.Node, "data"), bootstrapKey); text != nil {
			s.bootstraps = append(s.bootstraps, bootstrapMap{o.Resource.Namespace, o.Resource.Name, text.Value})
		}
	}
}

// bootstrapMap is a ConfigMap that can be laid over Envoy's bootstrap.
type bootstrapMap struct{ namespace, name, text string }

// bootstrap gives the override of that name; ok is false where the input has none.
func (s *Surroundings) bootstrap(namespace, name string) (text string, ok bool) {
	if s == nil {
		return "", false
	}
	for _, b := range s.bootstraps {
		if b.name == name && (b.namespace == "" || b.namespace == namespace) {
			return b.text, true
		}
	}
	return "", false
}

// texts reads a map of the metadata; never nil, as a namespace without labels is known to have none.
func (n *Namespace) texts(p *manifest.Parsed, metadata *yaml.Node, field string) map[string]string {
	out := map[string]string{}
	m := typed.Get(metadata, field)
	if m == nil || m.Kind != yaml.MappingNode {
		return out
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], typed.Deref(m.Content[i+1])
		if value != nil && value.Kind == yaml.ScalarNode {
			out[key.Value] = value.Value
			n.Places[[2]string{field, key.Value}] = p.Position(key)
		}
	}
	return out
}

const (
	kindNamespace   = "Namespace"
	kindProxyConfig = "ProxyConfig"
	groupNetworking = "networking.istio.io"
)
