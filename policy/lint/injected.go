package lint

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

func alreadyInjected() Rule {
	return Rule{
		ID: "already-injected", Category: Manifest, Severity: policy.Warning, Link: linkInjection, Scope: Always,
		Summary: "a source manifest that already holds an injected proxy",
		Why: "The next injection replaces the proxy, and edits made to it by hand go with the old one. What was injected " +
			"also hides what the author wrote.",
		Remedy: "keep the manifest as it was before injection (inject uninject), or lint output with --injected",
		Bad:    "annotations:\n  sidecar.istio.io/status: '{\"containers\":[\"istio-proxy\"]}'",
		Good:   "# the manifest without status annotation and istio-proxy",
		check: func(f *Facts, r *Report) {
			if f.Output {
				return
			}
			if _, ok := f.Template.Annotations[policy.AnnotationStatus]; ok {
				r.at(annotation(policy.AnnotationStatus).key(), "the manifest holds the result of an injection")
				return
			}
			if !f.AlreadyInjected() {
				return
			}
			_, native := proxyOf(&f.Template)
			list, cs := "containers", f.Template.Spec.Containers
			if native {
				list, cs = "initContainers", f.Template.Spec.InitContainers
			}
			for i := range cs {
				if cs[i].Name == policy.ContainerProxy {
					r.at(template("spec", list, itoa(i), "name"), "the manifest holds a proxy with the injector's arguments")
				}
			}
		},
	}
}

// maxChanged is how many changed fields a message names.
const maxChanged = 5

func staleInjection() Rule {
	return Rule{
		ID: "stale-injection", Category: Manifest, Severity: policy.Warning, Link: linkInjection, Fixes: true,
		Summary: "an injected manifest that no longer matches the configuration (with --injected)",
		Why:     "Image, arguments, environment or revision of the proxy are those of an earlier configuration until the next injection.",
		Remedy:  "inject the manifest again",
		Bad:     "# --injected, the configuration says istio/proxyv2:1.30.3\ncontainers:\n- name: istio-proxy\n  image: istio/proxyv2:1.28.0",
		Good:    "# --injected, the configuration says istio/proxyv2:1.30.3\ncontainers:\n- name: istio-proxy\n  image: istio/proxyv2:1.30.3",
		check: func(f *Facts, r *Report) {
			if !f.Output || !f.AlreadyInjected() || len(f.Changed) == 0 {
				return
			}
			var parts []string
			for i, c := range f.Changed {
				if i == maxChanged {
					break
				}
				part := joinField("", c.Path)
				if c.Was != "" || c.Becomes != "" {
					part += " (" + quote(c.Was) + ", now " + quote(c.Becomes) + ")"
				}
				parts = append(parts, part)
			}
			more := ""
			if n := len(f.Changed) - maxChanged; n > 0 {
				more = " and " + itoa(n) + " more"
			}
			r.at(template(f.Changed[0].Path...), "another injection would change %s%s", strings.Join(parts, ", "), more).
				fix(FixInject)
		},
	}
}

// FixInject is the summary of the fix that is no edit but another injection of the document.
const FixInject = "inject again"

func webhookWillOverwrite() Rule {
	return Rule{
		ID: "webhook-will-overwrite", Category: Manifest, Severity: policy.Warning, Link: linkInjection, Scope: Always,
		Summary: "an injected pod without a seal in a namespace with injection on",
		Why:     "The cluster's webhook takes the injected proxy out and puts its own in: what was reviewed is not what runs.",
		Remedy:  "inject with --seal, or switch injection off for the namespace",
		Bad:     "# namespace labelled istio-injection: enabled\nannotations:\n  sidecar.istio.io/status: '{\"containers\":[\"istio-proxy\"]}'",
		Good: "# namespace labelled istio-injection: enabled\nlabels:\n  sidecar.istio.io/inject: \"false\"\nannotations:\n" +
			"  inject.krm/sealed: \"\"\n  sidecar.istio.io/status: '{\"containers\":[\"istio-proxy\"]}'",
		check: func(f *Facts, r *Report) {
			_, sealed := f.Template.Annotations[policy.AnnotationSealed]
			if sealed || f.Namespace == nil || !f.AlreadyInjected() {
				return
			}
			// Whatever revision the namespace belongs to, its webhook overwrites.
			var w policy.Webhooks
			if rev := f.Namespace.Labels[policy.LabelRevision]; rev != "" {
				w.Tags = []string{rev}
			}
			if _, ok := w.Match(f.Namespace.Labels, f.Template.Labels); !ok {
				return
			}
			at := template("spec")
			if _, ok := f.Template.Annotations[policy.AnnotationStatus]; ok {
				at = annotation(policy.AnnotationStatus).key()
			}
			r.at(at, "namespace %s is injected by webhook, which will replace this proxy", f.Namespace.Resource.Name)
		},
	}
}
