package policy

// trueFalse are the values of keys that compare text and do not parse it.
func trueFalse() []string { return []string{"true", "false"} }

// injectionKeys say whether, by whom and with what a pod is injected, and record that it was.
func injectionKeys() []Key {
	return []Key{
		{
			Name: LabelInject, Kind: Label, Values: trueFalse(), Since: "1.6", ReadBy: "inject.go, webhook selectors",
			Summary:   "true asks for injection, false forbids it; hides the annotation of the same name",
			OnInvalid: "selectors and policy decide, and the annotation is not read",
		},
		{
			Name: AnnotationInject, Kind: Annotation, Values: trueFalse(), Since: "1.6", ReadBy: "inject.go",
			Summary:   "as the label where that is absent; the webhook's selectors do not see it",
			OnInvalid: "selectors and policy decide", Deprecated: true, ReplacedBy: "label " + LabelInject,
		},
		{
			Name: LabelNamespaceInject, Kind: Label, Values: []string{"enabled", "disabled"}, Scope: []string{"Namespace"},
			ReadBy:  "webhook selectors",
			Summary: "enabled hands the namespace to the default revision, disabled to none; beats " + LabelRevision,
		},
		{
			Name: LabelRevision, Kind: Label, Type: RevisionName, Scope: []string{"Namespace", "Pod"}, Since: "1.6",
			ReadBy:  "webhook selectors",
			Summary: "the revision or tag whose injector is in charge",
		},
		{
			Name: AnnotationRevision, Kind: Annotation, Default: DefaultRevision, Written: true, Since: "1.6",
			ReadBy: "injection-template.yaml", Summary: "the revision that injected the pod",
		},
		{
			Name: LabelDataplaneMode, Kind: Label, Values: []string{"ambient", "none"}, Scope: []string{"Namespace", "Pod"},
			Since: "1.8", ReadBy: "CNI, ztunnel", Summary: "enrols in ambient mode; the sidecar injector does not read it",
		},
		{
			Name: AnnotationNativeSidecar, Kind: Annotation, Values: trueFalse(), Since: "1.8",
			Default: "the native setting of the control plane", ReadBy: "injection-template.yaml, inject.go",
			Summary:   "runs the proxy as a native sidecar (true) or as an ordinary container (false)",
			OnInvalid: "the template takes every other text for true",
		},
		{
			Name: AnnotationStatus, Kind: Annotation, Type: JSON, Written: true, Since: "1.6", ReadBy: "inject.go, webhook.go",
			Summary: "lists what injection added; marks a pod as injected",
		},
		{
			Name: AnnotationOverrides, Kind: Annotation, Type: JSON, Written: true, Since: "1.8", ReadBy: "webhook.go",
			Summary: "keeps the user's own versions of injected containers", OnInvalid: InjectionFails,
		},
		{
			Name: AnnotationProxyConfig, Kind: Annotation, Type: ProxyConfig, Validated: true, Since: "1.6",
			ReadBy:  "inject.go, webhook.go, pilot-agent config.go",
			Summary: "ProxyConfig in YAML, merged over the mesh's defaultConfig; read again by the agent",
		},
		{
			Name: AnnotationTemplates, Kind: Annotation, Type: NameList, Since: "1.8", ReadBy: "inject.go",
			Default: "defaultTemplates of the injection config", OnInvalid: InjectionFails,
			Summary: "names of the templates to run",
		},
		{
			Name: AnnotationBootstrapOverride, Kind: Annotation, Since: "1.6", ReadBy: "injection-template.yaml",
			Summary: "ConfigMap whose custom_bootstrap.json is laid over Envoy's bootstrap",
		},
		{
			Name: AnnotationUserVolume, Kind: Annotation, Type: JSON, Since: "1.6", ReadBy: "injection-template.yaml",
			Summary: "volumes to add, as JSON object by name or array of named ones", OnInvalid: InjectionFails,
		},
		{
			Name: AnnotationUserVolumeMount, Kind: Annotation, Type: JSON, Since: "1.6", ReadBy: "injection-template.yaml",
			Summary: "mounts to add to istio-proxy, as JSON object by volume or array of named ones", OnInvalid: InjectionFails,
		},
		{
			Name: AnnotationRewriteProbers, Kind: Annotation, Type: Bool, Since: "1.6", ReadBy: "app_probe.go",
			Default: "values sidecarInjectorWebhook.rewriteAppHTTPProbe", OnInvalid: ValueIgnored,
			Summary: "sends the application's probes and lifecycle handlers through the status port",
		},
	}
}

// trafficKeys say which traffic reaches the proxy.
func trafficKeys() []Key {
	const iptables = "injection-template.yaml, CNI"
	return []Key{
		{
			Name: AnnotationInterceptionMode, Kind: Annotation, Values: []string{"REDIRECT", "TPROXY", "NONE"}, Since: "1.6",
			Default: "ProxyConfig interceptionMode (REDIRECT)", Validated: true, ReadBy: iptables,
			Summary: "how inbound connections are caught; NONE catches nothing",
		},
		{
			Name: AnnotationIncludeOutboundIPs, Kind: Annotation, Type: CIDRListOrAll, Since: "1.6",
			Default: "values global.proxy.includeIPRanges (*)", Validated: true, ReadBy: iptables,
			Summary: "outbound addresses that are redirected; empty means none",
		},
		{
			Name: AnnotationExcludeOutboundIPs, Kind: Annotation, Type: CIDRList, Since: "1.6",
			Default: "values global.proxy.excludeIPRanges", Validated: true, ReadBy: iptables,
			Summary: "outbound addresses that are left alone where all are redirected",
		},
		{
			Name: AnnotationIncludeInbound, Kind: Annotation, Type: PortListOrAll, Since: "1.6",
			Default: "values global.proxy.includeInboundPorts (*)", Validated: true, ReadBy: iptables,
			Summary: "inbound ports that are redirected; empty means none",
		},
		{
			Name: AnnotationExcludeInbound, Kind: Annotation, Type: PortList, Since: "1.6",
			Default: "values global.proxy.excludeInboundPorts", Validated: true, ReadBy: iptables,
			Summary: "inbound ports that are left alone; the sidecar's own are always added",
		},
		{
			Name: AnnotationIncludeOutbound, Kind: Annotation, Type: PortList, Since: "1.7",
			Default: "values global.proxy.includeOutboundPorts", ReadBy: iptables,
			Summary:   "outbound ports that are redirected whatever the address",
			OnInvalid: "the injector does not check it, the container that sets up redirection fails",
		},
		{
			Name: AnnotationExcludeOutbound, Kind: Annotation, Type: PortList, Since: "1.6",
			Default: "values global.proxy.excludeOutboundPorts", Validated: true, ReadBy: iptables,
			Summary: "outbound ports that are left alone",
		},
		{
			Name: AnnotationExcludeInterfaces, Kind: Annotation, Type: InterfaceList, Since: "1.8", Validated: true,
			ReadBy: iptables + ", pilot-agent", Summary: "network interfaces whose traffic is left alone",
		},
		{
			Name: AnnotationKubevirtInterfaces, Kind: Annotation, Type: InterfaceList, Since: "1.6", Validated: true,
			ReadBy: iptables, Summary: "interfaces of virtual machines whose inbound traffic counts as outbound",
			Deprecated: true, ReplacedBy: AnnotationRerouteInterfaces,
		},
		{
			Name: AnnotationRerouteInterfaces, Kind: Annotation, Type: InterfaceList, Since: "1.8", Validated: true,
			ReadBy: iptables, Summary: "virtual interfaces whose inbound traffic counts as outbound",
		},
	}
}
