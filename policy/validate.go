package policy

import (
	"slices"
	"strconv"
	"strings"
)

// Problem is an annotation with a value that the injector refuses.
type Problem struct {
	Key string
	// Message names key, value and what is accepted; Hint says what to write, where that is clear.
	Message string
	Hint    string
}

// ValidateOptions is what annotation validation needs beyond the annotations.
type ValidateOptions struct {
	// Legacy uses the table of Istio 1.6 and 1.7.
	Legacy bool
	// ProxyConfig checks the value of proxy.istio.io/config; nil leaves it unchecked.
	ProxyConfig func(value string) error
}

// legacyChecks are the annotations that Istio 1.6 and 1.7 checked (pkg/kube/inject/inject.go, 1.7.8), with the types
// they had then. Those that later versions check besides (quantities, interfaces) passed.
func legacyCheck(name string) (Key, bool) {
	k := Key{Name: name, Kind: Annotation}
	switch name {
	case AnnotationInterceptionMode:
		k.Values = []string{"REDIRECT", "TPROXY", "NONE"}
	case AnnotationStatusPort:
		k.Type = Port
	case AnnotationReadinessDelay, AnnotationReadinessPeriod, AnnotationReadinessFailures:
		k.Type = Uint32
	case AnnotationIncludeOutboundIPs:
		k.Type = LegacyCIDROrAll
	case AnnotationExcludeOutboundIPs:
		k.Type = LegacyCIDRList
	case AnnotationIncludeInbound:
		k.Type = PortListOrAll
	case AnnotationExcludeInbound, AnnotationExcludeOutbound:
		k.Type = PortList
	case AnnotationEnableCoreDump, AnnotationMergeMetrics:
		k.Type = Bool
	case AnnotationProxyConfig:
		k.Type = ProxyConfig
	default:
		return Key{}, false
	}
	return k, true
}

// ValidateAnnotations checks the annotations of a pod template as the injector does before it injects, and gives all
// problems sorted by key (Istio, pkg/kube/inject/validate.go, 1.30; for every modern version as in the newest).
func ValidateAnnotations(annotations map[string]string, opts ValidateOptions) []Problem {
	var problems []Problem
	for name, value := range annotations {
		k, ok := validated(name, opts.Legacy)
		if !ok {
			continue
		}
		if err := check(k, value, opts); err != nil {
			problems = append(problems, Problem{
				Key:     name,
				Message: name + " is " + quoteCut(value) + ": " + err.Error(),
				Hint:    hint(k, value),
			})
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Key, b.Key) })
	return problems
}

func validated(name string, legacy bool) (Key, bool) {
	if legacy {
		return legacyCheck(name)
	}
	k, ok := Lookup(name, Annotation)
	return k, ok && k.Validated
}

func check(k Key, value string, opts ValidateOptions) error {
	if k.Type != ProxyConfig {
		return k.Check(value)
	}
	if opts.ProxyConfig == nil {
		return nil
	}
	return opts.ProxyConfig(value)
}

// hint gives the value that was probably meant.
func hint(k Key, value string) string {
	if len(k.Values) > 0 {
		for _, v := range k.Values {
			if strings.EqualFold(strings.TrimSpace(value), v) {
				return "write " + v
			}
		}
		return ""
	}
	switch k.Type {
	case Bool:
		if word, ok := meant(value); ok {
			return "write " + strconv.Quote(word)
		}
	case PortList, CIDRList, LegacyCIDRList:
		if value == "*" {
			return "* is for the include annotation; list what is to be left out"
		}
	}
	if accepts, parse := k.Type.rules(); parse != nil && accepts != "" {
		for _, repair := range []func(string) string{withoutBlanks, withoutEmptyItems, withPrefixLengths} {
			if r := repair(value); r != value && r != "" && parse(r) == nil {
				return "write " + strconv.Quote(r)
			}
		}
	}
	return ""
}

func withoutBlanks(value string) string { return strings.Join(strings.Fields(value), "") }

func withoutEmptyItems(value string) string {
	items := strings.FieldsFunc(withoutBlanks(value), func(r rune) bool { return r == ',' })
	return strings.Join(items, ",")
}

// withPrefixLengths makes addresses of one host into CIDRs.
func withPrefixLengths(value string) string {
	items := strings.Split(withoutEmptyItems(value), ",")
	for i, item := range items {
		switch {
		case strings.Contains(item, "/"):
		case strings.Contains(item, ":"):
			items[i] = item + "/128"
		case strings.Contains(item, "."):
			items[i] = item + "/32"
		}
	}
	return strings.Join(items, ",")
}
