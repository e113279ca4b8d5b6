package lint

// Rules is the catalogue, in the order of the reference page.
func Rules() []Rule {
	return []Rule{
		// Annotations and labels.
		annotationUnknown(),
		annotationWrongKind(),
		annotationMisplaced(),
		annotationDeprecated(),
		annotationInvalidValue(),
		annotationIgnoredValue(),
		// Whether a pod is injected.
		injectValueInvalid(),
		injectAnnotation(),
		injectConflict(),
		nativeValueInvalid(),
		hostNetwork(),
		namespaceLabelTypo(),
		namespaceLabelConflict(),
		revisionUnknown(),
		ambientConflict(),
		templateUnknown(),
		// The proxy's configuration.
		proxyConfigUnknownField(),
		proxyConfigInvalid(),
		proxyMetadataNotString(),
		agentEnvBad(),
		// Resources, ports and probes.
		resourcesPartial(),
		resourcesRequestOverLimit(),
		reservedPort(),
		prometheusPortLoop(),
		probePortNameMissing(),
		// Security.
		uid1337(),
		podsecurityInit(),
		// Start and stop.
		holdReplaced(),
		holdNoRestart(),
		holdWorkaround(),
		firstWithoutHold(),
		initNetwork(),
		poststartHTTP(),
		prestopHTTP(),
		graceBelowDrain(),
		drainBelowAppPrestop(),
		drainDurationIgnored(),
		exitOnZeroShort(),
		exitOnZeroNative(),
		nativeDrainReplaced(),
		jobClassicSidecar(),
		// Versions.
		nativeUnsupported(),
		featureNeedsIstio(),
		deadSidecarType(),
		// The manifest.
		containerNameClash(),
		volumeNameClash(),
		imageAutoNotInjected(),
		alreadyInjected(),
		staleInjection(),
		webhookWillOverwrite(),
		// Suppressions.
		suppressionUnknown(),
		suppressionUnused(),
	}
}
