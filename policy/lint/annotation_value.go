package lint

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

func annotationInvalidValue() Rule {
	return Rule{
		ID: "annotation-invalid-value", Category: Annotations, Severity: policy.Error, Link: linkAnnotations, Fixes: true,
		Summary: "a value that the injector's validation refuses",
		Why:     "The injector checks these annotations before it injects; one bad value and the pod is not created.",
		Remedy:  "write a value of the form that is accepted",
		Bad:     "annotations:\n  traffic.sidecar.istio.io/excludeInboundPorts: \"*\"",
		Good:    "annotations:\n  traffic.sidecar.istio.io/excludeInboundPorts: \"9090\"",
		check: func(f *Facts, r *Report) {
			for _, p := range policy.ValidateAnnotations(f.Template.Annotations, policy.ValidateOptions{}) {
				d := r.at(annotation(p.Key), "%s", p.Message)
				if p.Hint != "" {
					d.hint("%s", p.Hint)
				}
				k, _ := policy.Lookup(p.Key, policy.Annotation)
				for _, v := range k.Values {
					if strings.EqualFold(strings.TrimSpace(f.Template.Annotations[p.Key]), v) {
						d.fix("write "+v, r.set(annotation(p.Key), v))
					}
				}
			}
		},
	}
}

func annotationIgnoredValue() Rule {
	return Rule{
		ID: "annotation-ignored-value", Category: Annotations, Severity: policy.Warning, Link: linkAnnotations,
		Summary: "a value that is passed over or misread in silence",
		Why: "Nobody checks these annotations before the pod runs. A value that cannot be read counts as absent, or " +
			"breaks a container at its start.",
		Remedy: "write a value of the form that is read",
		Bad:    "annotations:\n  sidecar.istio.io/rewriteAppHTTPProbers: \"no\"",
		Good:   "annotations:\n  sidecar.istio.io/rewriteAppHTTPProbers: \"false\"",
		check: func(f *Facts, r *Report) {
			for _, m := range f.metadata()[:2] {
				for _, key := range sortedKeys(m.values) {
					ignoredValue(r, m, key)
				}
			}
		},
	}
}

func ignoredValue(r *Report, m metadata, key string) {
	k, ok := policy.Lookup(key, m.kind)
	if !ok || k.Validated || k.Written || k.OnInvalid == "" || k.Status != policy.Read || k.Type == policy.ProxyConfig {
		return
	}
	switch key {
	case policy.LabelInject, policy.AnnotationNativeSidecar, policy.AnnotationTemplates:
		return // rules of their own
	}
	err := k.Check(m.values[key])
	if err == nil {
		return
	}
	d := r.at(m.at(key), "%s is %s: %s", key, quote(m.values[key]), err)
	if k.OnInvalid == policy.InjectionFails {
		d.level(policy.Error)
	}
	d.Message += "; as it stands " + k.OnInvalid
}
