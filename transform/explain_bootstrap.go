package transform

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Bootstrap previews, from the manifest alone, what the agent writes for Envoy and starts it with. What is known only in
// the running pod stands in angle brackets (Istio, pkg/bootstrap/config.go, pkg/envoy/proxy.go and
// tools/packaging/common/envoy_bootstrap.json, 1.30).
type Bootstrap struct {
	Settings []Setting
}

// Setting is one line of the preview, or a list.
type Setting struct {
	Name  string
	Value string
	Items []string
}

func (b *Bootstrap) add(name, value string, items ...string) {
	b.Settings = append(b.Settings, Setting{name, value, items})
}

// agentView is what the agent would read.
type agentView struct {
	*explaining
	legacy          bool
	namespace       string
	podName, domain string
	metadata        map[string]string
	labels          map[string]string
}

func (x *explaining) bootstrap() *Bootstrap {
	if x.proxy == nil {
		return nil
	}
	a := agentView{
		explaining: x, legacy: x.watch.explainer.src.Bundle.Injection.Legacy != nil,
		namespace: cmp.Or(x.facts.Namespace, "<namespace>"), podName: "<pod-name>",
		labels: maps.Clone(x.watch.out.Template.Labels),
	}
	delete(a.labels, policy.LabelPodTemplateHash)
	if x.view.object.Resource.Kind == "Pod" && x.view.object.Resource.Name != "" {
		a.podName = x.view.object.Resource.Name
	}
	domain, _, ok := argument(x.proxy, x.proxyPath, "--domain")
	if !ok {
		domain = "$(POD_NAMESPACE).svc.cluster.local"
	}
	a.domain = strings.ReplaceAll(domain, "$(POD_NAMESPACE)", a.namespace)
	a.readMetadata()
	b := &Bootstrap{}
	if file := a.text("customConfigFile"); file != "" {
		b.add("configuration", "customConfigFile "+file+": the agent writes no bootstrap of its own")
	}
	a.node(b)
	a.traffic(b)
	a.statistics(b)
	a.envoy(b)
	return b
}

// text gives a field of the effective ProxyConfig, empty where it is not set.
func (a *agentView) text(path ...string) string { return show(dig(a.effective, path...)) }

func (a *agentView) envOr(name, preset string) string {
	e, ok := a.env[name]
	switch {
	case ok && e.Value != "":
		return e.Value
	case ok && e.ValueFrom != nil:
		return fromField(e.ValueFrom.FieldRef != nil, func() string { return e.ValueFrom.FieldRef.FieldPath })
	}
	return cmp.Or(a.text("proxyMetadata", name), preset)
}

// fromField writes what the downward API fills in.
func fromField(known bool, path func() string) string {
	if !known {
		return "<limits>"
	}
	switch p := path(); p {
	case "metadata.name":
		return "<pod-name>"
	case "metadata.namespace":
		return "<namespace>"
	case "status.podIP":
		return "<pod-ip>"
	case "status.hostIP":
		return "<node-ip>"
	case "spec.nodeName":
		return "<node>"
	case "spec.serviceAccountName":
		return "<service-account>"
	default:
		return "<" + p + ">"
	}
}

// readMetadata gathers node metadata: variables ISTIO_META_*, those of proxyMetadata below them.
func (a *agentView) readMetadata() {
	a.metadata = map[string]string{
		"NAME": a.podName, "NAMESPACE": a.namespace, "INSTANCE_IPS": "<pod-ip>",
		"SERVICE_ACCOUNT": cmp.Or(a.watch.out.Template.Spec.ServiceAccountName, "default"),
		"ISTIO_VERSION":   "<of the image>",
	}
	const prefix = "ISTIO_META_"
	own, _ := dig(a.effective, "proxyMetadata").(map[string]any)
	for k, v := range own {
		if name, ok := strings.CutPrefix(k, prefix); ok {
			a.metadata[name] = show(v)
		}
	}
	for name := range a.env {
		if key, ok := strings.CutPrefix(name, prefix); ok {
			a.metadata[key] = a.envOr(name, "")
		}
	}
	for _, name := range []string{"ENVOY_STATUS_PORT", "ENVOY_PROMETHEUS_PORT", "EXIT_ON_ZERO_ACTIVE_CONNECTIONS"} {
		if v := a.envOr(name, ""); v != "" {
			a.metadata[name] = v
		}
	}
	host, _, _ := strings.Cut(a.text("discoveryAddress"), ":")
	if host != "" {
		a.metadata["PILOT_SAN"] = host
	}
}

// node is who the proxy says it is.
func (a *agentView) node(b *Bootstrap) {
	role := "sidecar"
	if len(a.proxy.Args) > 1 && a.proxy.Args[0] == "proxy" && !strings.HasPrefix(a.proxy.Args[1], "-") {
		role = a.proxy.Args[1]
	}
	b.add("node id", fmt.Sprintf("%s~<pod-ip>~%s.%s~%s", role, a.podName, a.namespace, a.domain))
	b.add("service cluster", a.serviceCluster())
	var items []string
	for _, k := range slices.Sorted(maps.Keys(a.metadata)) {
		items = append(items, k+"="+strings.Join(strings.Fields(a.metadata[k]), " "))
	}
	b.add("metadata", "", items...)
	items = nil
	for _, k := range slices.Sorted(maps.Keys(a.labels)) {
		items = append(items, k+"="+a.labels[k])
	}
	b.add("metadata LABELS", "", items...)
	locality := "<of the node>"
	if l, ok := a.labels["istio-locality"]; ok {
		locality = strings.ReplaceAll(l, ".", "/")
	}
	b.add("locality", locality)
}

// serviceCluster is the name that traces are filed under (Istio, pilot/cmd/pilot-agent/config/config.go, 1.30).
func (a *agentView) serviceCluster() string {
	const preset = "istio-proxy"
	if c := a.text("serviceCluster"); c != "" && c != preset {
		return c
	}
	canonical := a.labels[policy.LabelCanonicalName]
	switch a.text("tracingServiceName") {
	case "CANONICAL_NAME_ONLY":
		return cmp.Or(canonical, preset)
	case "CANONICAL_NAME_AND_NAMESPACE":
		return cmp.Or(canonical, preset) + "." + a.namespace
	}
	name := cmp.Or(a.labels["app"], a.metadata["WORKLOAD_NAME"], preset)
	return name + "." + a.namespace
}

// traffic is where configuration comes from, and the static listeners and clusters.
func (a *agentView) traffic(b *Bootstrap) {
	path := cmp.Or(a.text("configPath"), "./etc/istio/proxy")
	kind := "DELTA_GRPC"
	if a.legacy || a.envOr("ISTIO_DELTA_XDS", "true") == "false" {
		kind = "GRPC"
	}
	discovery := cmp.Or(a.original.Annotations[policy.AnnotationDiscoveryAddress], a.text("discoveryAddress"))
	if a.legacy {
		b.add("xds", "ADS "+kind+", "+discovery)
	} else {
		b.add("xds", "ADS "+kind+", unix:"+path+"/XDS, which the agent forwards to "+discovery)
	}
	admin := cmp.Or(a.text("proxyAdminPort"), strconv.Itoa(policy.PortProxyAdmin))
	b.add("admin", "127.0.0.1:"+admin+", access log /dev/null")
	status := cmp.Or(a.original.Annotations[policy.AnnotationStatusPort], a.text("statusPort"), strconv.Itoa(policy.PortTelemetry))
	clusters := []string{"prometheus_stats: 127.0.0.1:" + admin, "agent: 127.0.0.1:" + status, "sds-grpc: unix socket"}
	if a.legacy {
		clusters = append(clusters, "xds-grpc: "+discovery)
	} else {
		clusters = append(clusters, "xds-grpc: unix:"+path+"/XDS")
	}
	for _, t := range [][2]string{{"zipkin", "zipkin"}, {"lightstep", "lightstep"}, {"datadog", "datadog_agent"}} {
		if address := a.text("tracing", t[0], "address"); address != "" {
			clusters = append(clusters, t[1]+": "+address)
		}
	}
	for _, s := range [][2]string{{"envoyMetricsService", "envoy_metrics_service"}, {"envoyAccessLogService", "envoy_accesslog_service"}} {
		if address := a.text(s[0], "address"); address != "" {
			clusters = append(clusters, s[1]+": "+address)
		}
	}
	b.add("static clusters", "", clusters...)
	b.add("static listeners", "",
		a.envOr("ENVOY_PROMETHEUS_PORT", strconv.Itoa(policy.PortPrometheus))+" /stats/prometheus → prometheus_stats",
		a.envOr("ENVOY_STATUS_PORT", strconv.Itoa(policy.PortHealth))+" /healthz/ready → agent")
}

// statistics are what Envoy counts, and its runtime flags.
func (a *agentView) statistics(b *Bootstrap) {
	list := func(annotation, field string, preset []string) []string {
		out := slices.Clone(preset)
		if v := a.original.Annotations[annotation]; v != "" {
			for s := range strings.SplitSeq(v, ",") {
				out = append(out, strings.TrimSpace(s))
			}
			return out
		}
		more, _ := dig(a.effective, "proxyStatsMatcher", field).([]any)
		for _, m := range more {
			out = append(out, show(m))
		}
		return out
	}
	b.add("statistics kept by prefix", "", list(policy.AnnotationStatsPrefixes, "inclusionPrefixes",
		[]string{"cluster_manager", "listener_manager", "server", "cluster.xds-grpc", "wasm"})...)
	suffixes := []string{"rbac.allowed", "rbac.denied", "shadow_allowed", "shadow_denied"}
	if on, _ := strconv.ParseBool(a.metadata["EXIT_ON_ZERO_ACTIVE_CONNECTIONS"]); on {
		suffixes = append(suffixes, "downstream_cx_active")
	}
	b.add("statistics kept by suffix", "", list(policy.AnnotationStatsSuffixes, "inclusionSuffixes", suffixes)...)
	if re := list(policy.AnnotationStatsRegexps, "inclusionRegexps", nil); len(re) > 0 {
		b.add("statistics kept by pattern", "", re...)
	}
	tags, _ := dig(a.effective, "extraStatTags").([]any)
	var names []string
	for _, t := range tags {
		names = append(names, show(t))
	}
	if v := a.original.Annotations[policy.AnnotationExtraStatTags]; v != "" {
		for s := range strings.SplitSeq(v, ",") {
			names = append(names, strings.TrimSpace(s))
		}
	}
	if len(names) > 0 {
		b.add("extra statistics tags", "", names...)
	}
	compression := "on"
	if a.text("statsCompression") == "false" {
		compression = "off"
	}
	b.add("statistics", "flushed every 5s, compression "+compression)
	flags, _ := dig(a.effective, "runtimeValues").(map[string]any)
	items := []string{"the fixed set of Istio"}
	for _, k := range slices.Sorted(maps.Keys(flags)) {
		switch v := show(flags[k]); v {
		case "":
			items = append(items, k+" removed")
		default:
			items = append(items, k+"="+v)
		}
	}
	b.add("runtime flags", "", items...)
}

// envoy is the command line, and what is laid over the bootstrap.
func (a *agentView) envoy(b *Bootstrap) {
	path := cmp.Or(a.text("configPath"), "./etc/istio/proxy")
	drain := strconv.Itoa(int(duration(cmp.Or(a.text("drainDuration"), "45s")).Seconds()))
	level := cmp.Or(value(a.explaining, "logLevel"), "warning")
	component := cmp.Or(value(a.explaining, "componentLogLevel"), "misc:error")
	var args []string
	if a.legacy {
		args = []string{
			"-c " + path + "/envoy-rev<epoch>.json", "--restart-epoch <epoch>", "--drain-time-s " + drain,
			"--parent-shutdown-time-s 60", "--service-cluster " + a.serviceCluster(),
			"--service-node sidecar~<pod-ip>~" + a.podName + "." + a.namespace + "~" + a.domain,
		}
		if a.watch.explainer.src.Bundle.Istio.Version.Minor <= 6 {
			args = append(args, "--max-obj-name-len 189")
		}
		args = append(args, "--local-address-ip-version v4|v6", "-l "+level, "--component-log-level "+component)
	} else {
		args = []string{
			"-c " + path + "/envoy-rev.json", "--drain-time-s " + drain, "--drain-strategy immediate",
			"--local-address-ip-version v4|v6", "--file-flush-interval-msec 1000", "--disable-hot-restart",
			"--allow-unknown-static-fields", "-l " + level, "--component-log-level " + component, "--skip-deprecated-logs",
		}
	}
	name, overridden := a.original.Annotations[policy.AnnotationBootstrapOverride]
	if overridden {
		args = append(args, "--config-yaml <custom_bootstrap.json of ConfigMap "+name+">")
	}
	concurrency := a.text("concurrency")
	if v := a.value("concurrency"); v != nil && v.Runtime != nil {
		concurrency = v.Runtime.Value
	}
	if concurrency != "" && concurrency != "0" && !strings.HasPrefix(concurrency, "<") {
		args = append(args, "--concurrency "+concurrency)
	} else {
		args = append(args, "--concurrency <node CPUs>")
	}
	b.add("envoy arguments", cmp.Or(a.text("binaryPath"), "/usr/local/bin/envoy"), args...)
	b.add("agent arguments", "pilot-agent", a.proxy.Args...)
	if overridden {
		a.bootstrapOverride(b, name)
	}
}

// bootstrapOverride shows the ConfigMap laid over the bootstrap where the input holds it.
func (a *agentView) bootstrapOverride(b *Bootstrap, name string) {
	text, ok := a.surroundings().bootstrap(a.facts.Namespace, name)
	if text = strings.TrimSpace(text); !ok {
		text = "not in the input"
	}
	b.add("bootstrap override", "ConfigMap "+name, strings.Split(text, "\n")...)
}

// value is a value's text, empty where there is none.
func value(x *explaining, name string) string {
	if v := x.value(name); v != nil {
		return v.Value
	}
	return ""
}
