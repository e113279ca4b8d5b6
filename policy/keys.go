package policy

// Prefix is the one name of ours: API group of reports and functionConfig, prefix of our annotations and comments.
const Prefix = "inject.krm"

// Annotations and comments of our own.
const (
	// AnnotationSealed keeps the former value of [LabelInject] on a pod that was injected with --seal.
	AnnotationSealed = Prefix + "/sealed"
	// AnnotationLintIgnore lists lint rules that are not reported for the template it stands on.
	AnnotationLintIgnore = Prefix + "/lint-ignore"
	// AnnotationRestore holds the restore record in JSON documents; YAML documents carry it as a comment of this name.
	AnnotationRestore = Prefix + "/restore"
)

// Labels that steer injection (istio/api, label/labels.gen.go; Istio chart istio-discovery, 1.30).
const (
	LabelInject            = "sidecar.istio.io/inject"
	LabelNamespaceInject   = "istio-injection"
	LabelRevision          = "istio.io/rev"
	LabelDataplaneMode     = "istio.io/dataplane-mode"
	LabelNetwork           = "topology.istio.io/network"
	LabelTLSMode           = "security.istio.io/tlsMode"
	LabelTunnel            = "networking.istio.io/tunnel"
	LabelCanonicalName     = "service.istio.io/canonical-name"
	LabelCanonicalRevision = "service.istio.io/canonical-revision"
	LabelWorkloadName      = "service.istio.io/workload-name"
	// LabelNamespaceName is set by Kubernetes on every namespace (well_known_labels.go, Kubernetes 1.22).
	LabelNamespaceName = "kubernetes.io/metadata.name"
)

// Labels of workload controllers on the pods they make (Istio pkg/kube/util.go, 1.30, reads them to find the owner).
const (
	LabelPodTemplateHash        = "pod-template-hash"
	LabelRolloutPodTemplateHash = "rollouts-pod-template-hash"
	LabelDeploymentConfig       = "deploymentconfig"
)

// Annotations that the injector, its template or the agent reads (istio/api, annotation/annotations.gen.go, 1.30).
const (
	AnnotationInject             = LabelInject
	AnnotationStatus             = "sidecar.istio.io/status"
	AnnotationRevision           = LabelRevision
	AnnotationOverrides          = "proxy.istio.io/overrides"
	AnnotationProxyConfig        = "proxy.istio.io/config"
	AnnotationTemplates          = "inject.istio.io/templates"
	AnnotationNativeSidecar      = "sidecar.istio.io/nativeSidecar"
	AnnotationInterceptionMode   = "sidecar.istio.io/interceptionMode"
	AnnotationRewriteProbers     = "sidecar.istio.io/rewriteAppHTTPProbers"
	AnnotationProxyImage         = "sidecar.istio.io/proxyImage"
	AnnotationProxyImageType     = "sidecar.istio.io/proxyImageType"
	AnnotationProxyCPU           = "sidecar.istio.io/proxyCPU"
	AnnotationProxyCPULimit      = "sidecar.istio.io/proxyCPULimit"
	AnnotationProxyMemory        = "sidecar.istio.io/proxyMemory"
	AnnotationProxyMemoryLimit   = "sidecar.istio.io/proxyMemoryLimit"
	AnnotationLogLevel           = "sidecar.istio.io/logLevel"
	AnnotationComponentLogLevel  = "sidecar.istio.io/componentLogLevel"
	AnnotationAgentLogLevel      = "sidecar.istio.io/agentLogLevel"
	AnnotationCapNetBindService  = "sidecar.istio.io/capNetBindService"
	AnnotationBootstrapOverride  = "sidecar.istio.io/bootstrapOverride"
	AnnotationUserVolume         = "sidecar.istio.io/userVolume"
	AnnotationUserVolumeMount    = "sidecar.istio.io/userVolumeMount"
	AnnotationDiscoveryAddress   = "sidecar.istio.io/discoveryAddress"
	AnnotationEnableCoreDump     = "sidecar.istio.io/enableCoreDump"
	AnnotationControlPlanePolicy = "sidecar.istio.io/controlPlaneAuthPolicy"
	AnnotationStatsPrefixes      = "sidecar.istio.io/statsInclusionPrefixes"
	AnnotationStatsSuffixes      = "sidecar.istio.io/statsInclusionSuffixes"
	AnnotationStatsRegexps       = "sidecar.istio.io/statsInclusionRegexps"
	AnnotationExtraStatTags      = "sidecar.istio.io/extraStatTags"
	AnnotationStatusPort         = "status.sidecar.istio.io/port"
	AnnotationReadinessDelay     = "readiness.status.sidecar.istio.io/initialDelaySeconds"
	AnnotationReadinessPeriod    = "readiness.status.sidecar.istio.io/periodSeconds"
	AnnotationReadinessFailures  = "readiness.status.sidecar.istio.io/failureThreshold"
	AnnotationIncludeOutboundIPs = "traffic.sidecar.istio.io/includeOutboundIPRanges"
	AnnotationExcludeOutboundIPs = "traffic.sidecar.istio.io/excludeOutboundIPRanges"
	AnnotationIncludeInbound     = "traffic.sidecar.istio.io/includeInboundPorts"
	AnnotationExcludeInbound     = "traffic.sidecar.istio.io/excludeInboundPorts"
	AnnotationIncludeOutbound    = "traffic.sidecar.istio.io/includeOutboundPorts"
	AnnotationExcludeOutbound    = "traffic.sidecar.istio.io/excludeOutboundPorts"
	AnnotationExcludeInterfaces  = "traffic.sidecar.istio.io/excludeInterfaces"
	AnnotationKubevirtInterfaces = "traffic.sidecar.istio.io/kubevirtInterfaces"
	AnnotationRerouteInterfaces  = "istio.io/reroute-virtual-interfaces"
	AnnotationMergeMetrics       = "prometheus.istio.io/merge-metrics"
	AnnotationScrapeTargets      = "prometheus.istio.io/scrape-targets"
	AnnotationSecurePort         = "prometheus.istio.io/secure-port"
	AnnotationAmbientRedirection = "ambient.istio.io/redirection"
)

// Annotations of other projects that injection reads or writes.
const (
	AnnotationPrometheusScrape     = "prometheus.io/scrape"
	AnnotationPrometheusPort       = "prometheus.io/port"
	AnnotationPrometheusPath       = "prometheus.io/path"
	AnnotationDefaultContainer     = "kubectl.kubernetes.io/default-container"
	AnnotationDefaultLogsContainer = "kubectl.kubernetes.io/default-logs-container"
	AnnotationMultusNetworks       = "k8s.v1.cni.cncf.io/networks"
	// AnnotationOpenShiftUIDs and AnnotationOpenShiftGroups stand on namespaces (openshift/apiserver-library-go, 4.x).
	AnnotationOpenShiftUIDs   = "openshift.io/sa.scc.uid-range"
	AnnotationOpenShiftGroups = "openshift.io/sa.scc.supplemental-groups"
)

// Names of injected containers (Istio, files/injection-template.yaml and pkg/kube/inject/inject.go, 1.30).
const (
	ContainerProxy      = "istio-proxy"
	ContainerInit       = "istio-init"
	ContainerValidation = "istio-validation"
	ContainerCoreDump   = "enable-core-dump"
	// ImageAuto as an image means "the injected one" (Istio, pkg/kube/inject/webhook.go, 1.30).
	ImageAuto = "auto"
)

// Environment variables of istio-proxy that injection fills and reads back.
const (
	EnvAppProbers            = "ISTIO_KUBE_APP_PROBERS"
	EnvPrometheusAnnotations = "ISTIO_PROMETHEUS_ANNOTATIONS"
	EnvClusterID             = "ISTIO_META_CLUSTER_ID"
	EnvNetwork               = "ISTIO_META_NETWORK"
)

// Ports of the sidecar (Istio documentation, "Ports used by Istio", 1.30).
const (
	PortProxyAdmin = 15000
	PortOutbound   = 15001
	PortDebug      = 15004
	PortInbound    = 15006
	PortTunnel     = 15008
	PortTelemetry  = 15020
	PortHealth     = 15021
	PortDNS        = 15053
	PortPrometheus = 15090
)

// ProxyUserID is the user and group of the proxy unless a platform says otherwise (Istio, pkg/kube/inject, 1.30).
const ProxyUserID = 1337

// DefaultRevision is the name that stands for "no revision" (Istio, pkg/kube/inject/webhook.go, 1.30).
const DefaultRevision = "default"

// IgnoredNamespaces lists the namespaces that are never injected (Istio, pkg/kube/inject/initializer.go, 1.24 to 1.31).
func IgnoredNamespaces() []string {
	return []string{"kube-system", "kube-public", "kube-node-lease", "local-path-storage"}
}
