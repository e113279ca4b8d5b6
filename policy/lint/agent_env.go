package lint

import (
	"strconv"
	"time"

	"github.com/kube-inject/inject/policy"
)

func agentEnvBad() Rule {
	return Rule{
		ID: "agent-env-bad", Category: ProxyConfig, Severity: policy.Error, Link: linkAgent,
		Summary: "a variable of the agent with a value it cannot use, or a misspelt one",
		Why:     "The agent falls back to its default for a boolean or duration that it cannot read, and never sees a misspelt name.",
		Remedy:  "write \"true\" or \"false\", a duration such as \"15s\", or the variable's right name",
		Bad:     "annotations:\n  proxy.istio.io/config: |\n    proxyMetadata:\n      MINIMUM_DRAIN_DURATION: \"15\"",
		Good:    "annotations:\n  proxy.istio.io/config: |\n    proxyMetadata:\n      MINIMUM_DRAIN_DURATION: \"15s\"",
		check: func(f *Facts, r *Report) {
			if f.Config != nil {
				for _, name := range stringMaps()[:2] {
					if m := f.Config.Root.field(name); m != nil {
						for i := range m.Fields {
							v := &m.Fields[i]
							if v.Kind == String {
								agentVariable(v.Name, v.Text, func(value bool, format string, args ...any) *draft {
									spot := v.Key
									if value {
										spot = v.Spot
									}
									return r.inText(spot, []string{name, v.Name}, format, args...)
								})
							}
						}
					}
				}
			}
			f.proxyEnv(func(c container, i int, name, text string) {
				agentVariable(name, text, func(value bool, format string, args ...any) *draft {
					field := "name"
					if value {
						field = "value"
					}
					return r.at(c.at("env", strconv.Itoa(i), field), format, args...)
				})
			})
		},
	}
}

// proxyEnv visits the variables that the user's own istio-proxy container sets.
func (f *Facts) proxyEnv(visit func(c container, i int, name, text string)) {
	if f.AlreadyInjected() {
		return
	}
	spec := &f.Template.Spec
	for _, c := range append(userContainers("containers", spec.Containers, nil),
		userContainers("initContainers", spec.InitContainers, nil)...) {
		if c.Name != policy.ContainerProxy {
			continue
		}
		for i, e := range c.Env {
			if e.ValueFrom == nil {
				visit(c, i, e.Name, e.Value)
			}
		}
	}
}

// agentVariable checks one variable of the agent.
func agentVariable(name, text string, report func(value bool, format string, args ...any) *draft) {
	switch kind, ok := agentVariables()[name]; {
	case ok && kind == "bool":
		if _, err := strconv.ParseBool(text); err != nil && text != "" {
			report(true, "%s is %s, which is no boolean: the agent takes its default", name, quote(text)).
				hint("write \"true\" or \"false\"")
		}
	case ok && kind == "duration":
		if _, err := time.ParseDuration(text); err != nil && text != "" {
			d := report(true, "%s is %s, which is no duration: the agent takes its default", name, quote(text))
			d.hint("write a number with a unit, such as \"15s\"")
			if _, err := time.ParseDuration(text + "s"); err == nil {
				d.hint("write %q", text+"s")
			}
		}
	case !ok && len(name) > 5:
		if near := nearest(name, sortedKeys(agentVariables()), 2); len(near) == 1 {
			report(false, "the agent has no variable %s", name).hint("did you mean %s?", near[0])
		}
	}
}

// agentVariables are the variables of the agent that people set, with the type of those whose values are checked
// (Istio, pilot/cmd/pilot-agent/options/options.go and pkg/istio-agent, 1.30).
func agentVariables() map[string]string {
	return map[string]string{
		"EXIT_ON_ZERO_ACTIVE_CONNECTIONS": "bool", "MINIMUM_DRAIN_DURATION": "duration",
		"ISTIO_META_DNS_CAPTURE": "", "ISTIO_META_DNS_AUTO_ALLOCATE": "", "ISTIO_META_ENABLE_HBONE": "",
		"PROXY_XDS_VIA_AGENT": "bool", "ISTIO_DELTA_XDS": "bool", "SECRET_TTL": "duration",
		"SECRET_GRACE_PERIOD_RATIO": "", "FILE_MOUNTED_CERTS": "bool", "OUTPUT_CERTS": "", "PROV_CERT": "",
		"XDS_ROOT_CA": "", "CA_ROOT_CA": "", "CA_PROVIDER": "", "CA_ADDR": "", "CREDENTIAL_FETCHER_TYPE": "",
		"ENVOY_STATUS_PORT": "", "ENVOY_PROMETHEUS_PORT": "", "TRUST_DOMAIN": "", "ECC_SIGNATURE_ALGORITHM": "",
		"WORKLOAD_RSA_KEY_SIZE": "", "PKCS8_KEY": "bool", "DISABLE_ENVOY": "bool", "METRICS_LOCALHOST_ACCESS_ONLY": "bool",
		"ENABLE_PROBE_KEEPALIVE_CONNECTIONS": "bool", "WASM_PURGE_INTERVAL": "duration", "WASM_MODULE_EXPIRY": "duration",
		"BOOTSTRAP_XDS_AGENT": "bool", "DNS_FORWARD_PARALLEL": "bool", "ISTIO_META_CERT_SIGNER": "",
		"ISTIO_META_REQUESTED_NETWORK_VIEW": "", "ISTIO_META_UNPRIVILEGED_POD": "", "ISTIO_META_ROUTER_MODE": "",
	}
}
