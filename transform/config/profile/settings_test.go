package profile

// setting is one way to use the templates; what is empty is as in the defaults.
type setting struct {
	name string
	// values and mesh are laid over the defaults, a null takes a value out.
	values, mesh string
	// labels, annotations, containers and spec are the pod's; owner is the workload's metadata and type.
	labels, annotations, containers, spec, owner string

	native, localhost    bool
	compliance, revision string
}

// settings uses every value, annotation, label and field of the mesh config that one of the templates reads.
func settings() []setting {
	const hbone = `{defaultConfig: {proxyMetadata: {ISTIO_META_ENABLE_HBONE: "true"}}}`
	const cni = `{pilot: {cni: {enabled: true}}}`
	return []setting{
		{name: "plain"},
		{name: "native", native: true},
		{name: "native annotation true", annotations: `"sidecar.istio.io/nativeSidecar": "true"`},
		{name: "native annotation false", native: true, annotations: `"sidecar.istio.io/nativeSidecar": "false"`},
		{name: "native annotation empty", native: true, annotations: `"sidecar.istio.io/nativeSidecar": ""`},
		{name: "native annotation other", annotations: `"sidecar.istio.io/nativeSidecar": "bogus"`},
		{name: "revision", values: `{revision: canary}`, revision: "canary"},
		{name: "revision default", values: `{revision: default}`},
		{name: "compliance", compliance: "fips-140-2"},
		{name: "localhost", localhost: true},

		{name: "no labels"},
		{name: "canonical", labels: `"service.istio.io/canonical-name": cn, "service.istio.io/canonical-revision": r`},
		{name: "canonical empty", labels: `"service.istio.io/canonical-name": "", app: "", version: ""`},
		{name: "kubernetes labels", labels: `"app.kubernetes.io/name": kn, "app.kubernetes.io/version": kv, app: a, version: v`},
		{name: "app and version", labels: `app: a, version: v`},
		{name: "long name", labels: `app: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`},
		{name: "long name with dash", labels: `app: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbb`},
		{name: "workload name", labels: `"service.istio.io/workload-name": w`},
		{name: "tls mode and tunnel", labels: `"security.istio.io/tlsMode": disabled, "networking.istio.io/tunnel": x`, mesh: hbone},
		{name: "tunnel", mesh: hbone},
		{name: "no tunnel", mesh: `{defaultConfig: {proxyMetadata: {ISTIO_META_ENABLE_HBONE: "false"}}}`},

		{name: "owner in namespace", owner: `{name: db, namespace: ns, kind: StatefulSet, apiVersion: apps/v1}`},
		{name: "owner without name", owner: `{name: "", kind: Pod, apiVersion: v1}`},
		{name: "owner without version", owner: `{name: x, kind: Pod, apiVersion: ""}`},

		{name: "default container", annotations: `"kubectl.kubernetes.io/default-container": x`},
		{name: "default logs container", annotations: `"kubectl.kubernetes.io/default-logs-container": x`},
		{name: "two containers", containers: `[{name: a}, {name: b, ports: [{containerPort: 1}, {containerPort: 2, name: "n<"}]}]`},
		{name: "ports of two", containers: `[{name: a, ports: [{containerPort: 1, protocol: UDP}]}, {name: b, ports: [{containerPort: 2, hostPort: 3}]}]`},
		{name: "own proxy", containers: `[{name: istio-proxy, ports: [{containerPort: 7}]}, {name: app}, {name: other}]`},
		{name: "own proxy last", containers: `[{name: z}, {name: istio-proxy, image: auto}]`},
		{name: "only own proxy", containers: `[{name: istio-proxy}]`},
		{name: "no containers", containers: `[]`},
		{name: "init containers", spec: `initContainers: [{name: i, restartPolicy: Always, ports: [{containerPort: 5}]}]`},
		{name: "service account", spec: `serviceAccountName: sa`, values: `{global: {mountMtlsCerts: true}}`},
		{name: "secret certificates", values: `{global: {mountMtlsCerts: true}}`},

		{name: "image value", values: `{global: {proxy: {image: a/b:c}}}`},
		{name: "init image value", values: `{global: {proxy_init: {image: a/i:c}}}`},
		{name: "image annotation", annotations: `"sidecar.istio.io/proxyImage": a/b`},
		{name: "image annotation without slash", annotations: `"sidecar.istio.io/proxyImage": b`},
		{name: "image annotation empty", annotations: `"sidecar.istio.io/proxyImage": ""`, values: `{global: {proxy: {image: x/y}}}`},
		{name: "pull policy and secrets", values: `{global: {imagePullPolicy: Always, imagePullSecrets: [a, b]}}`},

		{name: "cpu", annotations: `"sidecar.istio.io/proxyCPU": 4000m`},
		{name: "memory limit", annotations: `"sidecar.istio.io/proxyMemoryLimit": 1Gi`},
		{name: "all resources", annotations: `"sidecar.istio.io/proxyCPU": "1", "sidecar.istio.io/proxyMemory": 1Gi, "sidecar.istio.io/proxyCPULimit": "2", "sidecar.istio.io/proxyMemoryLimit": 2Gi`},
		{name: "resources empty", values: `{global: {proxy: {resources: null}}}`},
		{name: "resources more", values: `{global: {proxy: {resources: {claims: [{name: x}], limits: {cpu: 2, ephemeral-storage: 1Gi}}}}}`},

		{name: "status port 0", annotations: `"status.sidecar.istio.io/port": "0"`},
		{name: "status port", annotations: `"status.sidecar.istio.io/port": "123"`},
		{name: "status port native", native: true, annotations: `"status.sidecar.istio.io/port": "123"`},
		{name: "status port value 0", values: `{global: {proxy: {statusPort: 0}}}`},
		{name: "status port value text", values: `{global: {proxy: {statusPort: "15020"}}}`},
		{name: "readiness annotations", annotations: `"readiness.status.sidecar.istio.io/initialDelaySeconds": "1", "readiness.status.sidecar.istio.io/periodSeconds": "2", "readiness.status.sidecar.istio.io/failureThreshold": "3"`},
		{name: "readiness values", values: `{global: {proxy: {readinessInitialDelaySeconds: 1, readinessPeriodSeconds: "2", readinessFailureThreshold: 3}}}`},
		{name: "no startup probe", values: `{global: {proxy: {startupProbe: {enabled: false}}}}`},
		{name: "startup probe", values: `{global: {proxy: {startupProbe: {failureThreshold: 7}}}}`},

		{name: "log annotations", annotations: `"sidecar.istio.io/logLevel": a, "sidecar.istio.io/componentLogLevel": b, "sidecar.istio.io/agentLogLevel": c`},
		{name: "log annotations empty", annotations: `"sidecar.istio.io/logLevel": "", "sidecar.istio.io/componentLogLevel": "", "sidecar.istio.io/agentLogLevel": ""`},
		{name: "log values empty", values: `{global: {logging: {level: ""}, proxy: {logLevel: "", componentLogLevel: ""}}}`},
		{name: "log as json", values: `{global: {logAsJson: true}}`},
		{name: "outlier log", values: `{global: {proxy: {outlierLogPath: /dev/stdout}}}`},
		{name: "sts", values: `{global: {sts: {servicePort: 15463}}}`},
		{name: "cluster domain", values: `{global: {proxy: {clusterDomain: example.local}}}`},

		{name: "hold", mesh: `{defaultConfig: {holdApplicationUntilProxyStarts: true}}`},
		{name: "hold native", native: true, mesh: `{defaultConfig: {holdApplicationUntilProxyStarts: true}}`},
		{name: "hold value", values: `{global: {proxy: {holdApplicationUntilProxyStarts: true}}}`},
		{name: "hold value against mesh", values: `{global: {proxy: {holdApplicationUntilProxyStarts: true}}}`, mesh: `{defaultConfig: {holdApplicationUntilProxyStarts: false}}`},
		{name: "lifecycle", values: `{global: {proxy: {lifecycle: {preStop: {exec: {command: [a, "b\"c"]}}, postStart: {httpGet: {port: 1, path: /}}}}}}`},
		{name: "lifecycle native", native: true, values: `{global: {proxy: {lifecycle: {preStop: {sleep: {seconds: 5}}}}}}`},

		{name: "tproxy", mesh: `{defaultConfig: {interceptionMode: TPROXY}}`},
		{name: "tproxy annotation", annotations: `"sidecar.istio.io/interceptionMode": TPROXY`},
		{name: "none", mesh: `{defaultConfig: {interceptionMode: NONE}}`},
		{name: "none annotation", annotations: `"sidecar.istio.io/interceptionMode": NONE`},
		{name: "none native", native: true, annotations: `"sidecar.istio.io/interceptionMode": NONE`},
		{name: "none cni", values: cni, annotations: `"sidecar.istio.io/interceptionMode": NONE`},
		{name: "low ports", values: `{global: {proxy: {capNetBindService: true}}}`},
		{name: "low ports text", values: `{global: {proxy: {capNetBindService: "true"}}}`},
		{name: "low ports annotation", annotations: `"sidecar.istio.io/capNetBindService": "true"`},
		{name: "low ports refused", annotations: `"sidecar.istio.io/capNetBindService": "false"`, values: `{global: {proxy: {capNetBindService: true}}}`},
		{name: "tproxy low ports cni", values: `{global: {proxy: {capNetBindService: true}}, pilot: {cni: {enabled: true}}}`, mesh: `{defaultConfig: {interceptionMode: TPROXY}}`},
		{name: "privileged", values: `{global: {proxy: {privileged: true}}}`},
		{name: "privileged text", values: `{global: {proxy: {privileged: "false"}}}`},
		{name: "privileged tproxy", values: `{global: {proxy: {privileged: true}}}`, mesh: `{defaultConfig: {interceptionMode: TPROXY}}`},
		{name: "privileged cni", values: `{global: {proxy: {privileged: true}}, pilot: {cni: {enabled: true}}}`},
		{name: "seccomp", values: `{global: {proxy: {seccompProfile: {type: Localhost, localhostProfile: p.json}}}}`},
		{name: "seccomp cni", values: `{global: {proxy: {seccompProfile: {type: RuntimeDefault}}}, pilot: {cni: {enabled: true}}}`},

		{name: "traffic annotations", annotations: trafficAnnotations()},
		{name: "traffic annotations cni", values: cni, annotations: trafficAnnotations()},
		{name: "traffic annotations multus", values: `{pilot: {cni: {enabled: true, provider: multus}}}`, annotations: trafficAnnotations() + `, "k8s.v1.cni.cncf.io/networks": other`},
		{name: "traffic annotations empty", annotations: emptyTraffic()},
		{name: "traffic annotations empty cni", values: cni, annotations: emptyTraffic()},
		{name: "traffic values", values: trafficValues("false")},
		{name: "traffic values cni", values: trafficValues("true")},
		{name: "traffic values empty", values: `{global: {proxy: {includeIPRanges: "", includeInboundPorts: ""}}}`},
		{name: "traffic values empty cni", values: `{global: {proxy: {includeIPRanges: "", includeInboundPorts: "", statusPort: 0}}, pilot: {cni: {enabled: true}}}`},
		{name: "excluded twice", annotations: `"traffic.sidecar.istio.io/excludeInboundPorts": "15020, 80"`},
		{name: "kubevirt", annotations: `"traffic.sidecar.istio.io/kubevirtInterfaces": net1`},
		{name: "kubevirt cni", values: cni, annotations: `"traffic.sidecar.istio.io/kubevirtInterfaces": net1`},
		{name: "ports of the mesh", mesh: `{proxyListenPort: 1501, proxyInboundListenPort: 1506}`},
		{name: "iptables flags", values: `{global: {nativeNftables: true, logAsJson: true, proxy_init: {forceApplyIptables: true}}}`},
		{name: "iptables flags cni", values: `{global: {nativeNftables: true, logAsJson: true, proxy_init: {forceApplyIptables: true}}, pilot: {cni: {enabled: true}}}`},

		{name: "proxy metadata", mesh: `{defaultConfig: {concurrency: 3, proxyMetadata: {B: "2", A: x y}}}`},
		{name: "trust domain", mesh: `{trustDomain: td}`},
		{name: "trust domain value", mesh: `{trustDomain: ""}`, values: `{global: {trustDomain: vt}}`},
		{name: "no trust domain", mesh: `{trustDomain: ""}`},
		{name: "mesh id", values: `{global: {meshID: m}}`, mesh: `{defaultConfig: {meshId: m}}`},
		{name: "cluster and network", values: `{global: {network: n1, multiCluster: {clusterName: c1}}}`},
		{name: "network label", labels: `"topology.istio.io/network": nl`, values: `{global: {network: n1}}`},
		{name: "telemetry attributes", labels: `"app.kubernetes.io/version": v1`, mesh: `{extensionProviders: [{name: o, opentelemetry: {service: s, port: 1, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}}]}`},
		{name: "telemetry attributes in namespace", owner: `{namespace: ns, name: x, kind: Job, apiVersion: batch/v1}`, mesh: `{extensionProviders: [{name: o, opentelemetry: {service: s, port: 1, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}}]}`},
		{name: "datadog", values: `{global: {proxy: {tracer: datadog}}}`, annotations: `"apm.datadoghq.com/env": '{"DD_ENV":"prod","NUMBER":3}'`},
		{name: "datadog without variables", values: `{global: {proxy: {tracer: datadog}}}`},
		{name: "lightstep", values: `{global: {proxy: {tracer: lightstep}}}`, mesh: `{defaultConfig: {tracing: {lightstep: {address: "a:1"}, tlsSettings: {mode: SIMPLE, caCertificates: /etc/l/ca.pem}}}}`},
		{name: "lightstep without TLS", values: `{global: {proxy: {tracer: lightstep}}}`, mesh: `{defaultConfig: {tracing: {lightstep: {address: "a:1"}}}}`},

		{name: "CA address", values: `{global: {caAddress: "ca:1"}}`},
		{name: "CA address with revision", values: `{revision: r, global: {istioNamespace: ins}}`},
		{name: "Google CA", values: `{global: {caName: GkeWorkloadCertificate}}`},
		{name: "other CA", values: `{global: {caName: other}}`},
		{name: "certificates by kubernetes", values: `{global: {pilotCertProvider: kubernetes}}`},
		{name: "trust bundle", values: `{pilot: {env: {ENABLE_CLUSTER_TRUST_BUNDLE_API: true}}}`},
		{name: "trust bundle name", values: `{global: {trustBundleName: tb}, pilot: {env: {ENABLE_CLUSTER_TRUST_BUNDLE_API: true}}}`},
		{name: "trust bundle off", values: `{global: {trustBundleName: tb}, pilot: {env: {ENABLE_CLUSTER_TRUST_BUNDLE_API: false}}}`},
		{name: "revocation list", values: `{pilot: {crlConfigMapName: crl}}`},
		{name: "audience", values: `{global: {sds: {token: {aud: other}}}}`},
		{name: "bootstrap override", annotations: `"sidecar.istio.io/bootstrapOverride": cm`},
		{name: "user volumes", annotations: `"sidecar.istio.io/userVolume": '{"b":{"emptyDir":{"medium":"Memory"}},"a":{"configMap":{"name":"c","items":[{"key":"k","path":"p"}]}}}', "sidecar.istio.io/userVolumeMount": '{"b":{"mountPath":"/b","readOnly":true},"a":{"mountPath":"/a"}}'`},
		{name: "user volumes as list", annotations: `"sidecar.istio.io/userVolume": '[{"emptyDir":{}},{"name":"q","emptyDir":{}}]', "sidecar.istio.io/userVolumeMount": '[{"mountPath":"/a"},{"name":"q","mountPath":"/q"}]'`},
		{name: "gateway security", values: `{gateways: {securityContext: {runAsUser: 77, sysctls: [{name: a, value: "1"}]}}}`},
		{
			name: "everything", native: true, compliance: "pqc", localhost: true, annotations: trafficAnnotations() + `, "sidecar.istio.io/bootstrapOverride": cm, "apm.datadoghq.com/env": '{"A":"b"}', "sidecar.istio.io/userVolume": '{"u":{"emptyDir":{}}}', "sidecar.istio.io/userVolumeMount": '{"u":{"mountPath":"/u"}}'`,
			values: `{revision: rr, global: {trustBundleName: tb, network: net, meshID: m, mountMtlsCerts: true, logAsJson: true, nativeNftables: true, imagePullPolicy: Never, imagePullSecrets: [s], sts: {servicePort: 5}, proxy: {tracer: datadog, outlierLogPath: /o, capNetBindService: true}, proxy_init: {forceApplyIptables: true}}, pilot: {crlConfigMapName: x}}`,
			mesh:   `{defaultConfig: {proxyMetadata: {ISTIO_META_ENABLE_HBONE: "true"}}, extensionProviders: [{name: o, opentelemetry: {service: s, port: 1, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}}]}`,
		},
	}
}

func trafficAnnotations() string {
	return `"istio.io/reroute-virtual-interfaces": r1, "traffic.sidecar.istio.io/kubevirtInterfaces": k1,
"traffic.sidecar.istio.io/excludeInterfaces": e1, "traffic.sidecar.istio.io/includeOutboundIPRanges": 10.0.0.0/8,
"traffic.sidecar.istio.io/excludeOutboundIPRanges": 1.2.3.4/32, "traffic.sidecar.istio.io/includeInboundPorts": "80",
"traffic.sidecar.istio.io/excludeInboundPorts": "81", "traffic.sidecar.istio.io/includeOutboundPorts": "82",
"traffic.sidecar.istio.io/excludeOutboundPorts": "83"`
}

func emptyTraffic() string {
	return `"istio.io/reroute-virtual-interfaces": "", "traffic.sidecar.istio.io/kubevirtInterfaces": "",
"traffic.sidecar.istio.io/excludeInterfaces": "", "traffic.sidecar.istio.io/includeOutboundIPRanges": "",
"traffic.sidecar.istio.io/excludeOutboundIPRanges": "", "traffic.sidecar.istio.io/includeInboundPorts": "",
"traffic.sidecar.istio.io/excludeInboundPorts": "", "traffic.sidecar.istio.io/includeOutboundPorts": "",
"traffic.sidecar.istio.io/excludeOutboundPorts": "", "status.sidecar.istio.io/port": "0"`
}

func trafficValues(cni string) string {
	return `{global: {proxy: {excludeOutboundPorts: "1", includeOutboundPorts: "2", excludeIPRanges: 3.3.3.3/32,
excludeInboundPorts: "4", includeInboundPorts: "5", includeIPRanges: 6.6.6.6/32}}, pilot: {cni: {enabled: ` + cni + `}}}`
}
