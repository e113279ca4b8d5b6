package pod

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// setCluster puts cluster and network names on the proxy: those of the pod's label, the webhook's URL or flags, and the
// values, in this order; the network also becomes the label (istio/istio, pkg/kube/inject/inject.go and webhook.go,
// overwriteClusterInfo, 1.30).
func (w *work) setCluster() []policy.Finding {
	env := maps.Clone(w.opts.Proxy)
	if env == nil {
		env = map[string]string{}
	}
	setDefault(env, policy.EnvClusterID, w.values.text("global", "multiCluster", "clusterName"))
	setDefault(env, policy.EnvNetwork, w.values.text("global", "network"))
	if network, ok := w.original.Labels[policy.LabelNetwork]; ok {
		env[policy.EnvNetwork] = network
		if network == "" {
			delete(env, policy.EnvNetwork)
		}
	}
	w.proxy = env
	w.out.Trace.Cluster, w.out.Trace.Network = env[policy.EnvClusterID], env[policy.EnvNetwork]
	if proxy := sidecar(&w.pod.Spec); proxy != nil && len(env) > 0 {
		proxy.Env = slices.DeleteFunc(slices.Clone(proxy.Env), func(e corev1.EnvVar) bool {
			_, ok := env[e.Name]
			return ok
		})
		for _, name := range slices.Sorted(maps.Keys(env)) {
			proxy.Env = append(proxy.Env, corev1.EnvVar{Name: name, Value: env[name]})
		}
	}
	return nil
}

func setDefault(m map[string]string, key, text string) {
	if m[key] == "" {
		delete(m, key)
		if text != "" {
			m[key] = text
		}
	}
}
