package config

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shape is what a document looks like, whatever flag it was given to.
type shape int

const (
	shapeUnknown shape = iota
	shapeEmpty
	shapeInjection
	shapeValues
	shapeMesh
	shapeProxyConfig
	shapeNetworks
	shapeProfile
	shapeTemplate
	shapeConfigMap
	shapeList
	shapeOperator
	shapeManifest
)

// look describes a shape in a message and names the flag that takes it.
func (s shape) look() (looks, flag string) {
	switch s {
	case shapeInjection:
		return "an injection config", "--inject-config-file"
	case shapeTemplate:
		return "an injection template", "--inject-config-file"
	case shapeValues:
		return "Helm values", "--values-file"
	case shapeMesh:
		return "a mesh config", "--mesh-config-file"
	case shapeProxyConfig:
		return "a ProxyConfig, which belongs under defaultConfig of a mesh config", "--mesh-config-file"
	case shapeNetworks:
		return "mesh networks, which injection does not read", ""
	case shapeProfile:
		return "the profile.yaml of a profile folder", "--profile, with the folder"
	case shapeConfigMap:
		return "a ConfigMap", "--config-from"
	case shapeOperator:
		return "an IstioOperator", "--values-file"
	case shapeList, shapeManifest:
		return "a Kubernetes manifest", "-f"
	case shapeEmpty:
		return "an empty file", ""
	}
	return "something else", ""
}

// shapeOf recognises a parsed document by its keys.
func shapeOf(n *yaml.Node) shape {
	if n == nil {
		return shapeEmpty
	}
	if n.Kind != yaml.MappingNode {
		return shapeUnknown
	}
	if len(n.Content) == 0 {
		return shapeEmpty
	}
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return lookup(n, k) != nil })
	}
	if api, kind := lookup(n, "apiVersion"), lookup(n, "kind"); isString(api) && isString(kind) {
		return objectShape(api.Value, kind.Value)
	}
	switch {
	case has("templates", "template", "defaultTemplates", "neverInjectSelector", "alwaysInjectSelector", "injectedAnnotations"):
		return shapeInjection
	case has("istioVersion") && has("hashes", "kubeVersion", "source"):
		return shapeProfile
	case has("global", "sidecarInjectorWebhook", "pilot", "meshConfig", "_internal_defaults_do_not_set", "USER-SUPPLIED VALUES",
		"COMPUTED VALUES", "istio_cni"):
		return shapeValues
	case has("policy"):
		if v := lookup(n, "policy"); isString(v) {
			return shapeInjection
		}
	case has("networks") && len(n.Content) == 2:
		return shapeNetworks
	}
	mesh, proxy := 0, 0
	for i := 0; i < len(n.Content); i += 2 {
		if meshFields()[n.Content[i].Value] {
			mesh++
		} else if proxyFields()[n.Content[i].Value] {
			proxy++
		}
	}
	all := len(n.Content) / 2
	switch {
	case has("defaultConfig", "extensionProviders") || mesh*2 >= all:
		return shapeMesh
	case proxy*2 >= all:
		return shapeProxyConfig
	case has("spec", "metadata"):
		return shapeTemplate
	}
	return shapeUnknown
}

func objectShape(apiVersion, kind string) shape {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group = ""
	}
	switch {
	case group == "" && kind == "ConfigMap":
		return shapeConfigMap
	case group == "" && (kind == "List" || kind == "ConfigMapList"):
		return shapeList
	case group == "install.istio.io" && kind == "IstioOperator",
		(group == "sailoperator.io" || group == "operator.istio.io") && (kind == "Istio" || kind == "IstioRevision"):
		return shapeOperator
	}
	return shapeManifest
}

// hasActions says whether a text holds template actions.
func hasActions(data []byte) bool { return bytes.Contains(data, []byte("{{")) }

// hasConfigKeys says whether a line of the text begins with one of the keys that make it an injection config. It is asked
// of texts that are no YAML, to tell a broken config from a bare template.
func hasConfigKeys(data []byte) bool {
	for line := range bytes.Lines(data) {
		for _, key := range []string{"templates:", "template:", "policy:"} {
			if bytes.HasPrefix(line, []byte(key)) {
				return true
			}
		}
	}
	return false
}
