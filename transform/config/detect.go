package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// NewestModern is the version whose behaviour is assumed where nothing tells one: that of the embedded profile.
const NewestModern = "1.30"

// trait is something that templates say since a version.
type trait struct{ says, version string }

// traits tell the version of a modern config, newest first (the configs of 1.24 to 1.31: what each needs of the engine).
func traits() []trait {
	return []trait{
		{".ProxyInitImage", "1.31"},
		{"otelResourceAttributes", "1.30"},
		{"omitNil", "1.28"},
		{".NativeSidecars", "1.27"},
		{".Values.global.trustBundleName", "1.26"},
		{"istio.io/reroute-virtual-interfaces", "1.25"},
		{`env "ENABLE_NATIVE_SIDECARS"`, "1.24"},
	}
}

// legacyTraits tell a template of 1.7 from one of 1.6: concurrency became a message, hold and includeOutboundPorts came.
func legacyTraits() []string {
	return []string{
		"Concurrency.GetValue", "holdApplicationUntilProxyStarts", "traffic.sidecar.istio.io/includeOutboundPorts", "pilot-agent", "startupProbe",
	}
}

// templateVersion guesses the version from what the templates call; reason is empty where nothing tells.
func templateVersion(c *Injection) (v Version, reason string) {
	if c.Legacy != nil {
		for _, says := range legacyTraits() {
			if strings.Contains(c.Legacy.Text, says) {
				v, _ = ParseVersion("1.7")
				return v, "the legacy template has " + says
			}
		}
		if strings.Contains(c.Legacy.Text, ".ProxyConfig.Concurrency") {
			v, _ = ParseVersion("1.6")
			return v, "the legacy template takes .ProxyConfig.Concurrency as a number"
		}
		return Version{}, ""
	}
	if slices.Contains(c.TemplateNames, "agentgateway-waypoint") {
		v, _ = ParseVersion("1.31")
		return v, "there is a template agentgateway-waypoint"
	}
	for _, t := range traits() {
		for _, text := range c.texts() {
			if !strings.Contains(text.Text, t.says) {
				continue
			}
			v, _ = ParseVersion(t.version)
			if t.version == "1.28" && slices.Contains(c.TemplateNames, "agentgateway") {
				v, _ = ParseVersion("1.29")
				return v, "the templates call omitNil and there is one named agentgateway"
			}
			return v, "the templates use " + t.says
		}
	}
	return Version{}, ""
}

// versionSources are the places a version may be stated, best first.
type versionSources struct {
	flag, profile string
	// profileName is how the profile is called.
	profileName string
	injection   *Injection
	values      *Values
	// tagCounts is false where the values are not those the templates came with.
	tagCounts bool
}

// detect finds the version to inject for: --istio-version, else the profile's, else global.tag, else what the templates
// call. The format of the config decides between the modern engine and the legacy ones.
func (s versionSources) detect(p *problems) IstioVersion {
	v, reason := s.stated(p)
	legacy := s.injection.Legacy != nil
	guess, why := Version{}, ""
	if reason == "" || legacy != v.less(1, 8) {
		guess, why = templateVersion(s.injection)
	}
	if reason != "" && legacy != v.less(1, 10) {
		v, reason = s.mismatch(v, reason, guess, why, p)
	}
	if reason == "" {
		v, reason = guess, why
	} else if why == "" && s.flag == "" && !legacy && newest().less(v.Major, v.Minor) {
		// A tag of one's own, such as 9.9.9, says nothing; what the templates call does.
		if guess, why = templateVersion(s.injection); why != "" {
			v, reason = guess, why+" ("+reason+" is newer than any version known here)"
		}
	}
	if reason == "" {
		text := NewestModern
		if legacy {
			text = "1.7"
		}
		v, _ = ParseVersion(text)
		reason = "assumed: neither global.tag nor the templates tell one"
	}
	out := IstioVersion{Version: v, Reason: reason, Behaviour: BehaviourOf(v)}
	if legacy {
		out.Engine = Legacy17
		if v.less(1, 7) {
			out.Engine = Legacy16
		}
		// What still had the flat format after 1.7 is injected as 1.7 did.
		out.Behaviour = BehaviourOf(map[Engine]Version{Legacy17: {Major: 1, Minor: 7}, Legacy16: {Major: 1, Minor: 6}}[out.Engine])
	}
	return out
}

// newest is the newest version that the table of behaviours has a row for.
func newest() Version {
	rows := Behaviours()
	last := rows[len(rows)-1]
	return Version{Major: last.major, Minor: last.minor}
}

// stated is the version that something says outright.
func (s versionSources) stated(p *problems) (Version, string) {
	if s.flag != "" {
		if v, ok := ParseVersion(s.flag); ok {
			s.warnNewer(v, p)
			return v, "--istio-version"
		}
		p.errorf(CodeVersion, policy.Position{File: "--istio-version " + s.flag}, "", "Write a version such as 1.30.", "%s is no Istio version", quote(s.flag))
	}
	if s.profile != "" {
		if v, ok := ParseVersion(s.profile); ok {
			return v, s.profileName
		}
	}
	if s.tagCounts {
		tag, isText := dig(s.values.Tree, "global", "tag")
		if text, ok := tag.(string); ok && isText {
			if v, ok := ParseVersion(text); ok {
				return v, fmt.Sprintf("global.tag %s in %s", text, s.values.Origin("global", "tag"))
			}
		}
	}
	return Version{}, ""
}

// mismatch settles a version that the config's format contradicts: an error where --istio-version says so, else the
// templates are believed.
func (s versionSources) mismatch(v Version, reason string, guess Version, why string, p *problems) (Version, string) {
	format := "today's format (templates)"
	if s.injection.Legacy != nil {
		format = "the format of Istio 1.6 and 1.7 (template)"
		if !v.less(1, 8) && v.less(1, 10) {
			return v, reason
		}
	}
	if s.flag != "" {
		p.errorf(CodeVersion, s.injection.Source, "", "Leave out --istio-version, or give the injection config of that version.",
			"Istio %s does not go with an injection config in %s", v, format)
		return v, reason
	}
	p.warnf(CodeVersionGuess, s.injection.Source, "", "Say which it is with --istio-version.",
		"%s says Istio %s, but the injection config is in %s", reason, v, format)
	return guess, why
}

// warnNewer tells of a version whose engine this program does not know.
func (s versionSources) warnNewer(v Version, p *problems) {
	if last := newest(); last.less(v.Major, v.Minor) {
		p.warnf(CodeVersionGuess, policy.Position{File: "--istio-version " + s.flag}, "", "Compare the result with the webhook's.",
			"Istio %s is newer than this program knows; it is injected for as %s is", v, last)
	}
}
