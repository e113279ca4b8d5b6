package policy

// proxyKeys shape the proxy container itself.
func proxyKeys() []Key {
	const (
		template  = "injection-template.yaml"
		resources = "values global.proxy.resources where none of the four is set"
	)
	return []Key{
		{
			Name: AnnotationProxyImage, Kind: Annotation, Since: "1.6", ReadBy: template,
			Default: "hub, image and tag of the values", Summary: "image of the proxy; counts only with a slash in it",
		},
		{
			Name: AnnotationProxyImageType, Kind: Annotation, Values: []string{"default", "debug", "distroless"}, Since: "1.8",
			Default: "ProxyConfig image, then values global.variant", ReadBy: "inject.go",
			Summary: "variant of the proxy image", OnInvalid: "any text is appended to the image's tag",
		},
		{
			Name: AnnotationProxyCPU, Kind: Annotation, Type: Quantity, Validated: true, Since: "1.6", ReadBy: template,
			Default: resources, Summary: "CPU request of the proxy",
		},
		{
			Name: AnnotationProxyCPULimit, Kind: Annotation, Type: Quantity, Validated: true, Since: "1.6", ReadBy: template,
			Default: resources, Summary: "CPU limit of the proxy",
		},
		{
			Name: AnnotationProxyMemory, Kind: Annotation, Type: Quantity, Validated: true, Since: "1.6", ReadBy: template,
			Default: resources, Summary: "memory request of the proxy",
		},
		{
			Name: AnnotationProxyMemoryLimit, Kind: Annotation, Type: Quantity, Validated: true, Since: "1.6", ReadBy: template,
			Default: resources, Summary: "memory limit of the proxy",
		},
		{
			Name: AnnotationLogLevel, Kind: Annotation, Since: "1.6", ReadBy: template,
			Default: "values global.proxy.logLevel (warning)", Summary: "log level of Envoy",
		},
		{
			Name: AnnotationComponentLogLevel, Kind: Annotation, Since: "1.6", ReadBy: template,
			Default: "values global.proxy.componentLogLevel (misc:error)", Summary: "log level of Envoy by component",
		},
		{
			Name: AnnotationAgentLogLevel, Kind: Annotation, Since: "1.8", ReadBy: template,
			Default: "values global.logging.level (default:info)", Summary: "log level of the agent by scope",
		},
		{
			Name: AnnotationCapNetBindService, Kind: Annotation, Values: trueFalse(), Since: "1.6", ReadBy: template,
			Default: "values global.proxy.capNetBindService", Summary: "lets the proxy bind ports below 1024",
			OnInvalid: "every text but true means false",
		},
		{
			Name: AnnotationStatusPort, Kind: Annotation, Type: Port, Validated: true, Since: "1.6",
			Default: "values global.proxy.statusPort (15020)", ReadBy: template + ", app_probe.go, pilot-agent config.go",
			Summary: "port of the agent for health, probes and merged metrics; 0 takes the proxy's probes away",
		},
		{
			Name: AnnotationReadinessDelay, Kind: Annotation, Type: Uint32, Validated: true, Since: "1.6", ReadBy: template,
			Default: "values global.proxy.readinessInitialDelaySeconds (0)",
			Summary: "seconds before the first readiness probe of the proxy",
		},
		{
			Name: AnnotationReadinessPeriod, Kind: Annotation, Type: Uint32, Validated: true, Since: "1.6", ReadBy: template,
			Default: "values global.proxy.readinessPeriodSeconds (15)",
			Summary: "seconds between readiness probes of the proxy",
		},
		{
			Name: AnnotationReadinessFailures, Kind: Annotation, Type: Uint32, Validated: true, Since: "1.6", ReadBy: template,
			Default: "values global.proxy.readinessFailureThreshold (4)",
			Summary: "failed readiness probes before the proxy counts as not ready",
		},
		{
			Name: "readiness.status.sidecar.istio.io/applicationPorts", Kind: Annotation, Type: PortList, Since: "1.6",
			Summary: "named by the API, read by nothing any more",
		},
		{
			Name: AnnotationDiscoveryAddress, Kind: Annotation, Since: "1.8", ReadBy: "pilot-agent config.go",
			Default: "ProxyConfig discoveryAddress", Summary: "address of the control plane, put in by the agent at start",
			Deprecated: true, ReplacedBy: AnnotationProxyConfig + " discoveryAddress",
		},
	}
}

// statsKeys shape metrics of application and proxy.
func statsKeys() []Key {
	const (
		bootstrap = "pkg/bootstrap/config.go"
		matcher   = AnnotationProxyConfig + " proxyStatsMatcher"
		atStart   = "the agent warns at start and ignores it"
	)
	return []Key{
		{
			Name: AnnotationMergeMetrics, Kind: Annotation, Type: Bool, Validated: true, Since: "1.7", ReadBy: "webhook.go",
			Default: "mesh enablePrometheusMerge (true)", Summary: "serves the application's metrics with the proxy's own",
		},
		{
			Name: AnnotationScrapeTargets, Kind: Annotation, Since: "1.31", ReadBy: "webhook.go",
			Summary: "further scrape targets for merged metrics; taken out by injection",
		},
		{
			Name: AnnotationSecurePort, Kind: Annotation, Type: Port, Since: "1.31", Written: true, ReadBy: "webhook.go",
			Summary: "port of merged metrics over mTLS, where the proxy has one",
		},
		{
			Name: AnnotationStatsPrefixes, Kind: Annotation, Type: NameList, Since: "1.6", ReadBy: bootstrap,
			Summary: "prefixes of Envoy statistics to keep", Deprecated: true, ReplacedBy: matcher,
		},
		{
			Name: AnnotationStatsSuffixes, Kind: Annotation, Type: NameList, Since: "1.6", ReadBy: bootstrap,
			Summary: "suffixes of Envoy statistics to keep", Deprecated: true, ReplacedBy: matcher,
		},
		{
			Name: AnnotationStatsRegexps, Kind: Annotation, Type: NameList, Since: "1.6", ReadBy: bootstrap,
			Summary: "patterns of Envoy statistics to keep", Deprecated: true, ReplacedBy: matcher,
		},
		{
			Name: AnnotationExtraStatTags, Kind: Annotation, Type: NameList, Since: "1.6", ReadBy: bootstrap,
			Summary: "tags to add to Envoy statistics", Deprecated: true, ReplacedBy: AnnotationProxyConfig + " extraStatTags",
		},
		{
			Name: "sidecar.istio.io/statsHistogramBuckets", Kind: Annotation, Type: JSONObject, Since: "1.8", ReadBy: bootstrap,
			Summary: "histogram buckets by prefix of the statistic", OnInvalid: atStart,
		},
		{
			Name: "sidecar.istio.io/statsFlushInterval", Kind: Annotation, Type: Duration, Since: "1.8", ReadBy: bootstrap,
			Default: "5s", Summary: "time between flushes of statistics", OnInvalid: atStart,
		},
		{
			Name: "sidecar.istio.io/statsEvictionInterval", Kind: Annotation, Type: Duration, Since: "1.8", ReadBy: bootstrap,
			Summary: "time after which idle statistics go; a multiple of the flush interval", OnInvalid: atStart,
		},
		{
			Name: "sidecar.istio.io/statsHistogramBins", Kind: Annotation, Type: Integer, Since: "1.8", Default: "100",
			Summary: "number of histogram bins; no reader in Istio's Go code",
		},
		{
			Name: "sidecar.istio.io/statsCompression", Kind: Annotation, Values: []string{"brotli", "gzip", "zstd"}, Since: "1.8",
			Summary: "compression of the statistics page; ProxyConfig statsCompression is read instead", Deprecated: true,
			ReplacedBy: AnnotationProxyConfig + " statsCompression",
		},
	}
}

// identityKeys say who the workload is to the mesh.
func identityKeys() []Key {
	const template = "injection-template.yaml"
	return []Key{
		{
			Name: LabelTLSMode, Kind: Label, Values: []string{"istio", "disabled"}, Default: "istio", Since: "1.6",
			ReadBy: template, Summary: "tells peers that the pod speaks mTLS; written unless set", Deprecated: true,
		},
		{
			Name: LabelTunnel, Kind: Label, Since: "1.8", Default: "http where ISTIO_META_ENABLE_HBONE is true",
			ReadBy: template, Summary: "tells peers that the pod takes tunnelled connections; written unless set",
		},
		{
			Name: LabelCanonicalName, Kind: Label, Since: "1.6", ReadBy: template,
			Default: "label app.kubernetes.io/name, then app, then the workload's name",
			Summary: "name of the service in telemetry; written unless set",
		},
		{
			Name: LabelCanonicalRevision, Kind: Label, Since: "1.6", ReadBy: template,
			Default: "label app.kubernetes.io/version, then version, then latest",
			Summary: "version of the service in telemetry; written unless set",
		},
		{
			Name: LabelWorkloadName, Kind: Label, Since: "1.8", ReadBy: template, Default: "the workload's name",
			Summary: "name of the workload in telemetry",
		},
		{
			Name: LabelNetwork, Kind: Label, Since: "1.8", ReadBy: "inject.go",
			Default: "the injection URL, then values global.network",
			Summary: "network of the pod; an empty one means none",
		},
		{Name: "app", Kind: Label, ReadBy: template, Summary: "second choice for the canonical name"},
		{Name: "version", Kind: Label, ReadBy: template, Summary: "second choice for the canonical revision"},
		{Name: "app.kubernetes.io/name", Kind: Label, ReadBy: template, Summary: "first choice for the canonical name"},
		{Name: "app.kubernetes.io/version", Kind: Label, ReadBy: template, Summary: "first choice for the canonical revision"},
	}
}
