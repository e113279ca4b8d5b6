package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// Edit sets or removes one field of a manifest.
type Edit struct {
	// Path starts at the pod template. An element after "containers" is a container's name; a container that is not
	// there is added with `image: auto`, which injection fills in. A proxy is meant wherever it stands.
	Path []string
	// Job says that Path starts at the Job (in a CronJob: at its jobTemplate) instead.
	Job    bool
	Remove bool
	// Value is a string, bool, int64, []any or map[string]any, as in policy.FixEdit.
	Value any
}

// String prints the edit as "path: value", or "remove path".
func (e Edit) String() string {
	path := strings.Join(e.Path, ".")
	if e.Remove {
		return "remove " + path
	}
	value, err := json.Marshal(e.Value)
	if err != nil {
		return path
	}
	return path + ": " + string(value)
}

// Apply gives p as it is after the edits and a new injection: annotations that move the proxy or add its hooks take
// effect on the containers. p keeps its own values. An edit of a field that no remedy touches is an error.
func Apply(p Pod, edits []Edit) (Pod, error) {
	p = p.clone()
	for _, e := range edits {
		if err := p.edit(e); err != nil {
			return p, fmt.Errorf("%s: %w", e, err)
		}
	}
	for _, e := range edits {
		if len(e.Path) == 3 && e.Path[1] == "annotations" {
			p = p.settle(e.Path[2])
		}
	}
	return p, nil
}

func (p Pod) clone() Pod {
	p.Annotations = maps.Clone(p.Annotations)
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Spec = *p.Spec.DeepCopy()
	return p
}

// settle does what injection makes of an annotation (Istio, files/injection-template.yaml, 1.30).
func (p Pod) settle(annotation string) Pod {
	switch {
	case annotation == policy.AnnotationNativeSidecar && p.Annotations[annotation] == "true":
		return p.native()
	case annotation == policy.AnnotationNativeSidecar && p.Annotations[annotation] == "false":
		return p.classic()
	case annotation == policy.AnnotationProxyConfig && readConfig(p.Annotations[annotation]).hold():
		return p.held()
	}
	return p
}

var errPath = errors.New("no remedy changes this field")

func (p *Pod) edit(e Edit) error {
	switch {
	case e.Job:
		n, ok := e.Value.(int64)
		if !ok {
			return errPath
		}
		p.ActiveDeadlineSeconds = &n
		return nil
	case len(e.Path) == 3 && e.Path[0] == "metadata" && e.Path[1] == "annotations":
		if e.Remove {
			delete(p.Annotations, e.Path[2])
			return nil
		}
		p.Annotations[e.Path[2]], _ = e.Value.(string)
		return nil
	case len(e.Path) == 2 && e.Path[0] == "spec":
		n, ok := e.Value.(int64)
		switch {
		case ok && e.Path[1] == "terminationGracePeriodSeconds":
			p.Spec.TerminationGracePeriodSeconds = &n
		case ok && e.Path[1] == "activeDeadlineSeconds":
			p.Spec.ActiveDeadlineSeconds = &n
		default:
			return errPath
		}
		return nil
	case len(e.Path) >= 4 && e.Path[0] == "spec":
		return p.container(e.Path[1], e.Path[2]).edit(e)
	}
	return errPath
}

// target is a container to change.
type target struct{ *corev1.Container }

// container finds a container by name, the proxy in either list, or adds it.
func (p *Pod) container(list, name string) target {
	for _, l := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range l {
			if l[i].Name == name {
				return target{&l[i]}
			}
		}
	}
	added := corev1.Container{Name: name, Image: policy.ImageAuto}
	if list == "initContainers" {
		p.Spec.InitContainers = append(p.Spec.InitContainers, added)
		return target{&p.Spec.InitContainers[len(p.Spec.InitContainers)-1]}
	}
	p.Spec.Containers = append(p.Spec.Containers, added)
	return target{&p.Spec.Containers[len(p.Spec.Containers)-1]}
}

func (t target) edit(e Edit) error {
	field := strings.Join(e.Path[3:], ".")
	switch field {
	case "lifecycle.preStop", "lifecycle.postStart":
		if t.Lifecycle == nil {
			t.Lifecycle = &corev1.Lifecycle{}
		}
		hook := &t.Lifecycle.PreStop
		if field == "lifecycle.postStart" {
			hook = &t.Lifecycle.PostStart
		}
		*hook = nil
		return e.decode(hook)
	case "startupProbe":
		t.StartupProbe = nil
		return e.decode(&t.StartupProbe)
	case "securityContext.runAsUser":
		n, ok := e.Value.(int64)
		if !ok {
			return errPath
		}
		if t.SecurityContext == nil {
			t.SecurityContext = &corev1.SecurityContext{}
		}
		t.SecurityContext.RunAsUser = &n
		return nil
	}
	return errPath
}

// decode reads Value into a typed field; a removal leaves it empty.
func (e Edit) decode(into any) error {
	if e.Remove {
		return nil
	}
	data, err := json.Marshal(e.Value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
