package policy

// foreignKeys belong to others, but injection reads or writes them.
func foreignKeys() []Key {
	const template = "injection-template.yaml"
	return []Key{
		{
			Name: AnnotationPrometheusScrape, Kind: Annotation, Type: Bool, ReadBy: "webhook.go",
			Summary: "false keeps metrics unmerged; else rewritten when metrics are merged",
		},
		{
			Name: AnnotationPrometheusPort, Kind: Annotation, Type: Port, Default: "80", ReadBy: "webhook.go",
			Summary: "port of the application's metrics; rewritten to the status port when metrics are merged",
		},
		{
			Name: AnnotationPrometheusPath, Kind: Annotation, Default: "/metrics", ReadBy: "webhook.go",
			Summary: "path of the application's metrics; rewritten when metrics are merged",
		},
		{
			Name: AnnotationDefaultContainer, Kind: Annotation, Default: "the first container that is not istio-proxy",
			ReadBy: template, Summary: "container that kubectl exec takes; written unless set",
		},
		{
			Name: AnnotationDefaultLogsContainer, Kind: Annotation, Default: "the first container that is not istio-proxy",
			ReadBy: template, Summary: "container that kubectl logs takes; written unless set",
		},
		{
			Name: AnnotationMultusNetworks, Kind: Annotation, ReadBy: template,
			Summary: "networks of Multus; with that CNI provider Istio's is appended",
		},
		{
			Name: "apm.datadoghq.com/env", Kind: Annotation, Type: JSONObject, ReadBy: template,
			Summary: "environment of the proxy where Datadog traces",
		},
		{
			Name: "resource.opentelemetry.io/service.namespace", Kind: Annotation, ReadBy: "template.go",
			Summary: "service.namespace in the proxy's OpenTelemetry attributes",
		},
		{
			Name: "resource.opentelemetry.io/service.version", Kind: Annotation, ReadBy: "template.go",
			Summary: "service.version in the proxy's OpenTelemetry attributes",
		},
		{
			Name: "resource.opentelemetry.io/service.instance.id", Kind: Annotation, ReadBy: "template.go",
			Summary: "service.instance.id in the proxy's OpenTelemetry attributes",
		},
		{
			Name: AnnotationOpenShiftUIDs, Kind: Annotation, Scope: []string{"Namespace"}, Default: "1337",
			ReadBy: "inject.go, openshift.go", Summary: "range of user ids on OpenShift; the proxy takes its end",
		},
		{
			Name: AnnotationOpenShiftGroups, Kind: Annotation, Scope: []string{"Namespace"}, Default: "1337",
			ReadBy: "inject.go, openshift.go", Summary: "ranges of group ids on OpenShift; the proxy takes the end of the first",
		},
		{
			Name: AnnotationAmbientRedirection, Kind: Annotation, Values: []string{"enabled", "disabled"}, Written: true,
			Since: "1.8", ReadBy: "CNI", Summary: "marks a pod whose traffic the ambient node proxy has taken over",
		},
		{
			Name: "galley.istio.io/analyze-suppress", Kind: Annotation, Type: NameList, Scope: []string{"Any"}, Since: "1.8",
			ReadBy: "istioctl analyze", Summary: "codes of analyzer messages to keep quiet",
		},
	}
}

// ownKeys are ours.
func ownKeys() []Key {
	return []Key{
		{
			Name: AnnotationSealed, Kind: Annotation, Written: true, ReadBy: "inject",
			Summary: "keeps the inject label's value from before --seal",
		},
		{
			Name: AnnotationLintIgnore, Kind: Annotation, Type: NameList, ReadBy: "inject lint",
			Summary: "lint rules that are not reported here",
		},
		{
			Name: AnnotationRestore, Kind: Annotation, Type: JSON, Scope: []string{"Any"}, Written: true, ReadBy: "inject uninject",
			Summary: "what uninject needs to give back the bytes of a JSON document",
		},
	}
}

// elsewhereKeys are valid keys of Istio's API that mean nothing to the sidecar injector
// (istio/api, annotation and label, 1.30).
func elsewhereKeys() []Key {
	gateway := []string{"Gateway"}
	service := []string{"Service"}
	entry := []string{"WorkloadEntry"}
	gatewayMade := []string{"ServiceAccount", "Deployment", "Service"}
	waypointUsers := []string{"Pod", "WorkloadEntry", "Service", "ServiceEntry", "Namespace"}
	rows := []struct {
		name       string
		kind       KeyKind
		scope      []string
		deprecated bool
	}{
		{"alpha.istio.io/kubernetes-serviceaccounts", Annotation, service, true},
		{"alpha.istio.io/canonical-serviceaccounts", Annotation, service, true},
		{"networking.istio.io/exportTo", Annotation, service, false},
		{"traffic.istio.io/nodeSelector", Annotation, service, false},
		{"kubernetes.io/ingress.class", Annotation, []string{"Ingress"}, false},
		{"istio.io/dry-run", Annotation, []string{"AuthorizationPolicy"}, false},
		{"istio.io/autoRegistrationGroup", Annotation, entry, false},
		{"istio.io/workloadController", Annotation, entry, false},
		{"istio.io/connectedAt", Annotation, entry, false},
		{"istio.io/disconnectedAt", Annotation, entry, false},
		{"topology.istio.io/controlPlaneClusters", Annotation, []string{"Namespace"}, false},
		{"gateway.istio.io/controller-version", Annotation, []string{"Any"}, false},
		{"ambient.istio.io/waypoint-inbound-binding", Annotation, []string{"GatewayClass", "Gateway"}, false},
		{"gateway.istio.io/service-account", Annotation, gateway, false},
		{"gateway.istio.io/name-override", Annotation, gateway, false},
		{"networking.istio.io/service-type", Annotation, gateway, false},
		{"networking.istio.io/traffic-distribution", Annotation, []string{"Namespace", "Service", "ServiceEntry"}, false},
		{"ambient.istio.io/bypass-inbound-capture", Annotation, []string{"Pod"}, false},
		{"ambient.istio.io/dns-capture", Annotation, []string{"Pod"}, false},
		{"networking.istio.io/gatewayPort", Label, service, false},
		{"istio.io/tag", Label, []string{"MutatingWebhookConfiguration"}, false},
		{"operator.istio.io/component", Label, []string{"Any"}, false},
		{"operator.istio.io/managed", Label, []string{"Any"}, false},
		{"operator.istio.io/version", Label, []string{"Any"}, false},
		{"topology.istio.io/subzone", Label, []string{"Node"}, false},
		{"topology.istio.io/cluster", Label, []string{"Pod"}, false},
		{"topology.istio.io/locality", Label, []string{"Pod"}, false},
		{"gateway.istio.io/managed", Label, gatewayMade, false},
		{"gateway.networking.k8s.io/gateway-name", Label, append(gatewayMade[:3:3], "PodDisruptionBudget",
			"HorizontalPodAutoscaler"), false},
		{"gateway.networking.k8s.io/gateway-class-name", Label, append(gatewayMade[:3:3], "PodDisruptionBudget",
			"HorizontalPodAutoscaler"), false},
		{"istio.io/use-waypoint", Label, waypointUsers, false},
		{"istio.io/use-waypoint-namespace", Label, waypointUsers, false},
		{"istio.io/ingress-use-waypoint", Label, []string{"Service", "ServiceEntry", "Namespace"}, false},
		{"istio.io/waypoint-for", Label, []string{"GatewayClass", "Gateway"}, false},
		{"networking.istio.io/enable-autoallocate-ip", Label, []string{"ServiceEntry"}, false},
	}
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{Name: r.name, Kind: r.kind, Status: Elsewhere, Scope: r.scope, Deprecated: r.deprecated}
	}
	return keys
}

// removedKeys were read by some Istio and are no more.
func removedKeys() []Key {
	return []Key{
		{
			Name: AnnotationEnableCoreDump, Kind: Annotation, Status: Removed, Type: Bool, Since: "1.6", Until: "1.24",
			Summary: "core dumps of the proxy; values global.proxy.enableCoreDump is read instead",
		},
		{
			Name: AnnotationControlPlanePolicy, Kind: Annotation, Status: Removed, Since: "1.6", Until: "1.7",
			Summary: "authentication between proxy and control plane; always mTLS now",
		},
	}
}
