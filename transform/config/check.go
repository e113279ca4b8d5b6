package config

import (
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Check looks for what is legal and probably wrong in a bundle that was loaded: templates that are named and not there,
// selectors that select nothing, a version that the templates contradict, values of the wrong type that the injector reads.
// It renders nothing.
func Check(b *Bundle) []policy.Finding {
	var p problems
	checkTemplates(b.Injection, &p)
	checkSelectors(b.Injection, &p)
	checkValues(b, &p)
	checkVersion(b, &p)
	checkRevision(b, &p)
	return policy.SortFindings(p)
}

// checkTemplates: what defaultTemplates names must be there, or every injection fails; an alias fails where a pod asks for it.
func checkTemplates(c *Injection, p *problems) {
	if c.Legacy != nil {
		return
	}
	for _, name := range c.DefaultTemplates {
		if _, ok := c.Templates[name]; ok || c.Aliases[name] != nil {
			continue
		}
		at, ok := c.Places["defaultTemplates"]
		if !ok {
			at = c.Source
		}
		p.errorf(CodeMissing, at, "defaultTemplates", didYouMean(name, c.TemplateNames, "The templates are "+strings.Join(c.TemplateNames, ", ")+"."),
			"there is no template %s, which is run by default", name)
	}
	for _, alias := range sortedKeys(c.Aliases) {
		at := c.Places["aliases"]
		if _, ok := c.Templates[alias]; ok {
			p.warnf(CodeSuspicious, at, "aliases."+alias, "Give one of them another name.", "there is a template of the same name; the alias wins")
		}
		for _, name := range c.Aliases[alias] {
			if _, ok := c.Templates[name]; !ok {
				p.warnf(CodeSuspicious, at, "aliases."+alias, didYouMean(name, c.TemplateNames, "The templates are "+strings.Join(c.TemplateNames, ", ")+"; an alias cannot name another."),
					"there is no template %s, so that a pod that asks for this alias cannot be injected", name)
			}
		}
	}
	for _, name := range c.TemplateNames {
		if t := c.Templates[name]; strings.TrimSpace(t.Text) == "" {
			p.warnf(CodeSuspicious, t.Source, "templates."+name, "Remove it, or write what it adds to a pod.", "the template is empty")
		}
	}
}

func didYouMean(name string, names []string, otherwise string) string {
	if near := nearest(name, names); near != "" {
		return "Did you mean " + near + "?"
	}
	return otherwise
}

func checkSelectors(c *Injection, p *problems) {
	for _, f := range []struct {
		name string
		list []Selector
	}{{"neverInjectSelector", c.Never}, {"alwaysInjectSelector", c.Always}} {
		for _, s := range f.list {
			if s.Text == "" {
				p.warnf(CodeSuspicious, s.Position, f.name, "Remove it; to cover every pod use policy.", "an empty selector matches no pod")
			}
		}
	}
	for _, a := range c.Always {
		if slices.ContainsFunc(c.Never, func(n Selector) bool { return n.Text == a.Text && n.Text != "" }) {
			p.warnf(CodeSuspicious, a.Position, "alwaysInjectSelector", "Remove one of them.", "neverInjectSelector has %s too and is asked first", a.Text)
		}
	}
}

// checkValues: what the injector reads must be of the type it takes; any other is left out without a word.
func checkValues(b *Bundle, p *problems) {
	v := b.Values
	if f, ok := dig(v.Tree, "global", "tag"); ok {
		if n, isNumber := f.(float64); isNumber {
			p.warnf(CodeSuspicious, v.Origin("global", "tag"), "global.tag", "Quote it, or use --set-string: 1.30 without quotes is the number 1.3.",
				"the tag is %s, so that images end in :%s", describeValue(n), strings.TrimPrefix(describeValue(n), "the number "))
		}
	}
	for _, f := range []struct {
		path   []string
		isBool bool
	}{
		{[]string{"global", "hub"}, false},
		{[]string{"global", "variant"}, false},
		{[]string{"global", "network"}, false},
		{[]string{"global", "proxy", "image"}, false},
		{[]string{"global", "multiCluster", "clusterName"}, false},
		{[]string{"global", "proxy", "holdApplicationUntilProxyStarts"}, true},
		{[]string{"sidecarInjectorWebhook", "rewriteAppHTTPProbe"}, true},
	} {
		x, ok := dig(v.Tree, f.path...)
		if !ok || x == nil {
			continue
		}
		_, isBool := x.(bool)
		_, isText := x.(string)
		needs, hint := "a text", "Put it in quotes."
		if f.isBool {
			needs, hint = "true or false", "Write true or false, without quotes."
		}
		if f.isBool && !isBool || !f.isBool && !isText {
			p.warnf(CodeSuspicious, v.Origin(f.path...), showPath(f.path), hint, "%s where the injector reads %s", describeValue(x), needs)
		}
	}
	for _, key := range []string{"hub", "tag"} {
		if x, ok := dig(v.Tree, "global", key); slices.Contains(b.Injection.TemplateKeys(), "global."+key) && (!ok || x == nil || x == "") && b.usesProxyImage() {
			p.warnf(CodeSuspicious, v.Origin("global"), "global."+key, "Set it: --set global."+key+"=…", "it is not set, so that the proxy has no proper image")
		}
	}
}

// usesProxyImage says whether a template takes the image from hub and tag.
func (b *Bundle) usesProxyImage() bool {
	return slices.ContainsFunc(b.Injection.texts(), func(t TemplateText) bool {
		return strings.Contains(t.Text, ".ProxyImage") || strings.Contains(t.Text, ".Values.global.hub")
	})
}

// checkVersion: templates that call something newer than the version stated come from another release.
func checkVersion(b *Bundle, p *problems) {
	guess, why := templateVersion(b.Injection)
	if why != "" && b.Injection.Legacy == nil && b.Istio.Version.less(guess.Major, guess.Minor) {
		p.warnf(CodeVersionGuess, b.Injection.Source, "", "Give the values that belong to the injection config, or say --istio-version.",
			"the version is taken as %s (%s), but %s, which came with %s", b.Istio.Version, b.Istio.Reason, why, guess)
	}
}

func checkRevision(b *Bundle, p *problems) {
	fromValues := b.Values.Text("revision")
	if r := b.Injection.Revision; r != "" && fromValues != "" && r != fromValues {
		p.warnf(CodeSuspicious, b.Values.Origin("revision"), "revision", "Give the values of the same revision.",
			"the values are of revision %s, the injection config of %s", fromValues, r)
	}
}
