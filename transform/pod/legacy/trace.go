package legacy

// Trace says what one injection did, for reports.
type Trace struct {
	// Skipped is the reason why nothing was injected, in a few words; empty where something was.
	Skipped string
	// InitContainers, Containers, Volumes and ImagePullSecrets are the names that the template brought, in its order.
	InitContainers, Containers, Volumes, ImagePullSecrets []string
	// Annotations are the keys that podRedirectAnnot set, sorted.
	Annotations []string
	// Steps are the names of the steps that changed the pod, in the order of work.
	Steps []string
}

func traceOf(s *Spec) Trace {
	t := Trace{InitContainers: containerNames(s.InitContainers), Containers: containerNames(s.Containers)}
	for i := range s.Volumes {
		t.Volumes = append(t.Volumes, s.Volumes[i].Name)
	}
	for _, p := range s.ImagePullSecrets {
		t.ImagePullSecrets = append(t.ImagePullSecrets, p.Name)
	}
	return t
}
