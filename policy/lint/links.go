package lint

// Pages that rules point to.
const (
	linkAnnotations  = "https://istio.io/latest/docs/reference/config/annotations/"
	linkLabels       = "https://istio.io/latest/docs/reference/config/labels/"
	linkInjection    = "https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/"
	linkProxyConfig  = "https://istio.io/latest/docs/reference/config/istio.mesh.v1alpha1/#ProxyConfig"
	linkRequirements = "https://istio.io/latest/docs/ops/deployment/application-requirements/"
	linkAgent        = "https://istio.io/latest/docs/reference/commands/pilot-agent/"
	linkProbes       = "https://istio.io/latest/docs/ops/configuration/mesh/app-health-check/"
	linkCNI          = "https://istio.io/latest/docs/setup/additional-setup/cni/"
	linkAmbient      = "https://istio.io/latest/docs/ambient/usage/add-workloads/"
	linkPrometheus   = "https://istio.io/latest/docs/ops/integrations/prometheus/"
	linkRevisions    = "https://istio.io/latest/docs/setup/upgrade/canary/"
	linkSidecars     = "https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/"
	linkHooks        = "https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/"
	linkTermination  = "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination"
	linkPodSecurity  = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
	linkResources    = "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
	linkVolumes      = "https://kubernetes.io/docs/concepts/storage/volumes/"
	linkJobs         = "https://kubernetes.io/docs/concepts/workloads/controllers/job/"
)
