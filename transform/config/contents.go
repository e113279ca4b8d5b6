package config

import (
	"fmt"
	"strings"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// Contents says which of the three parts a source can give, whatever flag it is meant for.
type Contents struct {
	Injection, Values, Mesh bool
	// Dump says that they come out of ConfigMaps, where they are complete and effective; what people write themselves
	// (Helm values, an IstioOperator, a file of their own) is not.
	Dump bool
}

// ContentsOf recognises a source. The finding, if any, says why it can give nothing: it cannot be read, is empty, or does
// not look like any part.
func ContentsOf(s Source) (Contents, *policy.Finding) { return scan(s).contents() }

func (c Contents) has(w which) bool { return [...]bool{c.Injection, c.Values, c.Mesh}[w] }

func (sc *scanned) contents() (Contents, *policy.Finding) {
	if len(sc.objects) > 0 {
		return sc.contentsOfObjects()
	}
	at := newText(sc.source).at(0, 0)
	switch {
	case len(sc.docs) == 0:
		return Contents{}, &policy.Finding{
			Code: CodeMissing, Severity: policy.Error, Position: at, Message: "the file is empty",
			Hint: "Give a file with an injection config, values or a mesh config, or the ConfigMaps that hold them.",
		}
	case sc.isBare():
		return Contents{Injection: true}, nil
	case sc.err != nil:
		return Contents{}, sc.broken()
	case len(sc.docs) > 1:
		var p problems
		sc.refuseStream(partInjection, &p)
		return Contents{}, &p[0]
	}
	switch sc.shape {
	case shapeInjection:
		return Contents{Injection: true}, nil
	case shapeValues:
		return Contents{Values: true, Mesh: lookup(sc.single, "meshConfig") != nil}, nil
	case shapeMesh:
		return Contents{Mesh: true}, nil
	}
	looks, flag := sc.shape.look()
	hint := "If it is one, name the part by its flag: --inject-config-file, --values-file or --mesh-config-file."
	switch {
	case sc.shape == shapeUnknown && sc.single.Kind == yaml.MappingNode:
		looks = "a mapping with the keys " + firstKeys(sc.single)
	case sc.shape == shapeUnknown:
		looks = describe(sc.single)
	case sc.shape == shapeManifest:
		looks += " (" + lookup(sc.single, "apiVersion").Value + " " + lookup(sc.single, "kind").Value + ")"
		hint = "Give it to " + flag + "."
	case flag != "":
		hint = "Give it to " + flag + "."
	}
	return Contents{}, &policy.Finding{
		Code: CodeKind, Severity: policy.Error, Position: at, Hint: hint,
		Message: fmt.Sprintf("this looks like %s, not like an injection config, values or a mesh config", looks),
	}
}

// contentsOfObjects looks into the ConfigMaps and operators of a source.
func (sc *scanned) contentsOfObjects() (c Contents, f *policy.Finding) {
	var names []string
	for _, o := range sc.objects {
		names = append(names, o.String())
		for w, has := range map[which]*bool{partInjection: &c.Injection, partValues: &c.Values, partMesh: &c.Mesh} {
			if o.holds(w) != nil {
				*has = true
				c.Dump = c.Dump || o.kind == "ConfigMap"
			}
		}
	}
	if c != (Contents{}) {
		return c, nil
	}
	return c, &policy.Finding{
		Code: CodeKind, Severity: policy.Error, Position: sc.objects[0].at(),
		Message: fmt.Sprintf("%s: no injection config, no values and no mesh config here", strings.Join(names, ", ")),
		Hint:    "Take the ConfigMaps istio-sidecar-injector and istio, of the namespace where the control plane runs.",
	}
}
