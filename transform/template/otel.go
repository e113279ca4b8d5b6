package template

import (
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// otelResourceAttributes gives the value of OTEL_RESOURCE_ATTRIBUTES, or "" unless a tracing provider of the mesh
// asks for OpenTelemetry's semantic conventions (istio/istio, pkg/kube/inject/template.go, 1.30).
func otelResourceAttributes(mesh *meshconfig.MeshConfig, annotations, labels map[string]string, namespace string,
	containers []corev1.Container,
) string {
	if !wantsConventions(mesh) {
		return ""
	}
	var app []corev1.Container
	for _, c := range containers {
		if c.Name != policy.ContainerProxy {
			app = append(app, c)
		}
	}
	attribute := func(name string) string { return annotations["resource.opentelemetry.io/"+name] }
	var out []string
	add := func(name, value string) {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	add("service.namespace", first(attribute("service.namespace"), namespace))
	version := first(attribute("service.version"), labels["app.kubernetes.io/version"])
	if version == "" && len(app) == 1 {
		version = imageVersion(app[0].Image)
	}
	add("service.version", version)
	instance := attribute("service.instance.id")
	if instance == "" && len(app) > 0 {
		instance = namespace + ".$(POD_NAME)." + app[0].Name
	}
	add("service.instance.id", instance)
	return strings.Join(out, ",")
}

func wantsConventions(mesh *meshconfig.MeshConfig) bool {
	for _, p := range mesh.GetExtensionProviders() {
		otel := p.GetOpentelemetry()
		if otel.GetServiceAttributeEnrichment() ==
			meshconfig.MeshConfig_ExtensionProvider_OTEL_SEMANTIC_CONVENTIONS {
			return true
		}
	}
	return false
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// imageVersion gives tag, digest, or tag@digest of an image reference; "" where it has neither.
func imageVersion(image string) string {
	base := image[strings.LastIndex(image, "/")+1:]
	name, digest, _ := strings.Cut(base, "@")
	_, tag, _ := strings.Cut(name, ":")
	switch {
	case tag != "" && digest != "":
		return tag + "@" + digest
	case tag != "":
		return tag
	default:
		return digest
	}
}
