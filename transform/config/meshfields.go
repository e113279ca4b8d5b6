package config

import "sync"

// meshFields are the fields of MeshConfig, from the generated types (istio.io/api, mesh/v1alpha1, v1.31.1; a test compares).
// A list of names recognises a file without waking the protobuf registry, which costs milliseconds at its first use.
var meshFields = sync.OnceValue(func() map[string]bool {
	return nameSet(
		"proxyListenPort", "proxyInboundListenPort", "proxyHttpPort", "connectTimeout", "hboneIdleTimeout",
		"protocolDetectionTimeout", "tcpKeepalive", "ingressClass", "ingressService", "ingressControllerMode",
		"ingressSelector", "enableTracing", "accessLogFile", "accessLogFormat", "accessLogEncoding",
		"enableEnvoyAccessLogService", "disableEnvoyListenerLog", "defaultConfig", "outboundTrafficPolicy",
		"inboundTrafficPolicy", "configSources", "enableAutoMtls", "trustDomain", "trustDomainAliases", "caCertificates",
		"defaultServiceExportTo", "defaultVirtualServiceExportTo", "defaultDestinationRuleExportTo", "rootNamespace",
		"localityLbSetting", "zoneAwareLbSetting", "dnsRefreshRate", "h2UpgradePolicy", "inboundClusterStatName",
		"outboundClusterStatName", "certificates", "serviceSettings", "serviceScopeConfigs", "enablePrometheusMerge",
		"verifyCertificateAtClient", "ca", "extensionProviders", "defaultProviders", "discoverySelectors",
		"pathNormalization", "defaultHttpRetryPolicy", "meshMTLS", "tlsDefaults", "defaultTrafficPolicy",
		"serviceEntryVisibility",
	)
})

// proxyFields are the fields of ProxyConfig, from the same source.
var proxyFields = sync.OnceValue(func() map[string]bool {
	return nameSet(
		"configPath", "binaryPath", "drainDuration", "discoveryAddress", "discoveryRefreshDelay", "zipkinAddress",
		"statsdUdpAddress", "envoyMetricsServiceAddress", "proxyAdminPort", "availabilityZone", "controlPlaneAuthPolicy",
		"customConfigFile", "statNameLength", "concurrency", "proxyBootstrapTemplatePath", "interceptionMode", "tracing",
		"sds", "envoyAccessLogService", "envoyMetricsService", "proxyMetadata", "runtimeValues", "statusPort",
		"extraStatTags", "gatewayTopology", "terminationDrainDuration", "meshId", "readinessProbe", "proxyStatsMatcher",
		"holdApplicationUntilProxyStarts", "caCertificatesPem", "image", "privateKeyProvider", "proxyHeaders",
		"fileFlushInterval", "fileFlushMinSizeKb", "statsCompression", "connectionSettings", "serviceCluster",
		"tracingServiceName",
	)
})

// formerMeshFields had their meaning in meshes of 1.6 and 1.7 and are gone from the API since. They are no mistakes there.
// With a dot: fields of defaultConfig.
var formerMeshFields = sync.OnceValue(func() map[string]bool {
	return nameSet(
		"mixerCheckServer", "mixerReportServer", "disablePolicyChecks", "disableMixerHttpReports", "policyCheckFailOpen",
		"sidecarToTelemetrySessionAffinity", "sdsUdsPath", "authPolicy", "disableReportBatch", "reportBatchMaxEntries",
		"reportBatchMaxTime", "enableClientSidePolicyCheck", "thriftConfig", "rdsRefreshDelay", "enableSdsTokenMount",
		"sdsUseK8sSaJwt", "defaultConfig.parentShutdownDuration", "defaultConfig.connectTimeout",
		"defaultConfig.mixerAddress",
	)
})

func nameSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}
