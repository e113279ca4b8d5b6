package profile

import (
	"bytes"
	"encoding/json"
)

// tree is a mapping of a values file.
type tree = map[string]any

// Values gives the Helm values of Istio's default installation (istio/istio, chart istio-discovery, 1.30.3), a tree of the
// caller's own: maps by text, lists, texts, booleans, and numbers as float64.
func Values() map[string]any {
	return tree{
		"gateways": tree{"seccompProfile": tree{}, "securityContext": tree{}},
		"global":   globalValues(),
		"pilot": tree{
			"cni": tree{"enabled": false, "provider": "default"},
			"env": tree{},
		},
		"revision": "",
		"sidecarInjectorWebhook": tree{
			"alwaysInjectSelector":      []any{},
			"defaultTemplates":          []any{},
			"enableNamespacesByDefault": false,
			"injectedAnnotations":       tree{},
			"neverInjectSelector":       []any{},
			"reinvocationPolicy":        "Never",
			"rewriteAppHTTPProbe":       true,
			"templates":                 tree{},
		},
	}
}

func globalValues() tree {
	return tree{
		"caAddress":                  "",
		"caName":                     "",
		"certSigners":                []any{},
		"configCluster":              false,
		"configValidation":           true,
		"defaultPodDisruptionBudget": tree{"enabled": true},
		"defaultResources": tree{
			"requests": tree{"cpu": "10m"},
		},
		"externalIstiod":               false,
		"hub":                          "registry.istio.io/release",
		"imagePullPolicy":              "",
		"imagePullSecrets":             []any{},
		"istioNamespace":               "istio-system",
		"istiod":                       tree{"enableAnalysis": false},
		"logAsJson":                    false,
		"logging":                      tree{"level": "default:info"},
		"meshID":                       "",
		"meshNetworks":                 tree{},
		"mountMtlsCerts":               false,
		"multiCluster":                 tree{"clusterName": ""},
		"nativeNftables":               false,
		"network":                      "",
		"networkPolicy":                tree{"enabled": false},
		"omitSidecarInjectorConfigMap": false,
		"operatorManageWebhooks":       false,
		"pilotCertProvider":            "istiod",
		"priorityClassName":            "",
		"proxy":                        proxyValues(),
		"proxy_init":                   tree{"forceApplyIptables": false, "image": "proxyv2"},
		"remotePilotAddress":           "",
		"resourceScope":                "all",
		"sds": tree{
			"token": tree{"aud": "istio-ca"},
		},
		"sts":     tree{"servicePort": float64(0)},
		"tag":     "1.30.3",
		"variant": "",
		"waypoint": tree{
			"affinity":     tree{},
			"nodeSelector": tree{},
			"resources": tree{
				"limits":   tree{"cpu": "2", "memory": "1Gi"},
				"requests": tree{"cpu": "100m", "memory": "128Mi"},
			},
			"tolerations":               []any{},
			"topologySpreadConstraints": []any{},
		},
	}
}

func proxyValues() tree {
	return tree{
		"autoInject":                   "enabled",
		"clusterDomain":                "cluster.local",
		"componentLogLevel":            "misc:error",
		"excludeIPRanges":              "",
		"excludeInboundPorts":          "",
		"excludeOutboundPorts":         "",
		"image":                        "proxyv2",
		"includeIPRanges":              "*",
		"includeInboundPorts":          "*",
		"includeOutboundPorts":         "",
		"logLevel":                     "warning",
		"outlierLogPath":               "",
		"privileged":                   false,
		"readinessFailureThreshold":    float64(4),
		"readinessInitialDelaySeconds": float64(0),
		"readinessPeriodSeconds":       float64(15),
		"resources": tree{
			"limits":   tree{"cpu": "2000m", "memory": "1024Mi"},
			"requests": tree{"cpu": "100m", "memory": "128Mi"},
		},
		"seccompProfile": tree{},
		"startupProbe":   tree{"enabled": true, "failureThreshold": float64(600)},
		"statusPort":     float64(15020),
		"tracer":         "none",
	}
}

// ValuesJSON gives Values as JSON, indented and with a line end, for people to keep and edit.
func ValuesJSON() []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(Values()); err != nil {
		panic("the built-in values are no JSON: " + err.Error())
	}
	return out.Bytes()
}
