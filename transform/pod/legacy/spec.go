package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
)

// Spec is what a template renders (istio/istio, pkg/kube/inject/inject.go, SidecarInjectionSpec, 1.7.8).
type Spec struct {
	// RewriteAppHTTPProbe is the default of the probe rewrite; the pod's annotation wins.
	RewriteAppHTTPProbe bool `json:"rewriteAppHTTPProbe"`
	// HoldApplicationUntilProxyStarts is read and not used: the value of that name decides.
	HoldApplicationUntilProxyStarts bool                          `json:"holdApplicationUntilProxyStarts"`
	InitContainers                  []corev1.Container            `json:"initContainers"`
	Containers                      []corev1.Container            `json:"containers"`
	Volumes                         []corev1.Volume               `json:"volumes"`
	DNSConfig                       *corev1.PodDNSConfig          `json:"dnsConfig"`
	ImagePullSecrets                []corev1.LocalObjectReference `json:"imagePullSecrets"`
	// PodRedirectAnnot sets annotations of the pod; see redirectKeys.
	PodRedirectAnnot map[string]string `json:"podRedirectAnnot"`
}

// parseSpec reads a template's output as Istio did: YAML 1.1, the last of equal keys counts, numbers and booleans
// become strings where a string belongs, and unknown fields have no effect (here with a warning).
func parseSpec(text []byte, pos policy.Position) (*Spec, []policy.Finding) {
	var s Spec
	var raw json.RawMessage
	keep := func(d *json.Decoder) *json.Decoder { // reads the YAML once for both
		if d.Decode(&raw) != nil {
			return d
		}
		return json.NewDecoder(bytes.NewReader(raw))
	}
	if err := yaml.Unmarshal(text, &s, keep); err != nil {
		return nil, []policy.Finding{outputError(text, pos, err)}
	}
	fs := unknownFields(raw, pos)
	// The chart of the time writes restartPolicy: Always on istio-init, which Kubernetes did not know then. Today it
	// would make istio-init a sidecar that never ends.
	for i := range s.InitContainers {
		s.InitContainers[i].RestartPolicy = nil
	}
	for i := range s.Containers {
		s.Containers[i].RestartPolicy = nil
	}
	switch {
	case s.empty():
		return nil, append(fs, policy.Finding{
			Code: CodeRenderedEmpty, Severity: policy.Error, Position: pos,
			Message: fmt.Sprintf("template %q renders nothing to inject", templateName),
			Hint:    "it must render containers, initContainers, volumes, dnsConfig, imagePullSecrets or podRedirectAnnot",
		})
	case len(s.Containers) == 0 && len(s.InitContainers) == 0:
		fs = append(fs, policy.Finding{
			Code: CodeRenderedEmpty, Severity: policy.Warning, Position: pos,
			Message: fmt.Sprintf("template %q renders no container", templateName),
		})
	}
	return &s, fs
}

func (s *Spec) empty() bool {
	return len(s.InitContainers) == 0 && len(s.Containers) == 0 && len(s.Volumes) == 0 && s.DNSConfig == nil &&
		len(s.ImagePullSecrets) == 0 && len(s.PodRedirectAnnot) == 0
}

// outputError says what is wrong with a template's output, with the line of the output where the library names one.
func outputError(text []byte, pos policy.Position, err error) policy.Finding {
	line, why := yamlLine(err)
	f := policy.Finding{
		Code: CodeRendered, Severity: policy.Error, Position: pos,
		Hint: "render the template with the values of the run and look at its output",
	}
	lines := strings.Split(string(text), "\n")
	if line > 0 && line <= len(lines) {
		f.Message = fmt.Sprintf("the output of template %q is no YAML: line %d of the output, %q: %s",
			templateName, line, strings.TrimSpace(lines[line-1]), why)
		return f
	}
	f.Message = fmt.Sprintf("the output of template %q is no injection: %s", templateName, typeError(err, why))
	return f
}

// typeError rewords the JSON decoder's complaint about a value of the wrong type.
func typeError(err error, why string) string {
	var bad *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &bad):
		return strings.TrimPrefix(why, "error unmarshaling JSON: while decoding JSON: ")
	case bad.Field == "":
		return "it is a " + found(bad.Value) + " and no mapping"
	}
	return fmt.Sprintf("%s: expected a %s, found a %s", bad.Field, wordFor(bad.Type), found(bad.Value))
}

// found names the value that the decoder met; a number comes with its digits.
func found(value string) string {
	word, _, _ := strings.Cut(value, " ")
	switch word {
	case "array":
		return "list"
	case "object":
		return "mapping"
	case "bool":
		return "boolean"
	}
	return word
}

// wordFor names the kind of value that a Go type stands for.
func wordFor(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map:
		return "mapping"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Pointer:
		return wordFor(t.Elem())
	}
	return "number"
}
