package legacy

import (
	"testing"

	"github.com/kube-inject/inject/policy"
)

func TestAnnotationChecks(t *testing.T) {
	t.Parallel()
	all := checks()
	all[policy.AnnotationProxyConfig] = proxyConfig(V17)
	for name, tc := range map[string]struct{ good, bad []string }{
		policy.AnnotationIncludeOutboundIPs: {[]string{"", "*", "10.0.0.0/8", "10.0.0.0/8,fd00::/64"}, []string{"a", "10.0.0.1", "*,10.0.0.0/8", "10.0.0.0/8, 11.0.0.0/8", "10.0.0.0/8,"}},
		policy.AnnotationExcludeOutboundIPs: {[]string{"", "10.0.0.0/8"}, []string{"*"}},
		policy.AnnotationIncludeInbound:     {[]string{"", "*", "80", " 80 , 81 "}, []string{"*,80", "80,,81", "65536", "http"}},
		policy.AnnotationExcludeInbound:     {[]string{"", "0", "80"}, []string{"*", "-1"}},
		policy.AnnotationExcludeOutbound:    {[]string{"", "0,65535"}, []string{"*"}},
		policy.AnnotationInterceptionMode:   {[]string{"REDIRECT", "TPROXY", "NONE"}, []string{"", "redirect"}},
		policy.AnnotationEnableCoreDump:     {[]string{"true", "F", "1"}, []string{"", "yes"}},
		policy.AnnotationMergeMetrics:       {[]string{"false"}, []string{"no"}},
		policy.AnnotationStatusPort:         {[]string{"0", "15020"}, []string{"", "a", "65536"}},
		policy.AnnotationReadinessDelay:     {[]string{"0", "4294967295"}, []string{"", " 1", "-1", "4294967296"}},
		policy.AnnotationReadinessPeriod:    {[]string{"1"}, []string{"1.5"}},
		policy.AnnotationReadinessFailures:  {[]string{"1"}, []string{"x"}},
		policy.AnnotationProxyConfig: {
			[]string{"", "concurrency: 0", "drainDuration: 7s", "noSuch: 1", `{"proxyMetadata": {"A": "b"}}`},
			[]string{"a: [", "- a", "drainDuration: 0s", "drainDuration: 61s", "statusPort: 0", "concurrency: many"},
		},
	} {
		for _, value := range tc.good {
			if err := all[name](value); err != nil {
				t.Errorf("%s %q: %v", name, value, err)
			}
		}
		for _, value := range tc.bad {
			if all[name](value) == nil {
				t.Errorf("%s %q: no error", name, value)
			}
		}
		delete(all, name)
	}
	for name := range all {
		t.Errorf("%s has no row here", name)
	}
}
