package legacy

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
)

// checks maps an annotation of the pod template to what its value must be (istio/istio, pkg/kube/inject/inject.go and
// validate.go, 1.7.8; 1.6.14 has the same rows). Annotations without a row are not looked at, includeOutboundPorts
// and logLevel among them.
func checks() map[string]func(string) error {
	return map[string]func(string) error{
		policy.AnnotationIncludeOutboundIPs: anyOr(cidrs),
		policy.AnnotationExcludeOutboundIPs: cidrs,
		policy.AnnotationIncludeInbound:     anyOr(ports),
		policy.AnnotationExcludeInbound:     ports,
		policy.AnnotationExcludeOutbound:    ports,
		policy.AnnotationInterceptionMode:   interceptionMode,
		policy.AnnotationEnableCoreDump:     boolean,
		policy.AnnotationMergeMetrics:       boolean,
		policy.AnnotationStatusPort:         port,
		policy.AnnotationReadinessDelay:     count,
		policy.AnnotationReadinessPeriod:    count,
		policy.AnnotationReadinessFailures:  count,
	}
}

// checkAnnotations reports every value that the Istio of the time refused, in the order of the names.
func (e *Engine) checkAnnotations(annotations map[string]string) []policy.Finding {
	var fs []policy.Finding
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		check, ok := e.checks[name]
		if !ok {
			continue
		}
		if err := check(annotations[name]); err != nil {
			fs = append(fs, policy.Finding{
				Code: CodeAnnotation, Severity: policy.Error, Field: annotationField(name),
				Message: err.Error(),
			})
		}
	}
	return fs
}

// annotationField is the path of an annotation, seen from the pod template.
func annotationField(name string) string { return "metadata.annotations[" + name + "]" }

func anyOr(check func(string) error) func(string) error {
	return func(s string) error {
		if s == "*" {
			return nil
		}
		return check(s)
	}
}

func cidrs(s string) error {
	if s == "" {
		return nil
	}
	for item := range strings.SplitSeq(s, ",") {
		if _, err := netip.ParsePrefix(item); err != nil {
			return fmt.Errorf("%q is no address range such as 10.0.0.0/8 (a list has commas and no spaces)", item)
		}
	}
	return nil
}

func ports(s string) error {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	for item := range strings.SplitSeq(s, ",") {
		if err := port(item); err != nil {
			return err
		}
	}
	return nil
}

func port(s string) error {
	if _, err := strconv.ParseUint(strings.TrimSpace(s), 10, 16); err != nil {
		return fmt.Errorf("%q is no port (0 to 65535)", s)
	}
	return nil
}

func count(s string) error {
	if _, err := strconv.ParseUint(s, 10, 32); err != nil {
		return fmt.Errorf("%q is no number from 0 up", s)
	}
	return nil
}

func boolean(s string) error {
	if _, err := strconv.ParseBool(s); err != nil {
		return fmt.Errorf("%q is neither true nor false", s)
	}
	return nil
}

func interceptionMode(s string) error {
	if !slices.Contains([]string{"REDIRECT", "TPROXY", "NONE"}, s) {
		return fmt.Errorf("%q is none of REDIRECT, TPROXY, NONE", s)
	}
	return nil
}

// proxyConfig checks a proxy.istio.io/config: merged over the release's defaults, it must be valid.
func proxyConfig(v Version) func(string) error {
	return func(s string) error {
		_, err := withProxyConfig(defaultProxyConfig(v), s)
		return err
	}
}

// withProxyConfig gives base with the annotation's fields on top; every field present counts, zeros too. The error
// names all that is wrong. Base is not changed.
func withProxyConfig(base *ProxyConfig, text string) (*ProxyConfig, error) {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		_, text := yamlLine(err)
		return nil, errors.New(text)
	}
	pc := base.clone()
	if string(raw) == "null" {
		return pc, nil
	}
	ps := pc.merge(raw, nil, true)
	if !anyError(ps) {
		ps = append(ps, pc.validate()...)
	}
	var wrong []string
	for _, p := range ps {
		if p.severity == policy.Error {
			wrong = append(wrong, strings.TrimPrefix(strings.Join(p.path, ".")+": "+p.message, ": "))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return pc, nil
}
