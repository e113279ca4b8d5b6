package config

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/kube-inject/inject/policy"
)

// Embedded is the profile that is built in: what runs where nothing is given. Its mesh config is DefaultMeshConfig.
type Embedded struct {
	Injection, Values Source
	// IstioVersion is the version the templates are for, such as "1.30".
	IstioVersion string
}

// LoadOptions say where the three parts come from. For each part the first that is given counts: its own source, From, the
// profile, the embedded profile.
type LoadOptions struct {
	Injection, Values, Mesh *Source
	// From holds all three, as a dump or a rendered chart does. A part that it lacks comes from the next in line.
	From    *Source
	Profile *Profile
	// Embedded must be set.
	Embedded Embedded
	// Revision chooses among ConfigMaps by the end of their name; empty and "default" mean the one without.
	Revision string
	// IstioVersion is --istio-version; empty to find out.
	IstioVersion string
	// Set changes values, SetMesh the mesh config, both after the files.
	Set, SetMesh []Set
}

// Bundle is all that an injection runs with.
type Bundle struct {
	Injection *Injection
	Values    *Values
	Mesh      *Mesh
	Istio     IstioVersion
	// EmbeddedTemplates says that the embedded profile's templates run.
	EmbeddedTemplates bool
	// Revision is --revision, else the profile's, else that of the ConfigMap, else values revision; "" for the default.
	Revision string
	// KubeVersion is the Kubernetes that the profile assumes; empty where it says nothing.
	KubeVersion string
	// Taken says in one line each what was taken from where.
	Taken []string
}

// Load reads and merges all parts. Where a finding is an error the bundle is nil.
func Load(opts LoadOptions) (*Bundle, []policy.Finding) {
	l := loader{opts: opts, scans: map[string]*scanned{}}
	b := l.load()
	findings := policy.SortFindings(l.problems)
	if l.problems.failed() {
		return nil, findings
	}
	return b, findings
}

type loader struct {
	opts     LoadOptions
	problems problems
	// scans keeps what was parsed, since one source may be given for several parts.
	scans map[string]*scanned
	taken []string
}

// origin is which of the possible sources a part came from.
type origin int

const (
	fromFile origin = iota
	fromProfile
	fromEmbedded
)

func (l *loader) scan(s Source) *scanned {
	if sc, ok := l.scans[s.Name]; ok && bytes.Equal(sc.given, s.Data) {
		return sc
	}
	sc := scan(s)
	sc.given = s.Data
	l.scans[s.Name] = sc
	return sc
}

func (l *loader) load() *Bundle {
	b := &Bundle{}
	part, from := l.locate(partInjection)
	if part != nil {
		b.Injection = readInjection(part, &l.problems)
	}
	b.EmbeddedTemplates = from == fromEmbedded
	valuesTree, valuesFrom := l.values(from)
	if b.Injection == nil || valuesTree == nil {
		// The mesh config is read all the same, so that one run reports everything.
		l.mesh(Modern)
		return nil
	}
	changed := applySets(valuesTree, l.opts.Set, SetKind.Flag, &l.problems)
	warnUnread(b.Injection, b.EmbeddedTemplates, valuesTree, changed, &l.problems)
	b.Values = &Values{Tree: valuesTree.root, Source: valuesTree.place(nil), tree: valuesTree}
	b.Istio = l.version(b, from, valuesFrom)
	b.Mesh = l.mesh(b.Istio.Engine)
	l.revision(b)
	b.Taken = l.taken
	return b
}

// locate finds a part in the first source that is given for it.
func (l *loader) locate(w which) (*found, origin) {
	own := [...]*Source{l.opts.Injection, l.opts.Values, l.opts.Mesh}[w]
	if own != nil {
		f := l.scan(*own).find(w, l.opts.Revision, &l.problems)
		l.took(w, own.Name, f)
		return f, fromFile
	}
	if l.opts.From != nil {
		sc := l.scan(*l.opts.From)
		c, problem := sc.contents()
		switch {
		case c.has(w):
			f := sc.find(w, l.opts.Revision, &l.problems)
			l.took(w, l.opts.From.Name, f)
			return f, fromFile
		case w != partInjection || c.Values && sc.helmForm() && !c.Dump:
			// The next in line: what people write themselves has no templates.
		case problem != nil:
			l.problems.add(*problem)
			return nil, fromFile
		case len(sc.objects) == 0:
			l.problems.errorf(CodeMissing, newText(sc.source).at(0, 0), "", "Give the mesh config to --mesh-config-file; "+dumpHint,
				"this holds only a mesh config, and --config-from needs the injection config too")
			return nil, fromFile
		default:
			sc.find(w, l.opts.Revision, &l.problems)
			return nil, fromFile
		}
	}
	if l.opts.Profile != nil {
		if s := l.opts.Profile.source(w); s != nil {
			f := l.scan(*s).find(w, "", &l.problems)
			l.took(w, s.Name, f)
			return f, fromProfile
		}
	}
	switch w {
	case partInjection:
		return l.embedded(w, l.opts.Embedded.Injection), fromEmbedded
	case partValues:
		return l.embedded(w, l.opts.Embedded.Values), fromEmbedded
	}
	return nil, fromEmbedded
}

func (l *loader) embedded(w which, s Source) *found {
	l.taken = append(l.taken, fmt.Sprintf("%s: embedded profile (Istio %s)", w, l.opts.Embedded.IstioVersion))
	return l.scan(s).find(w, "", &l.problems)
}

func (l *loader) took(w which, name string, f *found) {
	line := w.String() + ": " + name
	if f != nil && f.from != "" {
		line += ", " + f.from
	}
	l.taken = append(l.taken, line)
}

// has says whether a source of all parts holds one of them.
func (sc *scanned) has(w which) bool {
	if len(sc.objects) == 0 {
		return w == partInjection || sc.shape == shapeValues && (w == partValues || lookup(sc.single, "meshConfig") != nil)
	}
	for _, o := range sc.objects {
		if o.holds(w) != nil {
			return true
		}
	}
	return false
}

// helmForm says whether the values come in a form that has room for the mesh config.
func (sc *scanned) helmForm() bool {
	return sc.shape == shapeValues || slices.ContainsFunc(sc.objects, func(o object) bool { return o.kind != "ConfigMap" })
}

// values reads the values. Those that are not complete are laid over the defaults that come with the templates, where the
// templates have any: the embedded profile and profiles do, a template file of one's own does not.
func (l *loader) values(templates origin) (*tree, origin) {
	part, from := l.locate(partValues)
	if part == nil {
		return nil, from
	}
	t := readValues(part, &l.problems)
	if t == nil || from != fromFile || complete(t.root) {
		if t != nil && from == fromEmbedded && templates == fromFile && !l.problems.failed() {
			l.problems.warnf(CodeSuspicious, policy.Position{File: l.opts.Embedded.Values.Name}, "", "Give the values that belong to the injection config with --values-file.",
				"the values are the embedded profile's, the injection config is not")
		}
		return t, from
	}
	var base *Source
	switch {
	case templates == fromEmbedded:
		base = &l.opts.Embedded.Values
	case templates == fromProfile:
		base = l.opts.Profile.source(partValues)
	}
	if base == nil {
		return t, from
	}
	under := l.scan(*base).find(partValues, "", &l.problems)
	if under == nil {
		return nil, from
	}
	merged := readValues(under, &l.problems)
	if merged == nil {
		return nil, from
	}
	merged.lay(t)
	merged.places[""] = t.place(nil)
	name := base.Name
	if templates == fromEmbedded {
		name = "the embedded values"
	}
	l.taken[len(l.taken)-1] += ", laid over " + name
	return merged, from
}

// mesh reads the mesh config. Values in Helm's form may carry it under meshConfig; it counts where no other is given.
func (l *loader) mesh(e Engine) *Mesh {
	part, from := l.locate(partMesh)
	if part == nil && from == fromEmbedded && l.opts.Values != nil {
		if sc := l.scan(*l.opts.Values); sc.helmForm() && sc.has(partMesh) {
			part = sc.find(partMesh, l.opts.Revision, &l.problems)
			l.took(partMesh, l.opts.Values.Name, part)
		}
	}
	if part == nil && from == fromEmbedded && l.opts.From != nil && !l.problems.failed() {
		sc := l.scan(*l.opts.From)
		if c, _ := sc.contents(); c.Dump {
			l.problems.warnf(CodeSuspicious, policy.Position{File: l.opts.From.Name}, "", "Dump both ConfigMaps: "+dumpLine+".",
				"there is no mesh config in it (ConfigMap istio), so that the defaults count")
		}
	}
	if part == nil && len(l.opts.SetMesh) == 0 {
		if from == fromEmbedded {
			l.taken = append(l.taken, "mesh config: defaults")
		}
		return defaultMesh(e)
	}
	t := newTree()
	if part != nil {
		read, err := treeOf(part.text, part.node)
		if err != nil {
			l.problems.add(*err)
			return nil
		}
		t = read
		if len(t.places) == 0 {
			t.places[""] = part.text.start()
		}
	} else {
		l.taken = append(l.taken, "mesh config: defaults")
	}
	applySets(t, l.opts.SetMesh, func(SetKind) string { return setMeshFlag }, &l.problems)
	return readMesh(t, e, &l.problems)
}

// version finds the Istio version to inject for.
func (l *loader) version(b *Bundle, templates, values origin) IstioVersion {
	s := versionSources{flag: l.opts.IstioVersion, injection: b.Injection, values: b.Values, tagCounts: templates == values || values == fromFile}
	switch templates {
	case fromEmbedded:
		s.profile, s.profileName = l.opts.Embedded.IstioVersion, "the embedded profile"
	case fromProfile:
		s.profile, s.profileName = l.opts.Profile.IstioVersion, "the profile, "+l.opts.Profile.Name
	}
	return s.detect(&l.problems)
}

// revision settles the revision and what the profile assumes.
func (l *loader) revision(b *Bundle) {
	fromValues := b.Values.Text("revision")
	b.Revision = l.opts.Revision
	if l.opts.Profile != nil {
		b.KubeVersion = l.opts.Profile.KubeVersion
		if b.Revision == "" {
			b.Revision = l.opts.Profile.Revision
		}
	}
	for _, r := range []string{b.Injection.Revision, fromValues} {
		if b.Revision == "" {
			b.Revision = r
		}
	}
	if b.Revision == "default" {
		b.Revision = ""
	}
}
