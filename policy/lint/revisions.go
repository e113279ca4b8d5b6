package lint

import (
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

func revisionUnknown() Rule {
	return Rule{
		ID: "revision-unknown", Category: Injection, Severity: policy.Warning, Link: linkRevisions, Scope: NotRefused,
		Summary: "istio.io/rev names no revision or tag of the mesh",
		Why:     "No webhook matches the label, so the pod starts without a proxy and nobody says so.",
		Remedy:  "write a revision or tag that is installed; --revisions names more of them",
		Bad:     "# values: revision: canary\nlabels:\n  istio.io/rev: canay",
		Good:    "# values: revision: canary\nlabels:\n  istio.io/rev: canary",
		check: func(f *Facts, r *Report) {
			f.revision(r, label(policy.LabelRevision), f.Template.Labels)
		},
		namespace: func(n *Namespace, r *Report) {
			if _, hidden := n.Labels[policy.LabelNamespaceInject]; !hidden {
				n.revision(r, own("metadata", "labels", policy.LabelRevision), n.Labels)
			}
		},
	}
}

func (run *Run) revision(r *Report, at Where, labels map[string]string) {
	value, ok := labels[policy.LabelRevision]
	if !ok || run.Revisions == nil || slices.Contains(run.Revisions, value) {
		return
	}
	d := r.at(at, "there is no revision or tag %s; the mesh has %s", quote(value), words(run.Revisions))
	if near := nearest(value, run.Revisions, 2); len(near) > 0 {
		d.hint("did you mean %s?", strings.Join(near, " or "))
	}
}

func ambientConflict() Rule {
	return Rule{
		ID: "ambient-conflict", Category: Injection, Severity: policy.Error, Link: linkAmbient,
		Summary: "a sidecar in a pod that is enrolled in ambient mode",
		Why: "A pod is served either by its sidecar or by the node's proxy. The sidecar wins, and the pod leaves ambient " +
			"mode although its label says otherwise.",
		Remedy: "label the pod istio.io/dataplane-mode: none, or sidecar.istio.io/inject: \"false\"",
		Bad:    "labels:\n  istio.io/dataplane-mode: ambient\n  sidecar.istio.io/inject: \"true\"",
		Good:   "labels:\n  istio.io/dataplane-mode: none\n  sidecar.istio.io/inject: \"true\"",
		check: func(f *Facts, r *Report) {
			mode, named := f.Template.Labels[policy.LabelDataplaneMode]
			switch {
			case mode == "ambient":
				r.at(label(policy.LabelDataplaneMode), "the pod asks for ambient mode and gets a sidecar")
			case !named && f.Namespace != nil && f.Namespace.Labels[policy.LabelDataplaneMode] == "ambient":
				r.at(template("metadata"), "namespace %s is in ambient mode, this pod gets a sidecar", f.Namespace.Resource.Name)
			}
		},
	}
}

func templateUnknown() Rule {
	return Rule{
		ID: "template-unknown", Category: Injection, Severity: policy.Error, Link: linkInjection,
		Summary: "inject.istio.io/templates names a template that the configuration does not have",
		Why:     "Injection of the pod fails.",
		Remedy:  "correct the name, or give the injection config that has it",
		Bad:     "annotations:\n  inject.istio.io/templates: sidcar",
		Good:    "annotations:\n  inject.istio.io/templates: sidecar",
		check: func(f *Facts, r *Report) {
			text, ok := f.Template.Annotations[policy.AnnotationTemplates]
			if !ok || len(f.Templates) == 0 {
				return
			}
			for name := range strings.SplitSeq(text, ",") {
				name = strings.TrimSpace(name)
				if slices.Contains(f.Templates, name) {
					continue
				}
				d := r.at(annotation(policy.AnnotationTemplates), "there is no template %s; the configuration has %s", quote(name), words(f.Templates))
				if near := nearest(name, f.Templates, max(1, len(name)/3)); len(near) > 0 {
					d.hint("did you mean %s?", strings.Join(near, " or "))
				}
			}
		},
	}
}
