package transform

import (
	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
)

// surrounded gives the setup with what follows from the objects of the input and from the configuration: the proxy's
// user and group, and the questions that the cluster's webhooks ask.
func (s Setup) surrounded(b *config.Bundle) Setup {
	if s.Surroundings != nil && s.ProxyIDs == nil {
		s.ProxyIDs = func(namespace string) (uid, gid int64) { return s.Surroundings().ProxyIDs(namespace) }
	}
	if s.Surroundings != nil && s.NamespacesDecide {
		given := s.NamespaceLabels
		s.NamespaceLabels = func(namespace string) (map[string]string, bool) {
			if labels, ok := s.Surroundings().NamespaceLabels(namespace); ok {
				return labels, true
			}
			if given == nil {
				return nil, false
			}
			return given(namespace)
		}
	}
	if s.NamespaceLabels != nil {
		s.Webhooks = webhooks(b, s)
	}
	return s
}

// webhooks says which webhooks lead to the control plane of the configuration (istio/istio, chart istio-discovery,
// templates/mutatingwebhook.yaml and revision-tags-mwc.yaml, 1.30).
func webhooks(b *config.Bundle, s Setup) (w policy.Webhooks) {
	w = s.Webhooks
	if w.Revision == "" {
		w.Revision = b.Revision
	}
	if w.Tags == nil {
		tags, _ := b.Values.Tree["revisionTags"].([]any)
		for _, t := range tags {
			if name, ok := t.(string); ok && name != "" {
				w.Tags = append(w.Tags, name)
			}
		}
	}
	injector, _ := b.Values.Tree["sidecarInjectorWebhook"].(map[string]any)
	if on, ok := injector["enableNamespacesByDefault"].(bool); ok {
		w.EnableNamespacesByDefault = w.EnableNamespacesByDefault || on
	}
	return w
}

// proxyConfigs gives the function of that name for the engine.
func (s Setup) proxyConfigs(m *config.Mesh) func(string, map[string]string, string) (*meshconfig.ProxyConfig, error) {
	if s.Surroundings == nil {
		return nil
	}
	return func(namespace string, labels map[string]string, annotation string) (*meshconfig.ProxyConfig, error) {
		layers := s.Surroundings().ProxyConfigs(m.Config.GetRootNamespace(), namespace, labels)
		if layers.empty() {
			return nil, nil
		}
		return layers.effective(m, annotation)
	}
}
