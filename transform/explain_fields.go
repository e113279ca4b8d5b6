package transform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// FieldChange is one field of a pod template that injection changed.
type FieldChange struct {
	// Path is the field, list elements by name where they have one: spec.containers[istio-proxy].image. The order of
	// containers is a field of its own, spec.containers.order.
	Path string
	// Was and Is are the values as JSON, texts without quotes but for the empty one; empty where the field is
	// not there.
	Was, Is string
	// Step is the last step that changed it, Template the name of the template where that is the step.
	Step, Template string
	// Source is where the value was written, where one setting gives it; else the template's place.
	Source policy.Position
}

// changes compares the pod after each step with the one before.
func (x *explaining) changes() []FieldChange {
	if x.watch.out == nil || x.watch.recorder == nil {
		return nil
	}
	before := fieldsOf(&x.view.template)
	current := before
	last := map[string]*FieldChange{}
	stage := func(step, template string, now map[string]string) {
		for path, value := range now {
			if old, ok := current[path]; !ok || old != value {
				last[path] = &FieldChange{Path: path, Is: value, Step: step, Template: template}
			}
		}
		for path := range current {
			if _, ok := now[path]; !ok {
				last[path] = &FieldChange{Path: path, Step: step, Template: template}
			}
		}
		current = now
	}
	stage("strip", "", fieldsOf(&x.watch.recorder.Original))
	for _, s := range x.watch.recorder.Steps {
		stage(s.Step, s.Template, fieldsOf(&s.Pod))
	}
	stage(StepSeal, "", fieldsOf(&x.watch.out.Template))
	var out []FieldChange
	for path, c := range last {
		if c.Was = before[path]; c.Was != c.Is {
			if c.Step == "template" {
				c.Source = builtIn(x.watch.explainer.src.Bundle.Injection.Templates[c.Template].Source)
			}
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b FieldChange) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// fieldsOf flattens a pod template to its leaves.
func fieldsOf(t *corev1.PodTemplateSpec) map[string]string {
	out := map[string]string{}
	text, err := json.Marshal(t)
	if err != nil {
		return out
	}
	var tree map[string]any
	if json.Unmarshal(text, &tree) != nil {
		return out
	}
	flatten(tree, "", out)
	for list, cs := range map[string][]corev1.Container{"initContainers": t.Spec.InitContainers, "containers": t.Spec.Containers} {
		var names []string
		for i := range cs {
			names = append(names, cs[i].Name)
		}
		if len(names) > 0 {
			out["spec."+list+".order"] = strings.Join(names, ", ")
		}
	}
	return out
}

func flatten(v any, path string, out map[string]string) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		if len(v) == 0 && path != "" && !strings.HasSuffix(path, ".resources") {
			out[path] = "{}"
		}
		for k, e := range v {
			flatten(e, fieldBelow(path, k), out)
		}
	case []any:
		for i, e := range v {
			flatten(e, path+"["+elementName(e, path, i)+"]", out)
		}
	case string:
		if out[path] = v; v == "" {
			out[path] = `""`
		}
	default:
		text, _ := json.Marshal(v)
		out[path] = string(text)
	}
}

func fieldBelow(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// elementName names an element of a list by its merge key, else by its index.
func elementName(e any, path string, i int) string {
	m, ok := e.(map[string]any)
	if !ok {
		return strconv.Itoa(i)
	}
	for _, key := range []string{"name", "mountPath", "containerPort", "path"} {
		if key == "name" && strings.HasSuffix(path, ".volumeMounts") || key == "name" && strings.HasSuffix(path, ".ports") {
			continue
		}
		if v, ok := m[key]; ok {
			return fmt.Sprint(v)
		}
	}
	return strconv.Itoa(i)
}
