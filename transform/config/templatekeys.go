package config

import (
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// injectorKeys are the values that injection itself reads, beside the templates (Istio, pkg/kube/inject, 1.30).
func injectorKeys() []string {
	return []string{
		"global.hub", "global.tag", "global.variant", "global.proxy.image", "global.proxy.holdApplicationUntilProxyStarts",
		"global.proxy_init.image", "global.multiCluster.clusterName", "global.network", "sidecarInjectorWebhook.rewriteAppHTTPProbe",
		"revision",
	}
}

// TemplateKeys lists, in order, the values that the config's templates name or that injection itself reads, as dotted
// paths. A path stands for all below it: a template may print a whole mapping.
func (c *Injection) TemplateKeys() []string {
	keys := injectorKeys()
	for _, t := range c.texts() {
		keys = append(keys, valuePaths(t.Text)...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// texts are all templates of the config, in order of their names.
func (c *Injection) texts() []TemplateText {
	if c.Legacy != nil {
		return []TemplateText{*c.Legacy}
	}
	out := make([]TemplateText, 0, len(c.TemplateNames))
	for _, n := range c.TemplateNames {
		out = append(out, c.Templates[n])
	}
	return out
}

// warnUnread reports set paths that nothing reads, with the key that may have been meant.
func warnUnread(c *Injection, embedded bool, t *tree, changed [][]string, p *problems) {
	if len(changed) == 0 {
		return
	}
	keys := c.TemplateKeys()
	if embedded {
		// The embedded profile takes from the values what Istio's chart writes into the injection config.
		keys = append(keys, "global.proxy.autoInject", "sidecarInjectorWebhook")
	}
	for _, path := range changed {
		dotted := strings.Join(path, ".")
		if slices.ContainsFunc(keys, func(k string) bool {
			return k == dotted || k == "" || strings.HasPrefix(dotted, k+".") || strings.HasPrefix(k, dotted+".")
		}) {
			continue
		}
		hint := "No template of the injection config names it."
		if near := nearestKey(dotted, keys); near != "" {
			hint = "Did you mean " + near + "?"
		}
		p.add(policy.Finding{
			Code: CodeUnknown, Severity: policy.Warning, Position: t.place(path), Field: showPath(path),
			Message: "setting it changes nothing: no template reads it", Hint: hint,
		})
	}
}

// nearestKey finds a key that differs little, or that has the same last name elsewhere.
func nearestKey(dotted string, keys []string) string {
	if near := nearest(dotted, keys); near != "" {
		return near
	}
	last := dotted[strings.LastIndexByte(dotted, '.')+1:]
	var best string
	for _, k := range keys {
		name := k[strings.LastIndexByte(k, '.')+1:]
		switch {
		case name == "":
		case strings.EqualFold(name, last):
			return k
		case best == "" && policy.Distance(strings.ToLower(name), strings.ToLower(last), 1) <= 1 && len(name) > 4:
			best = k
		}
	}
	return best
}
