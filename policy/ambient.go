package policy

// CodeAmbient is the code of the warning about a sidecar in a pod that is enrolled in ambient mode.
const CodeAmbient = "W_AMBIENT"

// ambient notes the label istio.io/dataplane-mode: no webhook and no rule of the injector reads it, but a pod that
// is injected all the same leaves ambient mode (Istio, cni/pkg/util/podutil.go PodRedirectionEnabled, 1.30).
func (a *asker) ambient(d *Decision) {
	place := InTemplate
	mode, ok := a.facts.Labels[LabelDataplaneMode]
	if !ok {
		place = InNamespace
		if mode, ok = a.facts.NamespaceLabels[LabelDataplaneMode]; !ok {
			return
		}
	}
	s := TrailStep{
		Rule: RuleAmbient, Place: place, Field: "metadata.labels[" + LabelDataplaneMode + "]",
		Saw: mode, Present: true, Result: Ignored, Note: "the sidecar injector does not read it",
	}
	d.Trail = append(d.Trail, s)
	if mode != "ambient" || !d.Inject {
		return
	}
	owner := "the pod is"
	if place == InNamespace {
		owner = "the namespace is"
	}
	d.Warnings = append(d.Warnings, Finding{
		Code: CodeAmbient, Severity: Warning, Field: s.Field,
		Message: owner + " enrolled in ambient mode (" + LabelDataplaneMode + "), but gets a sidecar: the sidecar wins",
		Hint:    "set the pod's label " + LabelDataplaneMode + " to none, or its label " + LabelInject + ` to "false"`,
	})
}
