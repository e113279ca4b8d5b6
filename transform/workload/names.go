package workload

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// CheckNames reports, for the lists that injection edits, elements without their merge key (E_SHAPE) and names that
// occur twice (E_DUPNAME, at the second): containers, init containers and volumes by name. It is for templates that
// are to be changed only; field paths are those of the object.
func (t Template) CheckNames(o Object) []Notice {
	f := finder{}
	spec := t.Path[len(o.Path):]
	if t.Shape != PodSpec {
		spec = extend(spec, Step{Key: "spec"})
	}
	for _, list := range []string{"initContainers", "containers", "volumes"} {
		_, elements := Child(t.Spec, list)
		if elements = Resolve(elements); elements == nil || elements.Kind != yaml.SequenceNode {
			continue
		}
		seen := make(map[string]int, len(elements.Content))
		for i, n := range elements.Content {
			steps := append(extend(spec, Step{Key: list}), Step{Index: i, IsIndex: true})
			f.checkName(o, Resolve(n), steps, seen)
		}
	}
	return f.found.Notices
}

func (f *finder) checkName(o Object, element *yaml.Node, steps []Step, seen map[string]int) {
	if element == nil || element.Kind != yaml.MappingNode {
		return
	}
	key, value := Child(element, "name")
	name := scalar(value)
	list := strings.TrimSuffix(steps[len(steps)-2].Key, "s")
	if key == nil || name == "" {
		f.fail(CodeShape, o.Resource, element, Field(steps), "the "+list+" has no name", "give it a name")
		return
	}
	if first, ok := seen[name]; ok {
		before := append(steps[:len(steps)-1:len(steps)-1], Step{Index: first, IsIndex: true})
		f.fail(CodeDupName, o.Resource, key, Field(steps)+".name",
			"the name "+name+" is taken by "+Field(before), "rename one of them")
		return
	}
	seen[name] = steps[len(steps)-1].Index
}
