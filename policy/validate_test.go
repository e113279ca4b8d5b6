package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateAnnotations(t *testing.T) {
	t.Parallel()
	got := ValidateAnnotations(map[string]string{
		AnnotationInterceptionMode:   "redirect",
		AnnotationExcludeInbound:     "*",
		AnnotationIncludeOutboundIPs: "10.0.0.1, 192.168.0.0/16",
		AnnotationProxyCPU:           "100m\n",
		AnnotationMergeMetrics:       "yes",
		AnnotationExcludeInterfaces:  "eth0,",
		AnnotationStatusPort:         "15020",
		AnnotationIncludeOutbound:    "not looked at",
		AnnotationProxyConfig:        "concurrency: x",
		"team":                       "shop",
	}, ValidateOptions{ProxyConfig: func(string) error { return errors.New("concurrency must be a number") }})
	want := []Problem{
		{
			Key:     AnnotationMergeMetrics,
			Message: `prometheus.istio.io/merge-metrics is "yes": it must be true or false`, Hint: `write "true"`,
		},
		{
			Key:     AnnotationProxyConfig,
			Message: `proxy.istio.io/config is "concurrency: x": concurrency must be a number`,
		},
		{
			Key:     AnnotationInterceptionMode,
			Message: `sidecar.istio.io/interceptionMode is "redirect": it must be REDIRECT, TPROXY or NONE`, Hint: "write REDIRECT",
		},
		{
			Key: AnnotationProxyCPU,
			Message: `sidecar.istio.io/proxyCPU is "100m\n": it holds control characters; ` +
				`it must be a Kubernetes quantity such as 100m or 128Mi`,
			Hint: `write "100m"`,
		},
		{
			Key: AnnotationExcludeInbound,
			Message: `traffic.sidecar.istio.io/excludeInboundPorts is "*": item "*" is not accepted; ` +
				`it must be a comma-separated list of ports from 0 to 65535`,
			Hint: "* is for the include annotation; list what is to be left out",
		},
		{
			Key: AnnotationExcludeInterfaces,
			Message: `traffic.sidecar.istio.io/excludeInterfaces is "eth0,": an item is empty; ` +
				`it must be a comma-separated list of network interface names`,
			Hint: `write "eth0"`,
		},
		{
			Key: AnnotationIncludeOutboundIPs,
			Message: `traffic.sidecar.istio.io/includeOutboundIPRanges is "10.0.0.1, 192.168.0.0/16": ` +
				`item "10.0.0.1" is not accepted; it must be * or a comma-separated list of CIDRs without blanks`,
			Hint: `write "10.0.0.1/32,192.168.0.0/16"`,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValidateLegacyAnnotations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		valid       bool
	}{
		{AnnotationInterceptionMode, "redirect", false},
		{AnnotationInterceptionMode, "TPROXY", true},
		{AnnotationEnableCoreDump, "maybe", false},
		{AnnotationEnableCoreDump, "T", true},
		{AnnotationMergeMetrics, "maybe", false},
		{AnnotationStatusPort, "x", false},
		{AnnotationReadinessDelay, "-1", false},
		{AnnotationReadinessPeriod, "5", true},
		{AnnotationReadinessFailures, "4294967296", false},
		{AnnotationIncludeOutboundIPs, "*", true},
		{AnnotationExcludeOutboundIPs, "*", false},
		{AnnotationExcludeOutboundIPs, "10.0.0.0/08", true},
		{AnnotationExcludeOutboundIPs, "10.0.0.0/00", true},
		{AnnotationExcludeOutboundIPs, "10.0.0.0/033", false},
		{AnnotationExcludeOutboundIPs, "10.0.0.0", false},
		{AnnotationExcludeOutboundIPs, "10.0.0.0/", false},
		{AnnotationIncludeInbound, "*", true},
		{AnnotationExcludeInbound, "*", false},
		{AnnotationExcludeInbound, "80, 443", true},
		{AnnotationExcludeOutbound, "80,", false},
		{AnnotationIncludeOutbound, "http", true},
		{AnnotationProxyCPU, "lots", true},
		{AnnotationKubevirtInterfaces, "*", true},
		{AnnotationLogLevel, "loud", true},
		{AnnotationProxyConfig, "bad", false},
		{AnnotationProxyConfig, "good", true},
	} {
		got := ValidateAnnotations(map[string]string{tt.name: tt.value}, ValidateOptions{
			Legacy: true,
			ProxyConfig: func(value string) error {
				if value == "bad" {
					return errors.New("it is bad")
				}
				return nil
			},
		})
		if (len(got) == 0) != tt.valid {
			t.Errorf("%s %q: %v, want valid %v", tt.name, tt.value, got, tt.valid)
		}
	}
}

func TestLongValuesAreCut(t *testing.T) {
	t.Parallel()
	got := ValidateAnnotations(map[string]string{AnnotationStatusPort: strings.Repeat("é", 100)}, ValidateOptions{})
	if len(got) != 1 || strings.Count(got[0].Message, "é") != 40 {
		t.Errorf("%v", got)
	}
}
