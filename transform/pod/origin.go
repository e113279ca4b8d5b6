package pod

import corev1 "k8s.io/api/core/v1"

// Recorder keeps the pod as each step of an injection left it, for those who ask where a field came from. A nil Recorder
// keeps nothing and costs nothing.
type Recorder struct {
	// Original is the pod without an earlier injection, which the templates see.
	Original corev1.PodTemplateSpec
	// Steps are in the order in which they ran.
	Steps []Recorded
}

// Recorded is the pod after one step.
type Recorded struct {
	// Step is the step's name; for a rendered template Template is the name of that.
	Step, Template string
	Pod            corev1.PodTemplateSpec
}

func (r *Recorder) begin(original *corev1.PodTemplateSpec) {
	if r != nil {
		r.Original = *original.DeepCopy()
	}
}

func (r *Recorder) keep(step, template string, pod *corev1.PodTemplateSpec) {
	if r != nil {
		r.Steps = append(r.Steps, Recorded{step, template, *pod.DeepCopy()})
	}
}

// Keep adds a step that came after the engine's own, such as the seal.
func (r *Recorder) Keep(step string, pod *corev1.PodTemplateSpec) { r.keep(step, "", pod) }
