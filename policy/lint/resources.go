package lint

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kube-inject/inject/policy"
)

// resourceKey is one of the four annotations that set the proxy's resources, and where values hold its default.
type resourceKey struct {
	name         string
	group, field string
}

func resourceKeys() []resourceKey {
	return []resourceKey{
		{policy.AnnotationProxyCPU, "requests", "cpu"},
		{policy.AnnotationProxyMemory, "requests", "memory"},
		{policy.AnnotationProxyCPULimit, "limits", "cpu"},
		{policy.AnnotationProxyMemoryLimit, "limits", "memory"},
	}
}

// fallback is the default that values give; empty where they have none.
func (k resourceKey) fallback(r *Run) string {
	switch v := r.value("global", "proxy", "resources", k.group, k.field).(type) {
	case string:
		return v
	case float64:
		return fmt.Sprint(v)
	}
	return ""
}

func resourcesPartial() Rule {
	return Rule{
		ID: "resources-partial", Category: Resources, Severity: policy.Warning, Link: linkAnnotations, Fixes: true,
		Summary: "some of the proxy's four resource annotations, but not all",
		Why: "The first of them switches from the configured defaults to what the annotations say: the requests and " +
			"limits that no annotation sets are gone.",
		Remedy: "set all four",
		Bad:    "annotations:\n  sidecar.istio.io/proxyCPU: 250m",
		Good: "annotations:\n  sidecar.istio.io/proxyCPU: 250m\n  sidecar.istio.io/proxyCPULimit: \"2\"\n" +
			"  sidecar.istio.io/proxyMemory: 128Mi\n  sidecar.istio.io/proxyMemoryLimit: 1Gi",
		check: func(f *Facts, r *Report) {
			var lost []string
			var edits []policy.FixEdit
			first := ""
			for _, k := range resourceKeys() {
				if _, ok := f.Template.Annotations[k.name]; ok {
					if first == "" {
						first = k.name
					}
					continue
				}
				if v := k.fallback(f.Run); v != "" {
					lost = append(lost, fmt.Sprintf("%s %s of %s", k.field, k.group[:len(k.group)-1], v))
					edits = append(edits, r.set(annotation(k.name), v))
				}
			}
			if first == "" || len(lost) == 0 {
				return
			}
			d := r.at(annotation(first), "the proxy loses its default %s: one resource annotation replaces the whole block", words(lost))
			if fitTogether(f) {
				d.fix("add the configured defaults", edits...)
			}
		},
	}
}

// effective gives the quantity of an annotation, else of the values.
func (k resourceKey) effective(f *Facts) (resource.Quantity, bool) {
	text, ok := f.Template.Annotations[k.name]
	if !ok {
		text = k.fallback(f.Run)
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// fitTogether tells whether requests stay below limits once the defaults are added.
func fitTogether(f *Facts) bool {
	keys := resourceKeys()
	for i := range 2 {
		request, ok := keys[i].effective(f)
		limit, both := keys[i+2].effective(f)
		if ok && both && request.Cmp(limit) > 0 {
			return false
		}
	}
	return true
}

func resourcesRequestOverLimit() Rule {
	return Rule{
		ID: "resources-request-over-limit", Category: Resources, Severity: policy.Error, Link: linkResources,
		Summary: "the proxy requests more than its limit",
		Why:     "The API server refuses such a pod.",
		Remedy:  "lower the request or raise the limit",
		Bad:     "annotations:\n  sidecar.istio.io/proxyCPU: \"3\"\n  sidecar.istio.io/proxyCPULimit: \"2\"",
		Good:    "annotations:\n  sidecar.istio.io/proxyCPU: \"1\"\n  sidecar.istio.io/proxyCPULimit: \"2\"",
		check: func(f *Facts, r *Report) {
			c, _ := f.proxy()
			if c == nil {
				return
			}
			for _, k := range resourceKeys()[:2] {
				request, asked := c.Resources.Requests[resourceName(k.field)]
				limit, limited := c.Resources.Limits[resourceName(k.field)]
				if !asked || !limited || request.Cmp(limit) <= 0 {
					continue
				}
				at := template("spec")
				for _, name := range []string{k.name, limitOf(k).name} {
					if _, ok := f.Template.Annotations[name]; ok {
						at = annotation(name)
						break
					}
				}
				r.at(at, "istio-proxy requests %s of %s, its limit is %s", request.String(), k.field, limit.String())
			}
		},
	}
}

func limitOf(k resourceKey) resourceKey {
	for _, l := range resourceKeys()[2:] {
		if l.field == k.field {
			return l
		}
	}
	return k
}
