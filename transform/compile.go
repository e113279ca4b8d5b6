package transform

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/config"
	"github.com/kube-inject/inject/transform/pod"
	"github.com/kube-inject/inject/transform/pod/legacy"
	"github.com/kube-inject/inject/transform/workload"
)

// Native is the wish for a native sidecar.
type Native int

// The wishes. Auto follows the Kubernetes version.
const (
	NativeAuto Native = iota
	NativeTrue
	NativeFalse
)

// DefaultKubeVersion is the Kubernetes assumed where nothing says otherwise; the first with native sidecars for sure.
const DefaultKubeVersion = "1.33"

// nativeSince is the minor version of Kubernetes 1.x from which auto means native (Istio, pkg/kube/inject/webhook.go,
// 1.27 to 1.31).
const nativeSince = 33

// Setup is what flags say besides the three files.
type Setup struct {
	Registry  workload.Registry
	Namespace string
	Native    Native
	// KubeVersion is --kube-version; empty for the profile's, else DefaultKubeVersion.
	KubeVersion      string
	Cluster, Network string
	IgnorePolicy     bool
	// Env answers the template function env.
	Env map[string]string
	// ProxyIDs gives the user and group of the proxy by namespace; nil means 1337.
	ProxyIDs func(namespace string) (uid, gid int64)
	// NamespaceLabels and Webhooks switch webhook parity on; nil leaves it off.
	NamespaceLabels func(namespace string) (map[string]string, bool)
	Webhooks        policy.Webhooks
	// Surroundings gives the Namespaces and ProxyConfigs of the input; it is first called when a pod needs them, and
	// from several goroutines. Nil means that there are none.
	Surroundings func() *Surroundings
	// NamespacesDecide switches webhook parity on for the namespaces among the Surroundings.
	NamespacesDecide bool
	Seal, Strict     bool
	NoReencode       bool
	NoRecord         bool
}

// Compiled is a configuration made ready.
type Compiled struct {
	Options Options
	// Profile, EngineName and NativeReason are for the summary line.
	Profile      string
	EngineName   string
	Native       bool
	NativeReason string
	// Version is the Istio version to inject for, VersionReason where it is from; Legacy tells the engine of 1.6 and 1.7.
	Version, VersionReason string
	Legacy                 bool
	// Taken says in one line each what was taken from where.
	Taken []string
}

// Compile makes options of a loaded configuration. Findings of severity error mean that there are none.
func Compile(b *config.Bundle, s Setup) (*Compiled, []policy.Finding) {
	c := &Compiled{Profile: "given files"}
	s = s.surrounded(b)
	if b.EmbeddedTemplates {
		c.Profile = "embedded profile"
	}
	native, reason, fs := s.native(b)
	fs = append(fs, s.sealable(b.Injection.Legacy != nil)...)
	if b.EmbeddedTemplates {
		fs = append(fs, applyValues(b)...)
	}
	if policy.HasErrors(fs) {
		return nil, fs
	}
	c.Native, c.NativeReason = native, reason
	c.EngineName = "istio-" + b.Istio.Version.String()
	c.Version, c.VersionReason, c.Legacy = b.Istio.Version.String(), b.Istio.Reason, b.Injection.Legacy != nil
	c.Taken = b.Taken
	o := Options{
		Registry: s.Registry, Namespace: s.Namespace, NamespaceLabels: s.NamespaceLabels,
		Seal: s.Seal, Strict: s.Strict, NoReencode: s.NoReencode, NoRecord: s.NoRecord,
		Rules: rules(b, s), EngineName: c.EngineName,
	}
	if b.Injection.Legacy != nil {
		engine, more := legacyEngine(b, s)
		fs = append(fs, more...)
		o.Engine = engine
		c.Native, c.NativeReason = false, "the legacy engine has no native sidecars"
	} else {
		o.Engine = modernEngine(b, s, native)
		o.Validate = func(a map[string]string) []policy.Problem {
			return policy.ValidateAnnotations(a, policy.ValidateOptions{ProxyConfig: func(text string) error {
				_, err := proxyConfig(b.Mesh, text)
				return err
			}})
		}
	}
	c.Options = o
	return c, fs
}

// native settles auto.
func (s Setup) native(b *config.Bundle) (bool, string, []policy.Finding) {
	switch s.Native {
	case NativeTrue:
		return true, "--native-sidecar=true", nil
	case NativeFalse:
		return false, "--native-sidecar=false", nil
	}
	version := cmp.Or(s.KubeVersion, b.KubeVersion, DefaultKubeVersion)
	v, ok := config.ParseVersion(version)
	if !ok {
		return false, "", []policy.Finding{{
			Code: "E_USAGE", Severity: policy.Error, Message: fmt.Sprintf("%q is no Kubernetes version", version),
			Hint: "write --kube-version 1.33",
		}}
	}
	how := "assumed; --kube-version"
	if s.KubeVersion != "" {
		how = "by --kube-version"
	} else if b.KubeVersion != "" {
		how = "of the profile"
	}
	reason := fmt.Sprintf("Kubernetes %s %s", v, how)
	if !b.Istio.Behaviour.NativeByDefault {
		return false, "Istio " + b.Istio.Version.String() + " has them off by default", nil
	}
	return v.Major > 1 || v.Minor >= nativeSince, reason, nil
}

// rules makes the decision table's input of the injection config.
func rules(b *config.Bundle, s Setup) policy.Rules {
	r := policy.Rules{IgnorePolicy: s.IgnorePolicy, Webhooks: s.Webhooks}
	switch b.Istio.Behaviour.InjectValues {
	case config.InjectLegacy:
		r.Generation = policy.Legacy
	case config.InjectLoose:
		r.Generation = policy.Modern126
	}
	r.Policy, _ = policy.ParsePolicy(cmp.Or(b.Injection.Policy, config.PolicyEnabled))
	for _, sel := range b.Injection.Never {
		r.Never = append(r.Never, sel.Selector)
	}
	for _, sel := range b.Injection.Always {
		r.Always = append(r.Always, sel.Selector)
	}
	return r
}

// modernEngine makes the engine of today's format.
func modernEngine(b *config.Bundle, s Setup, native bool) *pod.Engine {
	texts := make(map[string]pod.Text, len(b.Injection.Templates))
	for name, t := range b.Injection.Templates {
		texts[name] = pod.Text{Text: t.Text, Position: t.At(1, 0)}
	}
	env := map[string]string{"ENABLE_NATIVE_SIDECARS": strconv.FormatBool(native)}
	for k, v := range s.Env {
		env[k] = v
	}
	proxy := map[string]string{}
	if s.Cluster != "" {
		proxy[policy.EnvClusterID] = s.Cluster
	}
	if s.Network != "" {
		proxy[policy.EnvNetwork] = s.Network
	}
	behaviour := b.Istio.Behaviour
	defaultsAt, ok := b.Injection.Places["defaultTemplates"]
	if !ok {
		defaultsAt = b.Injection.Source
	}
	if b.EmbeddedTemplates {
		defaultsAt = b.Values.Origin("sidecarInjectorWebhook", "defaultTemplates")
	}
	return pod.New(pod.Options{
		Templates: texts, Aliases: b.Injection.Aliases, DefaultTemplates: b.Injection.DefaultTemplates,
		DefaultsPosition:    defaultsAt,
		InjectedAnnotations: b.Injection.InjectedAnnotations, Values: b.Values.Tree, Mesh: b.Mesh.Config,
		ProxyConfig:   func(text string) (*meshconfig.ProxyConfig, error) { return proxyConfig(b.Mesh, text) },
		ProxyDefaults: config.DefaultProxyConfig(config.Modern),
		Revision:      b.Revision, Native: native, Proxy: proxy, Env: env, ProxyIDs: s.ProxyIDs,
		ProxyConfigs: s.proxyConfigs(b.Mesh),
		Behaviour: pod.Behaviour{
			RewriteLifecycle: behaviour.LifecycleHandlers, ProxyInitImage: behaviour.ProxyInitImage,
			ScrapeTargets: behaviour.ScrapeTargets,
		},
	})
}

// proxyConfig reads an annotation; unknown fields are no error here, lint speaks of them.
func proxyConfig(m *config.Mesh, text string) (*meshconfig.ProxyConfig, error) {
	pc, _, fs := m.ProxyConfig(text, policy.Position{})
	for _, f := range fs {
		if f.Severity == policy.Error {
			if f.Field != "" {
				return nil, fmt.Errorf("%s: %s", f.Field, f.Message)
			}
			return nil, errors.New(f.Message)
		}
	}
	if pc == nil {
		return m.Config.GetDefaultConfig(), nil
	}
	return pc, nil
}

// legacyAdapter lets the engine of 1.6 and 1.7 stand where the modern one does.
type legacyAdapter struct{ engine *legacy.Engine }

func legacyEngine(b *config.Bundle, s Setup) (Engine, []policy.Finding) {
	version := legacy.V17
	if b.Istio.Engine == config.Legacy16 {
		version = legacy.V16
	}
	mesh := legacy.DefaultMesh(version)
	var out []policy.Finding
	if text := b.Mesh.Document(); text != nil {
		parsed, fs := legacy.ParseMesh(text, version)
		out = append(out, fs...)
		if policy.HasErrors(fs) {
			return nil, out
		}
		mesh = parsed
	}
	engine, fs := legacy.New(legacy.Config{
		Template: b.Injection.Legacy.Text, TemplatePos: b.Injection.Legacy.At(1, 0), Values: b.Values.Tree, Mesh: mesh,
		Version: version, Revision: b.Revision, InjectedAnnotations: b.Injection.InjectedAnnotations, TemplateEnv: s.Env,
	})
	return legacyAdapter{engine}, append(out, fs...)
}

// Inject runs the legacy engine; .DeploymentMeta is the workload's own metadata as far as templates of that time used it.
func (a legacyAdapter) Inject(in pod.Input) (*pod.Output, []policy.Finding) {
	injected, fs, trace := a.engine.Inject(legacy.Workload{TypeMeta: in.TypeMeta, ObjectMeta: in.Owner, Pod: in.Template})
	if policy.HasErrors(fs) {
		return nil, fs
	}
	out := &pod.Output{Template: injected, Warnings: fs}
	out.Trace.Injected = pod.Status{
		InitContainers: trace.InitContainers, Containers: trace.Containers, Volumes: trace.Volumes,
		ImagePullSecrets: trace.ImagePullSecrets,
	}
	out.Trace.Skipped = trace.Skipped
	return out, nil
}
