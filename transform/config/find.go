package config

import (
	"fmt"
	"strings"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// found is a part in its source: parsed, and with a sentence on where it was.
type found struct {
	text text
	// node is the parsed part; nil for an empty one and for a bare template.
	node *yaml.Node
	bare bool
	// helm says that the part is in the form of Helm's values or of an operator and is brought into the mesh's own form.
	helm bool
	// from is what to say in the report, such as "data.config of ConfigMap istio-system/istio-sidecar-injector".
	from string
	// revision is that of the ConfigMap the part came from.
	revision string
}

// scanned is a source cut into documents, with what was parsed of it.
type scanned struct {
	source Source
	// given are the bytes as they came, before the header of helm is blanked.
	given []byte
	docs  []document
	// single is the root of a file of one document, parsed once for all parts; err is why it could not be.
	single *yaml.Node
	shape  shape
	err    *policy.Finding
	// objects are the ConfigMaps and operators in it.
	objects []object
}

// scan reads a source as far as it may concern us. Its error, if any, belongs to whoever needs the document.
func scan(s Source) *scanned {
	sc := &scanned{source: dropHelmHeader(decoded(s))}
	sc.docs = split(sc.source)
	if len(sc.docs) == 1 {
		d := sc.docs[0]
		sc.single, sc.err = parse(d.text)
		sc.shape = shapeOf(sc.single)
		sc.objects = objects(d.text, sc.single)
		return sc
	}
	for _, d := range sc.docs {
		if !mayHold(d.kind) {
			continue
		}
		n, err := parse(d.text)
		if err != nil {
			sc.err = err
			continue
		}
		sc.objects = append(sc.objects, objects(d.text, n)...)
	}
	return sc
}

// dropHelmHeader blanks the line that `helm get values` prints above the YAML; the line stays, so that places hold.
func dropHelmHeader(s Source) Source {
	for _, header := range []string{"USER-SUPPLIED VALUES:", "COMPUTED VALUES:"} {
		if strings.HasPrefix(string(s.Data[:min(len(s.Data), 64)]), header) {
			s.Data = append([]byte("#"), s.Data[1:]...)
			return s
		}
	}
	return s
}

// find locates a part. It gives nil with findings where the source cannot be what its flag says.
func (sc *scanned) find(w which, revision string, p *problems) *found {
	whole := newText(sc.source)
	if len(sc.objects) > 0 {
		return sc.choose(w, revision, p)
	}
	switch {
	case len(sc.docs) == 0:
		if w == partInjection {
			p.errorf(CodeMissing, whole.at(0, 0), "", "Give the injection config: a file with templates, or the ConfigMap istio-sidecar-injector.",
				"the file is empty")
			return nil
		}
		p.warnf(CodeSuspicious, whole.at(0, 0), "", "Leave the flag out where that is meant.", "the file is empty, so that the defaults count")
		return &found{text: whole}
	case w == partInjection && sc.isBare():
		return &found{text: whole, bare: true, from: "the file as one bare template"}
	case sc.err != nil:
		p.add(*sc.broken())
		return nil
	case len(sc.docs) > 1:
		sc.refuseStream(w, p)
		return nil
	}
	return sc.plain(w, p)
}

// isBare says whether the source is the text of one template: no config, but template actions in it or a pod's fields.
// A template is often no YAML before it is rendered.
func (sc *scanned) isBare() bool {
	if sc.err != nil || len(sc.docs) > 1 || sc.single != nil && sc.single.Kind != yaml.MappingNode {
		return hasActions(sc.source.Data) && !hasConfigKeys(sc.source.Data) && !hasKinds(sc.docs)
	}
	switch sc.shape {
	case shapeTemplate:
		return true
	case shapeUnknown:
		return hasActions(sc.source.Data)
	case shapeManifest:
		return hasActions(sc.source.Data) && lookup(sc.single, "kind").Value == "Pod"
	}
	return false
}

// broken is the error of a source that is no YAML; a chart's own template is one before it is rendered.
func (sc *scanned) broken() *policy.Finding {
	if !hasActions(sc.source.Data) || !hasKinds(sc.docs) {
		return sc.err
	}
	f := *sc.err
	f.Code, f.Message = CodeKind, "this looks like the unrendered template of a chart"
	f.Hint = "Render the chart first: helm template … > rendered.yaml, then --config-from rendered.yaml."
	return &f
}

func hasKinds(docs []document) bool {
	for _, d := range docs {
		if d.kind != "" {
			return true
		}
	}
	return false
}

// plain takes a file of one document that is no Kubernetes object.
func (sc *scanned) plain(w which, p *problems) *found {
	f := &found{text: sc.docs[0].text, node: sc.single}
	switch w {
	case partInjection:
		if sc.shape == shapeInjection {
			return f
		}
	case partValues:
		switch sc.shape {
		case shapeValues:
			f.helm = true
			return f
		case shapeUnknown, shapeEmpty, shapeProxyConfig:
			if sc.single == nil || sc.single.Kind == yaml.MappingNode {
				return f
			}
		case shapeTemplate:
			if !hasActions(sc.source.Data) {
				return f
			}
		}
	case partMesh:
		switch sc.shape {
		case shapeMesh, shapeUnknown, shapeEmpty:
			if sc.single == nil || sc.single.Kind == yaml.MappingNode {
				return f
			}
		case shapeValues:
			if m := lookup(sc.single, "meshConfig"); m != nil {
				f.node, f.helm, f.from = m, true, "meshConfig of the Helm values"
				return f
			}
		}
	}
	sc.refuse(w, p)
	return nil
}

// refuse says what the file looks like and which flag takes it.
func (sc *scanned) refuse(w which, p *problems) {
	at := sc.docs[0].text.at(0, 0)
	looks, flag := sc.shape.look()
	hint := "Give the " + w.String() + ", or the ConfigMap that holds " + w.it() + ", to " + w.flag() + "."
	switch {
	case sc.shape == shapeUnknown && sc.single != nil:
		looks = describe(sc.single)
		if sc.single.Kind == yaml.MappingNode {
			looks = "a mapping with the keys " + firstKeys(sc.single)
		}
	case sc.shape == shapeManifest:
		looks += " (" + lookup(sc.single, "apiVersion").Value + " " + lookup(sc.single, "kind").Value + ")"
	}
	if flag != "" && flag != w.flag() {
		hint = "Give it to " + flag + "; " + w.flag() + " takes the " + w.String() + " or the ConfigMap that holds " + w.it() + "."
	}
	p.errorf(CodeKind, at, "", hint, "this looks like %s, not like %s", looks, article(w.String()))
}

func article(s string) string {
	switch s {
	case "values":
		return "values"
	case "injection config":
		return "an injection config"
	}
	return "a " + s
}

func firstKeys(n *yaml.Node) string {
	var keys []string
	for i := 0; i < len(n.Content) && len(keys) < 4; i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	return strings.Join(keys, ", ")
}

// refuseStream says what a stream without the part holds.
func (sc *scanned) refuseStream(w which, p *problems) {
	name, key := w.holder()
	var kinds []string
	seen := map[string]bool{}
	for _, d := range sc.docs {
		if d.kind != "" && !seen[d.kind] {
			seen[d.kind] = true
			kinds = append(kinds, d.kind)
		}
	}
	what := fmt.Sprintf("a stream of %d documents", len(sc.docs))
	if len(kinds) > 0 {
		what += " (" + strings.Join(kinds[:min(len(kinds), 5)], ", ") + ")"
	}
	p.errorf(CodeKind, policy.Position{File: sc.source.Name}, "",
		"Give the "+w.String()+" "+w.self()+", or a stream that holds the ConfigMap "+name+" with the data key "+key+".",
		"this is %s without %s", what, article(w.String()))
}

// choose picks the one object that holds the part.
func (sc *scanned) choose(w which, revision string, p *problems) *found {
	var all []object
	for _, o := range sc.objects {
		if o.holds(w) != nil {
			all = append(all, o)
		}
	}
	name, key := w.holder()
	if len(all) == 0 {
		if sc.err != nil {
			// The object may well be in the document that cannot be read.
			p.add(*sc.err)
			return nil
		}
		sc.missing(w, p)
		return nil
	}
	pick := all
	if len(all) > 1 || all[0].revision != "" {
		if revision != "" {
			want := revision
			if want == "default" {
				want = ""
			}
			pick = nil
			for _, o := range all {
				if o.revision == want {
					pick = append(pick, o)
				}
			}
		}
	}
	// An operator beside the ConfigMaps it made says the same, less exactly.
	if maps := configMaps(pick); len(maps) > 0 {
		pick = maps
	}
	switch {
	case len(pick) == 0 && len(all) == 1 && revision == "default":
		pick = all
	case len(pick) == 0 && p.told(CodeMissing, all[0].at()), len(pick) > 1 && p.told(CodeChoice, pick[1].at()):
		// Injection config and values come from the same ConfigMap; one question is enough.
		return nil
	case len(pick) == 0:
		p.errorf(CodeMissing, all[0].at(), "", "Choose one of these with --revision.",
			"no %s for revision %s here; there is %s", w, revision, list(all))
		return nil
	case len(pick) > 1:
		p.errorf(CodeChoice, pick[1].at(), "", "Choose one with --revision, or give a file with only one of them.",
			"%d objects hold %s: %s", len(pick), article(w.String()), list(pick))
		return nil
	}
	o := pick[0]
	if o.kind == "ConfigMap" && revision != "" && revision != "default" && o.revision == "" && !p.told(CodeSuspicious, o.at()) {
		p.warnf(CodeSuspicious, o.at(), "metadata.name", "If revision "+revision+" has a ConfigMap of its own ("+name+"-"+revision+"), give that one.",
			"the %s %s of the default revision, not of %s", w, map[bool]string{true: "are those", false: "is that"}[w == partValues], revision)
	}
	return o.take(w, key, p)
}

func configMaps(objects []object) []object {
	var out []object
	for _, o := range objects {
		if o.kind == "ConfigMap" {
			out = append(out, o)
		}
	}
	return out
}

func list(objects []object) string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = fmt.Sprintf("%s (%s)", o, o.at())
	}
	return strings.Join(names, ", ")
}

// missing reports that no object has the part; a ConfigMap of the right name without the key is named.
func (sc *scanned) missing(w which, p *problems) {
	name, key := w.holder()
	for _, o := range sc.objects {
		if o.kind == "ConfigMap" && (o.name == name || strings.HasPrefix(o.name, name+"-") && w != partMesh) {
			p.errorf(CodeMissing, o.at(), "data."+key, "Take the ConfigMap from a cluster or chart that has it; it may belong to another part of Istio.",
				"%s has no data key %s", o, key)
			return
		}
	}
	first := sc.objects[0]
	hint := "Give the " + w.String() + " " + w.self() + ", or the ConfigMap " + name + " with the data key " + key + "."
	for _, other := range []which{partInjection, partValues, partMesh} {
		if first.holds(other) != nil {
			hint = "Give it to " + other.flag() + "; " + dumpHint
			p.errorf(CodeKind, first.at(), "", hint, "%s holds no %s, but %s", first, w, article(other.String()))
			return
		}
	}
	p.errorf(CodeKind, first.at(), "", hint, "%s holds no %s", first, w)
}

// dumpHint says how to get all parts at once.
const (
	dumpHint = "all of it is dumped by: " + dumpLine + ", for --config-from mesh.yaml."
	dumpLine = "kubectl -n istio-system get configmap istio-sidecar-injector istio -o yaml > mesh.yaml"
)

// it and self are the pronouns of a part.
func (w which) it() string {
	if w == partValues {
		return "them"
	}
	return "it"
}

func (w which) self() string {
	if w == partValues {
		return "themselves"
	}
	return "itself"
}

// take reads the part out of the object chosen.
func (o object) take(w which, key string, p *problems) *found {
	n := o.holds(w)
	if o.kind != "ConfigMap" {
		f := &found{text: o.text, node: n, helm: true, from: "spec of " + o.String(), revision: o.revision}
		if w == partMesh {
			f.node = lookup(n, "meshConfig")
			f.from = "spec.meshConfig of " + o.String()
			if f.node == nil {
				f.node, f.from = lookup(lookup(n, "values"), "meshConfig"), "spec.values.meshConfig of "+o.String()
			}
		}
		return f
	}
	f := &found{
		text: o.text.inner(n, "data."+key), from: "data." + key + " of " + o.String(), revision: o.revision,
	}
	root, err := parse(f.text)
	if err != nil {
		p.add(*err)
		return nil
	}
	f.node = root
	if w == partInjection && shapeOf(root) != shapeInjection {
		p.errorf(CodeKind, f.text.start(), "data."+key, "Dump the ConfigMap istio-sidecar-injector of the mesh again.",
			"%s of %s is no injection config", "data."+key, o)
		return nil
	}
	return f
}
