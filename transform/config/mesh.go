package config

import (
	"maps"
	"slices"
	"time"

	"github.com/kube-inject/inject/policy"
	"google.golang.org/protobuf/proto"
	meshv1alpha1 "istio.io/api/mesh/v1alpha1"
)

// Mesh is a mesh config: what a file says over the defaults of the mesh.
type Mesh struct {
	// Config is the effective mesh config. It is shared: no caller writes to it.
	Config *meshv1alpha1.MeshConfig
	// Unknown holds the fields that the API does not know (any more), by dotted path such as sdsUdsPath or
	// defaultConfig.parentShutdownDuration, as plain data. Nil where there are none.
	Unknown map[string]any
	// Given says that a file or --set-mesh said something; without, Config is the defaults alone.
	Given bool
	// Source is the file and the place in it where the mesh config begins.
	Source policy.Position

	engine Engine
	tree   *tree
}

// Origin is where the field at path was written, path in the names of the file; the zero position for a default.
func (m *Mesh) Origin(path ...string) policy.Position {
	if m.tree == nil {
		return policy.Position{}
	}
	return m.tree.places[joinPath(path)]
}

// SDSPath is sdsUdsPath of a legacy mesh, its default where the file says nothing. An empty one means no fsGroup
// (Istio, pkg/kube/inject/inject.go and pkg/config/mesh/mesh.go, 1.7).
func (m *Mesh) SDSPath() string {
	if s, ok := m.Unknown["sdsUdsPath"].(string); ok {
		return s
	}
	return "unix:/etc/istio/proxy/SDS"
}

// ParentShutdown is parentShutdownDuration of a legacy mesh, or of the fields unknown to the API that ProxyConfig gave.
func (m *Mesh) ParentShutdown(unknown map[string]any) time.Duration {
	for _, v := range []any{unknown["parentShutdownDuration"], m.Unknown["defaultConfig.parentShutdownDuration"]} {
		if s, ok := v.(string); ok {
			if d, err := time.ParseDuration(s); err == nil {
				return d
			}
		}
	}
	return time.Minute
}

// defaultMesh is the mesh config where no file says anything. It costs no protobuf decoding.
func defaultMesh(e Engine) *Mesh { return &Mesh{Config: DefaultMeshConfig(e), engine: e} }

// readMesh lays what a file says over the defaults (Istio, pkg/config/mesh/mesh.go, ApplyMeshConfig, 1.30): every field
// that is present replaces the default's, zero or not; null leaves it; the exceptions are named below.
func readMesh(t *tree, e Engine, p *problems) *Mesh {
	m := &Mesh{Config: DefaultMeshConfig(e), engine: e, tree: t, Given: len(t.root) > 0, Source: t.place(nil)}
	before := len(*p)
	config := m.Config
	proxy, providers, extensions, aliases := config.DefaultConfig, config.DefaultProviders, config.ExtensionProviders, config.TrustDomainAliases
	config.ExtensionProviders, config.TrustDomainAliases = nil, nil

	d := protoDecoder{tree: t, problems: p, unknown: map[string]any{}, legacy: e != Modern}
	rest := maps.Clone(t.root)
	delete(rest, "defaultConfig")
	delete(rest, "default_config")
	delete(rest, "defaultProviders")
	delete(rest, "default_providers")
	d.message(config.ProtoReflect(), rest, nil)

	config.DefaultConfig = proxy
	for _, key := range []string{"default_config", "defaultConfig"} {
		if v, ok := t.root[key]; ok && v != nil {
			config.DefaultConfig = d.proxyConfig(proxy, v, []string{key}, e)
		}
	}
	config.DefaultProviders = providers
	for _, key := range []string{"default_providers", "defaultProviders"} {
		if v, ok := t.root[key]; ok && v != nil {
			d.message(providers.ProtoReflect(), v, []string{key})
		}
	}
	config.ExtensionProviders = mergeProviders(extensions, config.ExtensionProviders)
	config.TrustDomainAliases = append(config.TrustDomainAliases, aliases...)
	slices.Sort(config.TrustDomainAliases)
	config.TrustDomainAliases = slices.Compact(config.TrustDomainAliases)
	if len(d.unknown) > 0 {
		m.Unknown = d.unknown
	}
	if !(*p)[before:].failed() {
		validateMesh(m, p)
	}
	return m
}

// mergeProviders replaces the provider of a name that is there and appends the others.
func mergeProviders(base, added []*meshv1alpha1.MeshConfig_ExtensionProvider) []*meshv1alpha1.MeshConfig_ExtensionProvider {
	out := slices.Clone(base)
	for _, a := range added {
		i := slices.IndexFunc(out, func(b *meshv1alpha1.MeshConfig_ExtensionProvider) bool { return b.Name == a.Name })
		if i < 0 {
			out = append(out, a)
			continue
		}
		out[i] = &meshv1alpha1.MeshConfig_ExtensionProvider{Name: a.Name, Provider: a.Provider}
	}
	return out
}

// ProxyConfig is the mesh's default ProxyConfig with a pod's proxy.istio.io/config annotation over it, by the same rules as
// defaultConfig in the mesh config, and validated. at is the place of the annotation, which findings carry.
//
// Without an annotation it gives the mesh's own, which is shared and must not be written to. unknown holds the fields of the
// annotation that the API does not know; each is a warning too.
func (m *Mesh) ProxyConfig(annotation string, at policy.Position) (config *meshv1alpha1.ProxyConfig, unknown map[string]any, findings []policy.Finding) {
	if annotation == "" {
		return m.Config.DefaultConfig, nil, nil
	}
	var p problems
	t := text{data: []byte(annotation), fixed: &at, label: "the annotation"}
	node, f := parse(t)
	if f != nil {
		return nil, nil, []policy.Finding{*f}
	}
	tr, f := treeOf(t, node)
	if f != nil {
		return nil, nil, []policy.Finding{*f}
	}
	d := protoDecoder{tree: tr, problems: &p, unknown: map[string]any{}, legacy: m.engine != Modern}
	base := proto.Clone(m.Config.DefaultConfig).(*meshv1alpha1.ProxyConfig)
	engine := m.engine
	if engine == Legacy16 {
		// The annotation was read in place by 1.6 too; only the mesh file lost its zeros.
		engine = Legacy17
	}
	if engine == Legacy17 {
		if _, ok := tr.root["proxyMetadata"].(map[string]any); ok {
			base.ProxyMetadata = nil
		}
	}
	config = d.proxyConfig(base, tr.root, nil, engine)
	if !p.failed() {
		v := validator{problems: &p, place: func(path ...string) policy.Position { return at }}
		v.proxyConfig(config, m.engine, m.ParentShutdown(d.unknown), nil)
	}
	if len(d.unknown) > 0 {
		unknown = d.unknown
	}
	return config, unknown, p
}

// proxyConfig lays v over base, which it may write to. proxyMetadata merges by key and proxyHeaders by field; all else
// replaces. 1.6 decoded apart and merged, which lost zeros.
func (d *protoDecoder) proxyConfig(base *meshv1alpha1.ProxyConfig, v any, path []string, e Engine) *meshv1alpha1.ProxyConfig {
	if e == Legacy16 {
		over := &meshv1alpha1.ProxyConfig{}
		d.message(over.ProtoReflect(), v, path)
		proto.Merge(base, over)
		return base
	}
	metadata, headers := base.ProxyMetadata, base.ProxyHeaders
	base.ProxyMetadata, base.ProxyHeaders = nil, nil
	d.message(base.ProtoReflect(), v, path)
	if len(metadata) > 0 {
		merged := maps.Clone(metadata)
		maps.Copy(merged, base.ProxyMetadata)
		base.ProxyMetadata = merged
	}
	switch {
	case headers == nil:
	case base.ProxyHeaders == nil:
		base.ProxyHeaders = headers
	default:
		merged := proto.Clone(headers).(*meshv1alpha1.ProxyConfig_ProxyHeaders)
		replaceFields(merged.ProtoReflect(), base.ProxyHeaders.ProtoReflect())
		base.ProxyHeaders = merged
	}
	return base
}
