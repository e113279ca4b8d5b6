package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/workload"
)

// configFlags say which mesh to inject for.
type configFlags struct {
	injection, values, mesh string
	from, profile           string
	setMesh                 []string
	revision                string
	istioVersion            string
	kubeVersion             string
	native                  string
	namespace               string
	cluster, network        string
	kinds                   []string
	namespaceLabels         string
	namespacesFromInput     bool
	templateEnv             []string
	ignorePolicy            bool
	seal, strict            bool
	noReencode, noRecord    bool
	// sets keeps --set, --set-string and --set-json in the order in which they were given.
	sets []config.Set
	// labelled is the flag --namespace-labels: an empty value is a namespace without labels.
	labelled *pflag.Flag
	// survey finds the Namespaces and ProxyConfigs of the input; nil where the command does not look for them.
	survey *survey
}

func (c *configFlags) register(fs *pflag.FlagSet) {
	fs.Var((*fileName)(&c.injection), "inject-config-file", "`file` with the injection config, or the ConfigMap that holds it")
	fs.Var((*fileName)(&c.values), "values-file", "`file` with the values of the injection config, or Helm values")
	fs.Var((*fileName)(&c.mesh), "mesh-config-file", "`file` with the mesh config")
	fs.Var((*fileName)(&c.from), "config-from", "`file` that holds all three: a dump of ConfigMaps, or a rendered chart")
	fs.Var((*fileName)(&c.profile), "profile", "profile `folder`, as inject config import makes them")
	fs.Var(setValue{c, config.SetTyped}, "set", "set a value: `path=value`, in Helm's syntax; may be repeated")
	fs.Var(setValue{c, config.SetString}, "set-string", "set a value as text: `path=value`")
	fs.Var(setValue{c, config.SetJSON}, "set-json", "set a value as JSON: `path=json`")
	fs.StringArrayVar(&c.setMesh, "set-mesh", nil, "set a field of the mesh config: `path=value`")
	fs.StringVarP(&c.revision, "revision", "r", "", "control plane revision `name`")
	fs.StringVar(&c.istioVersion, "istio-version", "", "Istio `version` to inject for (default: found from the files)")
	fs.StringVar(&c.kubeVersion, "kube-version", "", "Kubernetes `version` of the cluster (default "+transform.DefaultKubeVersion+")")
	fs.StringVar(&c.native, "native-sidecar", "auto", "native sidecars: auto, true or false")
	fs.Lookup("native-sidecar").NoOptDefVal = "true"
	fs.StringVarP(&c.namespace, "namespace", "n", "", "`namespace` of objects that name none; decides, but is never written")
	fs.StringVar(&c.cluster, "cluster", "", "cluster `name` that the proxies report")
	fs.StringVar(&c.network, "network", "", "network `name` that the proxies report")
	fs.StringArrayVar(&c.kinds, "kind", nil, "more kinds: `group/Kind=path.to.template`, +group/Kind or -group/Kind")
	fs.StringVar(&c.namespaceLabels, "namespace-labels", "", "labels of the namespace, `key=value,…`: decide as the cluster's webhooks would")
	c.labelled = fs.Lookup("namespace-labels")
	fs.BoolVar(&c.namespacesFromInput, "namespaces-from-input", false, "decide as the cluster's webhooks would, by the Namespaces in the input")
	fs.StringArrayVar(&c.templateEnv, "template-env", nil, "`KEY=VALUE` that the template function env answers with")
	fs.BoolVar(&c.ignorePolicy, "ignore-policy", false, "inject whatever policy, labels and annotations say, as kube-inject of Istio 1.6 and 1.7 did")
	fs.BoolVar(&c.seal, "seal", false, "mark injected pods so that the cluster's webhook leaves them as reviewed")
	fs.BoolVar(&c.strict, "strict", false, "make warnings, asked-for-but-skipped pods and the embedded profile errors")
	fs.BoolVar(&c.noReencode, "no-reencode", false, "fail where a document cannot be edited in place of its bytes")
	fs.BoolVar(&c.noRecord, "no-record", false, "leave out the restore record that makes uninject exact")
	mustHide(fs, "no-reencode")
}

// fileName is the value of a flag that names a file. An empty one is an error: a script whose variable is not set would else
// inject with something else than it means.
type fileName string

// String gives the name.
func (f *fileName) String() string { return string(*f) }

// Type names the argument in usage texts.
func (*fileName) Type() string { return "file" }

// Set takes the name.
func (f *fileName) Set(text string) error {
	if text == "" {
		return errors.New(emptyName)
	}
	*f = fileName(text)
	return nil
}

const emptyName = "no file is named"

// setValue is one of the set flags; all three write into one list, as their order counts.
type setValue struct {
	flags *configFlags
	kind  config.SetKind
}

// String gives nothing: the flags have no default.
func (setValue) String() string { return "" }

// Type names the argument in usage texts.
func (setValue) Type() string { return "path=value" }

// Set takes one argument.
func (s setValue) Set(text string) error {
	s.flags.sets = append(s.flags.sets, config.Set{Kind: s.kind, Text: text})
	return nil
}

// problem is an error about a flag.
func problem(code, message, hint string) []policy.Finding {
	return []policy.Finding{{Code: code, Severity: policy.Error, Message: message, Hint: hint}}
}

// bundle reads the configuration that the flags name.
func (c *configFlags) bundle(p *Process, stdinTaken bool) (*config.Bundle, []policy.Finding) {
	o, fs := c.sources(&reader{process: p, stdinTaken: stdinTaken})
	if policy.HasErrors(fs) {
		return nil, fs
	}
	b, more := config.Load(o)
	return b, append(fs, more...)
}

// sources reads the files that the flags name.
func (c *configFlags) sources(r *reader) (config.LoadOptions, []policy.Finding) {
	o := config.LoadOptions{
		Embedded: transform.Embedded(), Revision: c.revision, IstioVersion: c.istioVersion, Set: c.sets,
	}
	for _, text := range c.setMesh {
		o.SetMesh = append(o.SetMesh, config.Set{Text: text})
	}
	o.Injection = r.read("--inject-config-file", c.injection)
	o.Values = r.read("--values-file", c.values)
	o.Mesh = r.read("--mesh-config-file", c.mesh)
	o.From = r.read("--config-from", c.from)
	if c.survey != nil {
		c.survey.from = o.From
	}
	fs := r.problems
	r.problems = nil
	if c.profile != "" {
		parts, more := readFolder(c.profile)
		fs = append(fs, more...)
		if len(more) == 0 {
			prof, notes := config.ReadProfile(c.profile, parts)
			o.Profile = prof
			fs = append(fs, notes...)
		}
	}
	return o, fs
}

// reader reads the files of the configuration; "-" is stdin, where the manifests come from elsewhere.
type reader struct {
	process    *Process
	stdinTaken bool
	problems   []policy.Finding
}

func (r *reader) read(flag, name string) *config.Source {
	switch {
	case name == "":
		return nil
	case name == "-" && r.stdinTaken:
		r.problems = append(r.problems, problem(files.CodeUsage, flag+" -: standard input is taken already",
			"name the manifests with -f, and read only one file from standard input")...)
		return nil
	case name == "-":
		r.stdinTaken = true
		data, err := io.ReadAll(r.process.In)
		if err != nil {
			r.problems = append(r.problems, problem(files.CodeIO, flag+": cannot read standard input: "+err.Error(), "")...)
			return nil
		}
		return &config.Source{Name: files.StdinName, Data: data}
	}
	data, err := os.ReadFile(name)
	if info, statErr := os.Stat(name); statErr == nil && info.IsDir() {
		hint := "name a file in it; a profile folder goes to --profile"
		if exists(filepath.Join(name, config.ProfileFile)) {
			hint = "it is a profile: use --profile " + slashed(name)
		}
		r.problems = append(r.problems, policy.Finding{
			Code: files.CodeIO, Severity: policy.Error, Position: policy.Position{File: slashed(name)},
			Message: flag + " takes a file, and this is a folder", Hint: hint,
		})
		return nil
	}
	if err != nil {
		r.problems = append(r.problems, policy.Finding{
			Code: files.CodeIO, Severity: policy.Error, Position: policy.Position{File: slashed(name)},
			Message: "cannot read the file of " + flag + ": " + reason(err), Hint: "check the name, and whether you may read it",
		})
		return nil
	}
	return &config.Source{Name: slashed(name), Data: data}
}

// slashed is a file's name as messages print it.
func slashed(name string) string { return filepath.ToSlash(filepath.Clean(name)) }

// reason is a system's error without the path that Go repeats.
func reason(err error) string {
	if i := strings.LastIndex(err.Error(), ": "); i >= 0 {
		return err.Error()[i+2:]
	}
	return err.Error()
}

// readFolder reads the files of a profile folder.
func readFolder(dir string) (map[string][]byte, []policy.Finding) {
	fail := func(err error) []policy.Finding {
		return []policy.Finding{{
			Code: files.CodeIO, Severity: policy.Error, Position: policy.Position{File: slashed(dir)},
			Message: "cannot read the profile: " + reason(err), Hint: "--profile takes a folder that inject config import has made",
		}}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fail(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fail(err)
		}
		out[e.Name()] = data
	}
	return out, nil
}

// setup turns the other flags into what the pipeline takes.
func (c *configFlags) setup() (transform.Setup, []policy.Finding) {
	s := transform.Setup{
		Registry: workload.Default(), Namespace: c.namespace, KubeVersion: c.kubeVersion, Cluster: c.cluster,
		Network: c.network, IgnorePolicy: c.ignorePolicy, Seal: c.seal, Strict: c.strict, NoReencode: c.noReencode,
		NoRecord: c.noRecord, Env: map[string]string{},
	}
	var fs []policy.Finding
	switch c.native {
	case "auto":
	case "true":
		s.Native = transform.NativeTrue
	case "false":
		s.Native = transform.NativeFalse
	default:
		fs = append(fs, problem(files.CodeUsage, fmt.Sprintf("--native-sidecar=%s: not auto, true or false", c.native),
			"leave it out, or write --native-sidecar=true")...)
	}
	if _, ok := config.ParseVersion(c.kubeVersion); c.kubeVersion != "" && !ok {
		fs = append(fs, problem(files.CodeUsage, "--kube-version "+c.kubeVersion+": not a Kubernetes version", "write --kube-version "+transform.DefaultKubeVersion)...)
	}
	for _, k := range c.kinds {
		reg, err := s.Registry.With(k)
		if err != nil {
			fs = append(fs, problem(files.CodeUsage, err.Error(), "write group/Kind=path.to.template")...)
			continue
		}
		s.Registry = reg
	}
	for _, kv := range c.templateEnv {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			fs = append(fs, problem(files.CodeUsage, "--template-env "+kv+": no KEY=VALUE", "write --template-env COLOR=blue")...)
			continue
		}
		s.Env[key] = value
	}
	return s, append(fs, c.surroundings(&s)...)
}

// compile reads the configuration and makes an injector of it.
func (c *configFlags) compile(p *Process, stdinTaken bool) (*transform.Compiled, []policy.Finding) {
	s, fs := c.setup()
	b, more := c.bundle(p, stdinTaken)
	fs = append(fs, more...)
	if b == nil || policy.HasErrors(fs) {
		return nil, fs
	}
	compiled, more := transform.Compile(b, s)
	c.name(compiled)
	return compiled, append(fs, more...)
}

// name gives the profile folder as the name of the configuration that it gave.
func (c *configFlags) name(compiled *transform.Compiled) {
	if compiled == nil || c.profile == "" {
		return
	}
	compiled.Profile = "profile " + slashed(c.profile)
	if c.injection != "" || c.values != "" || c.mesh != "" || c.from != "" {
		compiled.Profile += " and given files"
	}
}
