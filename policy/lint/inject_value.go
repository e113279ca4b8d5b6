package lint

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

func injectValueInvalid() Rule {
	return Rule{
		ID: "inject-value-invalid", Category: Injection, Severity: policy.Error, Link: linkInjection,
		Scope: Always, Fixes: true,
		Summary: "sidecar.istio.io/inject is neither \"true\" nor \"false\"",
		Why: "Only these two strings count. With any other value the namespace's policy decides, and a label of that " +
			"kind even hides a valid annotation. Without quotes, true is no string and the cluster refuses the manifest.",
		Remedy: "write \"true\" or \"false\", with quotes",
		Bad:    "labels:\n  sidecar.istio.io/inject: \"yes\"",
		Good:   "labels:\n  sidecar.istio.io/inject: \"true\"",
		check: func(f *Facts, r *Report) {
			for _, m := range f.metadata()[:2] {
				at := m.at(policy.LabelInject)
				if text, ok := f.Unquoted[m.name()][policy.LabelInject]; ok {
					d := r.at(at, "%s is %s without quotes, which is no string: the cluster refuses it", policy.LabelInject, text)
					proposeBool(r, d, at, text)
					continue
				}
				text, ok := m.values[policy.LabelInject]
				if _, sealed := f.Template.Annotations[policy.AnnotationSealed]; !ok || sealed && m.kind == policy.Label ||
					text == "true" || text == "false" {
					continue
				}
				d := r.at(at, "%s is %s: only \"true\" and \"false\" count, so selectors and policy decide",
					policy.LabelInject, quote(text))
				proposeBool(r, d, at, text)
			}
		},
	}
}

// proposeBool adds the word that was meant as a fix, where that is clear.
func proposeBool(r *Report, d *draft, at Where, text string) {
	if word, ok := boolWord(text); ok {
		d.hint("write %q", word).fix("write \""+word+"\"", r.set(at, word))
	}
}

// boolWord gives the string that a person means with a word like yes or Off.
func boolWord(text string) (string, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "y", "on", "enabled", "enable", "1":
		return "true", true
	case "false", "no", "n", "off", "disabled", "disable", "0":
		return "false", true
	}
	return "", false
}

func injectAnnotation() Rule {
	return Rule{
		ID: "inject-annotation", Category: Injection, Severity: policy.Warning, Link: linkLabels,
		Scope: Always, Fixes: true,
		Summary: "injection is asked for or refused by annotation instead of label",
		Why: "The annotation is deprecated, and the webhook's selectors see labels only: with the annotation alone a " +
			"pod is injected in an enabled namespace and nowhere else.",
		Remedy: "move it to the labels of the pod template",
		Bad:    "annotations:\n  sidecar.istio.io/inject: \"true\"",
		Good:   "labels:\n  sidecar.istio.io/inject: \"true\"",
		check: func(f *Facts, r *Report) {
			value, ok := f.Template.Annotations[policy.AnnotationInject]
			_, labelled := f.Template.Labels[policy.LabelInject]
			_, unquoted := f.Unquoted["labels"][policy.LabelInject]
			if !ok || labelled || unquoted {
				return
			}
			d := r.at(annotation(policy.AnnotationInject).key(),
				"%s is an annotation here: webhooks select by the label of that name", policy.AnnotationInject)
			if value == "true" || value == "false" {
				d.fix("move to labels", r.remove(annotation(policy.AnnotationInject)), r.set(label(policy.LabelInject), value))
			}
		},
	}
}

func injectConflict() Rule {
	return Rule{
		ID: "inject-conflict", Category: Injection, Severity: policy.Error, Link: linkInjection,
		Scope: Always, Fixes: true,
		Summary: "label and annotation sidecar.istio.io/inject disagree",
		Why:     "The label wins and the annotation is not read, whatever the author of the annotation meant.",
		Remedy:  "drop the annotation",
		Bad: "labels:\n  sidecar.istio.io/inject: \"true\"\nannotations:\n" +
			"  sidecar.istio.io/inject: \"false\"",
		Good: "labels:\n  sidecar.istio.io/inject: \"true\"",
		check: func(f *Facts, r *Report) {
			a, hasA := f.Template.Annotations[policy.AnnotationInject]
			l, hasL := f.Template.Labels[policy.LabelInject]
			if kept, sealed := f.Template.Annotations[policy.AnnotationSealed]; sealed {
				l, hasL = kept, kept != ""
			}
			if !hasA || !hasL || a == l {
				return
			}
			r.at(annotation(policy.AnnotationInject), "the annotation is %s, the label of that name %s: the label wins",
				quote(a), quote(l)).fix("drop the annotation", r.remove(annotation(policy.AnnotationInject)))
		},
	}
}

func nativeValueInvalid() Rule {
	return Rule{
		ID: "native-value-invalid", Category: Injection, Severity: policy.Error, Link: linkAnnotations, Fixes: true,
		Summary: "sidecar.istio.io/nativeSidecar is neither \"true\" nor \"false\"",
		Why: "Istio's template takes every text but \"false\" for yes, its code only \"true\": a \"no\" switches native " +
			"sidecars on, and a pod's own istio-proxy container stays behind among the ordinary ones.",
		Remedy: "write \"true\" or \"false\"",
		Bad:    "annotations:\n  sidecar.istio.io/nativeSidecar: \"no\"",
		Good:   "annotations:\n  sidecar.istio.io/nativeSidecar: \"false\"",
		check: func(f *Facts, r *Report) {
			text := f.Template.Annotations[policy.AnnotationNativeSidecar]
			if text == "" || text == "true" || text == "false" {
				return
			}
			at := annotation(policy.AnnotationNativeSidecar)
			d := r.at(at, "%s is %s, which the template takes for true", policy.AnnotationNativeSidecar, quote(text))
			proposeBool(r, d, at, text)
		},
	}
}
