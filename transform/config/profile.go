package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path"

	"github.com/kube-inject/inject/policy"
	"go.yaml.in/yaml/v3"
)

// The files of a profile folder. Values may be JSON instead.
const (
	ProfileFile   = "profile.yaml"
	InjectionFile = "config.yaml"
	ValuesFile    = "values.yaml"
	ValuesJSON    = "values.json"
	MeshFile      = "mesh.yaml"
)

// Profile is a folder with the three parts and a file that says what they are for. It stands in for the three flags.
type Profile struct {
	// Name is the folder, as it was named.
	Name                    string
	Injection, Values, Mesh *Source
	// IstioVersion, KubeVersion and Revision are what the parts are for; any may be empty.
	IstioVersion, KubeVersion, Revision string
	// Origin says in words where the parts came from.
	Origin string
	// Hashes are the SHA-256 sums of the parts as they were written, in hex, by file name.
	Hashes map[string]string
}

func (p *Profile) source(w which) *Source {
	return [...]*Source{p.Injection, p.Values, p.Mesh}[w]
}

// ReadProfile reads a profile from its files, by name without the folder; dir is the folder's name for messages. A part
// that was edited since the profile was made is used and named in a notice. The profile is nil where a finding is an error.
func ReadProfile(dir string, files map[string][]byte) (*Profile, []policy.Finding) {
	var p problems
	out := &Profile{Name: dir, Hashes: map[string]string{}}
	source := func(name string) *Source {
		if data, ok := files[name]; ok {
			return &Source{Name: path.Join(dir, name), Data: data}
		}
		return nil
	}
	out.Injection, out.Values, out.Mesh = source(InjectionFile), source(ValuesFile), source(MeshFile)
	if js := source(ValuesJSON); js != nil {
		if out.Values != nil {
			p.errorf(CodeChoice, policy.Position{File: dir}, "", "Keep one of the two.", "the profile has both %s and %s", ValuesFile, ValuesJSON)
		}
		out.Values = js
	}
	switch about := source(ProfileFile); {
	case about == nil && out.Injection == nil && out.Values == nil && out.Mesh == nil:
		p.errorf(CodeMissing, policy.Position{File: dir}, "", "A profile is made with: inject config import.",
			"this folder is no profile: it has no %s", ProfileFile)
	case about == nil:
		p.warnf(CodeSuspicious, policy.Position{File: dir}, "", "It says which Istio and Kubernetes the profile is for; inject config import writes it.",
			"the profile has no %s", ProfileFile)
	default:
		out.about(*about, files, &p)
	}
	findings := policy.SortFindings(p)
	if p.failed() {
		return nil, findings
	}
	return out, findings
}

// about reads profile.yaml.
func (o *Profile) about(s Source, files map[string][]byte, p *problems) {
	t := newText(s)
	node, err := parse(t)
	if err != nil {
		p.add(*err)
		return
	}
	if node == nil {
		return
	}
	r := injectionReader{text: t, problems: p}
	r.each(node, "profile", func(key string, v *yaml.Node, _ string) {
		target := map[string]*string{
			"istioVersion": &o.IstioVersion, "kubeVersion": &o.KubeVersion, "revision": &o.Revision, "source": &o.Origin,
		}[key]
		switch {
		case target != nil:
			// An unquoted 1.30 is the number 1.3 to YAML; the text as written is what was meant.
			if v.Kind != yaml.ScalarNode {
				r.wrong(v, key, "a text")
			} else if !isNull(v) {
				*target = v.Value
			}
		case key == "hashes":
			if !isNull(v) {
				r.each(v, key, func(file string, v *yaml.Node, field string) {
					if sum, ok := r.str(v, field); ok {
						o.Hashes[file] = sum
						o.check(file, sum, r.at(v), files, p)
					}
				})
			}
		default:
			p.warnf(CodeUnknown, r.at(v), key, "It is left out.", "there is no such field in a profile")
		}
	})
	if _, ok := ParseVersion(o.IstioVersion); o.IstioVersion != "" && !ok {
		p.errorf(CodeVersion, t.start(), "istioVersion", "Write a version such as 1.30.", "%s is no Istio version", quote(o.IstioVersion))
	}
}

// check compares a part with its hash.
func (o *Profile) check(file, want string, at policy.Position, files map[string][]byte, p *problems) {
	data, ok := files[file]
	switch {
	case !ok:
		p.errorf(CodeMissing, at, "hashes."+file, "Put the file back, or make the profile again.", "the profile names %s, which is not there", file)
	case hashOf(data) != want:
		p.add(policy.Finding{
			Code: CodeEdited, Severity: policy.Info, Position: policy.Position{File: path.Join(o.Name, file)},
			Message: file + " was edited since the profile was made", Hint: "It is used as it is; inject config import writes the hashes anew.",
		})
	}
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// About is what profile.yaml says beside the hashes; any may be empty.
type About struct {
	IstioVersion, KubeVersion, Revision string
	// Source says in words where the parts came from.
	Source string
}

// WriteProfile gives the files of a profile folder with a bundle's effective parts. ReadProfile and Load give the same
// bundle again, as far as pods are concerned. The same bundle gives the same bytes.
func WriteProfile(b *Bundle, about About) map[string][]byte {
	files := map[string][]byte{
		InjectionFile: printDocument(injectionNode(b.Injection, false)),
		ValuesFile:    printDocument(valuesNode(b.Values, false)),
		MeshFile:      printDocument(meshNode(b.Mesh, false)),
	}
	n := mappingNode()
	for _, f := range []struct{ key, value string }{
		{"istioVersion", about.IstioVersion}, {"kubeVersion", about.KubeVersion}, {"revision", about.Revision}, {"source", about.Source},
	} {
		if f.value != "" {
			v := textNode(f.value)
			v.Style = yaml.DoubleQuotedStyle
			put(n, f.key, v)
		}
	}
	hashes := map[string]any{}
	for name, data := range files {
		hashes[name] = hashOf(data)
	}
	put(n, "hashes", dataNode(hashes, nil, nil))
	files[ProfileFile] = printDocument(n)
	return files
}
