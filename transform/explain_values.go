package transform

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kube-inject/inject/policy"
)

// collect fills the values in the order of the report.
func (x *explaining) collect() {
	x.general()
	x.images()
	x.startup()
	x.resources()
	x.agent()
	x.redirection()
	x.identity()
	x.probing()
	x.proxyConfig()
}

// add files a value whose form in the pod is actual. Of the layers, highest first, the first that says the same is where
// it came from; where none does, the pod's own container or the template itself gave it.
func (x *explaining) add(name, actual string, fields []string, layers ...[]Layered) *Value {
	all := slices.Concat(layers...)
	v := Value{Name: name, Fields: fields}
	i := slices.IndexFunc(all, func(l Layered) bool { return same(l.Value, actual) })
	if own, ok := x.override(fields); ok {
		v.Layered, v.Overridden = Layered{actual, LayerOverride, own}, all
	} else if i >= 0 {
		v.Layered, v.Overridden = all[i], all[i+1:]
		v.Value = actual
	} else {
		v.Layered, v.Overridden = Layered{actual, LayerTemplate, x.templatePlace()}, all
	}
	x.values = append(x.values, v)
	return &x.values[len(x.values)-1]
}

// value finds a value by name.
func (x *explaining) value(name string) *Value {
	for i := range x.values {
		if x.values[i].Name == name {
			return &x.values[i]
		}
	}
	return nil
}

// same compares values as the cluster does: quantities by amount.
func same(a, b string) bool {
	if a == b {
		return true
	}
	if a == "" || b == "" {
		return false
	}
	qa, errA := resource.ParseQuantity(a)
	qb, errB := resource.ParseQuantity(b)
	return errA == nil && errB == nil && qa.Cmp(qb) == 0
}

// templatePlace is the first line of the last template that ran.
func (x *explaining) templatePlace() policy.Position {
	names := x.watch.out.Trace.Templates
	if len(names) == 0 {
		return policy.Position{}
	}
	b := x.watch.explainer.src.Bundle
	if b.EmbeddedTemplates {
		return policy.Position{File: "embedded profile, template " + names[len(names)-1]}
	}
	return b.Injection.Templates[names[len(names)-1]].Source
}

// override tells whether the pod's own container of an injected name set one of the fields, and where it stands.
func (x *explaining) override(fields []string) (policy.Position, bool) {
	if len(x.watch.out.Trace.Overridden) == 0 || len(fields) == 0 {
		return policy.Position{}, false
	}
	var before, after map[string]string
	for _, s := range x.watch.recorder.Steps {
		switch s.Step {
		case "render":
			before = fieldsOf(&s.Pod)
		case "overrides":
			after = fieldsOf(&s.Pod)
		}
	}
	for _, f := range fields {
		if before[f] == after[f] {
			continue
		}
		for _, list := range []string{"containers", "initContainers"} {
			for i, c := range append([]corev1.Container(nil), containersOf(&x.view.template.Spec, list)...) {
				if strings.Contains(f, "["+c.Name+"]") {
					at := "spec." + list + "[" + strconv.Itoa(i) + "]"
					if n := walkField(x.view.place.Node, at); n != nil {
						return x.doc.parsed.Position(n), true
					}
				}
			}
		}
		return policy.Position{}, true
	}
	return policy.Position{}, false
}

func containersOf(spec *corev1.PodSpec, list string) []corev1.Container {
	if list == "containers" {
		return spec.Containers
	}
	return spec.InitContainers
}

// in gives the path of a field of the proxy container.
func (x *explaining) in(field string) []string {
	if x.proxy == nil {
		return nil
	}
	return []string{x.proxyPath + "." + field}
}

func (x *explaining) envField(name string) []string { return x.in("env[" + name + "].value") }

// argument finds a flag among arguments, as --name=value or as two of them, and gives its value and path.
func argument(c *corev1.Container, path, name string) (string, []string, bool) {
	if c == nil {
		return "", nil, false
	}
	for i, a := range c.Args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v, []string{path + ".args[" + strconv.Itoa(i) + "]"}, true
		}
		if a == name && i+1 < len(c.Args) {
			return c.Args[i+1], []string{path + ".args[" + strconv.Itoa(i+1) + "]"}, true
		}
	}
	return "", nil, false
}

// general are the templates and how the sidecar starts.
func (x *explaining) general() {
	tr := &x.watch.out.Trace
	src := x.watch.explainer.src
	if len(tr.Templates) == 0 {
		x.revision()
		return
	}
	names := strings.Join(tr.Templates, ", ")
	layers := x.annotation(policy.AnnotationTemplates)
	if at, ok := src.Bundle.Injection.Places["defaultTemplates"]; ok && !src.Bundle.EmbeddedTemplates {
		layers = append(layers, Layered{strings.Join(src.Bundle.Injection.DefaultTemplates, ", "), LayerConfig, at})
	}
	if list, _ := dig(src.Bundle.Values.Tree, "sidecarInjectorWebhook", "defaultTemplates").([]any); len(list) > 0 && src.Bundle.EmbeddedTemplates {
		layers = append(layers, x.setting("sidecarInjectorWebhook", "defaultTemplates")...)
	}
	layers = append(layers, literal(LayerDefault, "sidecar")...)
	x.top("templates", names, layers)
	x.revision()
}

// top files a value that the highest layer gives in other words than the pod has it.
func (x *explaining) top(name, actual string, layers []Layered) *Value {
	if len(layers) == 0 {
		return nil
	}
	v := Value{Name: name, Layered: layers[0], Overridden: layers[1:]}
	if layers[0].Value != actual && actual != "" {
		v.Note = "as " + layers[0].Value
	}
	v.Value = actual
	x.values = append(x.values, v)
	return &x.values[len(x.values)-1]
}

func (x *explaining) revision() {
	src := x.watch.explainer.src
	actual, ok := x.watch.out.Template.Annotations[policy.AnnotationRevision]
	if !ok {
		return
	}
	layers := flag("--revision", src.RevisionFlag)
	if r := src.Bundle.Injection.Revision; r != "" {
		layers = append(layers, Layered{r, LayerConfig, src.Bundle.Injection.Source})
	}
	for _, l := range x.setting("revision") {
		if l.Value != "" {
			layers = append(layers, l)
		}
	}
	layers = append(layers, literal(LayerDefault, policy.DefaultRevision)...)
	x.add("revision", actual, []string{"metadata.annotations[" + policy.AnnotationRevision + "]"}, layers)
}

func (x *explaining) images() {
	if x.proxy == nil {
		return
	}
	whole := func(ls []Layered) []Layered {
		return slices.DeleteFunc(ls, func(l Layered) bool { return !strings.Contains(l.Value, "/") })
	}
	var made []Layered
	if image := x.watch.out.Trace.Image; image != "" {
		made = []Layered{{image, LayerDerived, topOf(x.setting("global", "tag")).Source}}
	}
	v := x.add("image", x.proxy.Image, x.in("image"),
		whole(x.annotation(policy.AnnotationProxyImage)), whole(x.setting("global", "proxy", "image")), made)
	if v.Layer != LayerDerived {
		return
	}
	v.Note = "hub/name:tag-variant"
	x.part("image.hub", x.setting("global", "hub"))
	name := x.setting("global", "proxy", "image")
	if len(name) == 0 {
		name = literal(LayerDefault, "proxyv2")
	}
	x.part("image.name", name)
	x.part("image.tag", x.setting("global", "tag"))
	x.part("image.variant", x.annotation(policy.AnnotationProxyImageType), x.proxyField("image", "imageType"), x.setting("global", "variant"))
}

// part files a value that is not in the pod under its own name: the highest layer counts.
func (x *explaining) part(name string, layers ...[]Layered) *Value {
	all := slices.Concat(layers...)
	if len(all) == 0 {
		return nil
	}
	x.values = append(x.values, Value{Name: name, Layered: all[0], Overridden: all[1:]})
	return &x.values[len(x.values)-1]
}

func topOf(ls []Layered) Layered {
	if len(ls) == 0 {
		return Layered{}
	}
	return ls[0]
}

// startup is native or classic, hold, and what it takes.
func (x *explaining) startup() {
	tr := &x.watch.out.Trace
	src := x.watch.explainer.src
	var layers []Layered
	for _, l := range x.annotation(policy.AnnotationNativeSidecar) {
		if l.Value != "" {
			layers = append(layers, l)
		}
	}
	flagLayer := Layered{strconv.FormatBool(src.Compiled.Native), LayerDerived, policy.Position{}}
	if src.Setup.Native != NativeAuto {
		flagLayer.Layer, flagLayer.Source = LayerFlag, policy.Position{File: "--native-sidecar"}
	}
	v := x.top("nativeSidecar", strconv.FormatBool(tr.Native), append(layers, flagLayer))
	if v.Layer == LayerDerived {
		v.Note = src.Compiled.NativeReason
	}
	if tr.Native && !x.native() {
		v.Note = "the template does not follow it: the proxy is a container"
	}
	hold := x.proxyField("holdApplicationUntilProxyStarts")
	values := x.setting("global", "proxy", "holdApplicationUntilProxyStarts")
	// Either of them asks for it: a false of one is no answer to a true of the other.
	yes := func(l Layered) bool { return l.Value == "true" }
	if tr.Hold {
		if i := slices.IndexFunc(hold, yes); i != 0 {
			hold, values = values, hold
		}
	}
	x.part("holdApplicationUntilProxyStarts", hold, values, literal(LayerDefault, "false"))
}

func (x *explaining) resources() {
	if x.proxy == nil {
		return
	}
	rows := []struct {
		name, annotation string
		block, key       string
		list             corev1.ResourceList
		resource         corev1.ResourceName
	}{
		{"resources.requests.cpu", policy.AnnotationProxyCPU, "requests", "cpu", x.proxy.Resources.Requests, corev1.ResourceCPU},
		{"resources.requests.memory", policy.AnnotationProxyMemory, "requests", "memory", x.proxy.Resources.Requests, corev1.ResourceMemory},
		{"resources.limits.cpu", policy.AnnotationProxyCPULimit, "limits", "cpu", x.proxy.Resources.Limits, corev1.ResourceCPU},
		{"resources.limits.memory", policy.AnnotationProxyMemoryLimit, "limits", "memory", x.proxy.Resources.Limits, corev1.ResourceMemory},
	}
	block := false
	for _, r := range rows {
		_, ok := x.original.Annotations[r.annotation]
		block = block || ok
	}
	for _, r := range rows {
		values := x.setting("global", "proxy", "resources", r.block, r.key)
		if q, ok := r.list[r.resource]; ok {
			x.add(r.name, q.String(), x.in(r.name), x.annotation(r.annotation), values)
		} else if len(values) > 0 && block {
			v := x.part(r.name, literal(LayerAnnotation, "none"), values)
			v.Note = "the annotations about resources replace the whole block of the values"
		}
	}
	x.concurrency()
}

// concurrency is how many worker threads Envoy runs: ProxyConfig's, else the CPU limit rounded up.
func (x *explaining) concurrency() {
	layers := x.proxyField("concurrency")
	value, run := "", (*Layered)(nil)
	if c := x.watch.out.Trace.ProxyConfig.GetConcurrency(); c != nil {
		value = strconv.Itoa(int(c.GetValue()))
	}
	switch {
	case value == "0":
		run = &Layered{"<node CPUs>", LayerDerived, policy.Position{}}
	case value != "":
	default:
		run = &Layered{"<node CPUs>", LayerDerived, policy.Position{}}
		if limit, ok := x.proxy.Resources.Limits[corev1.ResourceCPU]; ok {
			run.Value = strconv.FormatInt(max(1, (limit.MilliValue()+999)/1000), 10)
			if v := x.value("resources.limits.cpu"); v != nil {
				run.Source = v.Source
			}
		}
	}
	v := Value{Name: "concurrency", Runtime: run}
	if len(layers) > 0 {
		v.Layered, v.Overridden = layers[0], layers[1:]
		v.Value = value
	} else {
		v.Layered, v.Note = Layered{"", LayerDefault, policy.Position{}}, "not set: the CPU limit rounded up, else the CPUs of the node"
	}
	if x.layers.Workload != nil && v.Layer == LayerWorkload {
		v.Runtime = x.reapplied("concurrency")
	}
	x.values = append(x.values, v)
}

// reapplied is what the agent makes of a field that a workload's ProxyConfig gives: it lays the annotation over it again.
func (x *explaining) reapplied(path ...string) *Layered {
	if has(x.annotationTree, path...) {
		return &Layered{show(dig(x.annotationTree, path...)), LayerAnnotation, x.configLine(path)}
	}
	return nil
}

// agent are the agent's addresses, ports and logs.
func (x *explaining) agent() {
	discovery := x.part("discoveryAddress", x.proxyField("discoveryAddress"))
	if direct := x.annotation(policy.AnnotationDiscoveryAddress); len(direct) > 0 && discovery != nil {
		discovery.Runtime = &direct[0]
	}
	if e, ok := x.env["CA_ADDR"]; ok {
		address := slices.DeleteFunc(x.setting("global", "caAddress"), func(l Layered) bool { return l.Value == "" })
		v := x.add("caAddress", e.Value, x.envField("CA_ADDR"), address)
		if v.Layer == LayerTemplate {
			v.Layer, v.Source, v.Note = LayerDerived, policy.Position{}, "istiod of the revision and of global.istioNamespace"
		}
	}
	x.statusPort()
	x.part("proxyAdminPort", x.proxyField("proxyAdminPort"))
	for _, p := range []struct {
		name, env string
		port      int
	}{{"healthPort", "ENVOY_STATUS_PORT", policy.PortHealth}, {"prometheusPort", "ENVOY_PROMETHEUS_PORT", policy.PortPrometheus}} {
		x.part(p.name, x.proxyField("proxyMetadata", p.env), literal(LayerDefault, strconv.Itoa(p.port)))
	}
	for _, a := range []struct {
		name, arg, annotation string
		path                  []string
	}{
		{"logLevel", "--proxyLogLevel", policy.AnnotationLogLevel, []string{"global", "proxy", "logLevel"}},
		{"componentLogLevel", "--proxyComponentLogLevel", policy.AnnotationComponentLogLevel, []string{"global", "proxy", "componentLogLevel"}},
		{"agentLogLevel", "--log_output_level", policy.AnnotationAgentLogLevel, []string{"global", "logging", "level"}},
	} {
		if v, fields, ok := argument(x.proxy, x.proxyPath, a.arg); ok {
			x.add(a.name, v, fields, x.annotation(a.annotation), x.setting(a.path...))
		}
	}
	if v, fields, ok := argument(x.proxy, x.proxyPath, "--domain"); ok {
		domain := strings.TrimPrefix(v, "$(POD_NAMESPACE).svc.")
		x.add("clusterDomain", domain, fields, x.setting("global", "proxy", "clusterDomain"))
	}
}

// statusPort is asked twice: the template takes it from the values, the agent from ProxyConfig.
func (x *explaining) statusPort() {
	annotation := x.annotation(policy.AnnotationStatusPort)
	template := x.part("statusPort", annotation, x.setting("global", "proxy", "statusPort"))
	own := x.part("statusPort (agent)", annotation, x.proxyField("statusPort"))
	if template != nil && own != nil && template.Value != own.Value {
		own.Note = "differs from the port that the template uses"
	}
}

// redirection is what istio-init, or the check of the CNI plugin, is told.
func (x *explaining) redirection() {
	if x.init == nil {
		return
	}
	mode := slices.Concat(x.annotation(policy.AnnotationInterceptionMode), x.proxyField("interceptionMode"), literal(LayerDefault, "REDIRECT"))
	for _, a := range []struct {
		name, arg string
		layers    []Layered
	}{
		{"interceptionMode", "-m", mode},
		{"includeOutboundIPRanges", "-i", slices.Concat(x.annotation(policy.AnnotationIncludeOutboundIPs), x.setting("global", "proxy", "includeIPRanges"))},
		{"excludeOutboundIPRanges", "-x", slices.Concat(x.annotation(policy.AnnotationExcludeOutboundIPs), x.setting("global", "proxy", "excludeIPRanges"))},
		{"includeInboundPorts", "-b", slices.Concat(x.annotation(policy.AnnotationIncludeInbound), x.setting("global", "proxy", "includeInboundPorts"))},
		{"excludeInboundPorts", "-d", slices.Concat(x.annotation(policy.AnnotationExcludeInbound), x.setting("global", "proxy", "excludeInboundPorts"))},
		{"includeOutboundPorts", "-q", slices.Concat(x.annotation(policy.AnnotationIncludeOutbound), x.setting("global", "proxy", "includeOutboundPorts"))},
		{"excludeOutboundPorts", "-o", slices.Concat(x.annotation(policy.AnnotationExcludeOutbound), x.setting("global", "proxy", "excludeOutboundPorts"))},
		{"excludeInterfaces", "-c", x.annotation(policy.AnnotationExcludeInterfaces)},
		{"rerouteInterfaces", "-k", slices.Concat(x.annotation(policy.AnnotationRerouteInterfaces), x.annotation(policy.AnnotationKubevirtInterfaces))},
		{"outboundPort", "-p", x.meshSetting("proxyListenPort", strconv.Itoa(policy.PortOutbound))},
		{"inboundPort", "-z", x.meshSetting("proxyInboundListenPort", strconv.Itoa(policy.PortInbound))},
	} {
		v, fields, ok := argument(x.init, x.initPath, a.arg)
		if !ok {
			continue
		}
		if a.name == "excludeInboundPorts" {
			x.excludedInbound(v, fields, a.layers)
			continue
		}
		x.add(a.name, v, fields, a.layers)
	}
	x.proxyIDs()
}

// excludedInbound is a list to which the template adds the proxy's own ports.
func (x *explaining) excludedInbound(actual string, fields []string, layers []Layered) {
	v := Value{Name: "excludeInboundPorts", Fields: fields, Layered: topOf(layers)}
	if len(layers) > 0 {
		v.Overridden = layers[1:]
	}
	if v.Value != actual {
		v.Note = "with the proxy's own ports"
	}
	if v.Value == "" {
		v.Layer, v.Source = LayerTemplate, x.templatePlace()
	}
	v.Value = actual
	x.values = append(x.values, v)
}

// meshSetting is a top-level field of the mesh config with its default.
func (x *explaining) meshSetting(field, preset string) []Layered {
	src := x.watch.explainer.src
	out := meshField(src.Bundle, []string{field})
	if len(out) > 0 && out[0].Layer == LayerSet && src.Unset != nil {
		out = append(out, meshField(src.Unset, []string{field})...)
	}
	return append(out, literal(LayerDefault, preset)...)
}

// proxyIDs are the user and group of the proxy.
func (x *explaining) proxyIDs() {
	if x.proxy == nil || x.proxy.SecurityContext == nil {
		return
	}
	var uid, gid []Layered
	if n := x.surroundings().Namespace(x.facts.Namespace); n != nil {
		u, g := openShiftIDs(n.Annotations)
		at, ranged := n.Places[[2]string{"annotations", policy.AnnotationOpenShiftUIDs}]
		grouped, hasGroups := n.Places[[2]string{"annotations", policy.AnnotationOpenShiftGroups}]
		if ranged {
			uid = []Layered{{strconv.FormatInt(u, 10), "namespace", at}}
		}
		if hasGroups {
			gid = []Layered{{strconv.FormatInt(g, 10), "namespace", grouped}}
		} else if ranged {
			gid = []Layered{{strconv.FormatInt(g, 10), "namespace", at}}
		}
	}
	preset := literal(LayerDefault, strconv.Itoa(policy.ProxyUserID))
	if u := x.proxy.SecurityContext.RunAsUser; u != nil {
		v := x.add("proxyUID", strconv.FormatInt(*u, 10), x.in("securityContext.runAsUser"), uid, preset)
		if *u == 0 && v.Layer == LayerTemplate {
			v.Layer, v.Source, v.Note = LayerDerived, policy.Position{}, "TPROXY and ports below 1024 need user 0"
		}
	}
	if g := x.proxy.SecurityContext.RunAsGroup; g != nil {
		x.add("proxyGID", strconv.FormatInt(*g, 10), x.in("securityContext.runAsGroup"), gid, preset)
	}
}

// identity is who the proxy says it is.
func (x *explaining) identity() {
	src := x.watch.explainer.src
	filled := func(ls []Layered) []Layered {
		return slices.DeleteFunc(ls, func(l Layered) bool { return l.Value == "" })
	}
	envs := []struct {
		name, env string
		layers    []Layered
	}{
		{"clusterID", policy.EnvClusterID, slices.Concat(flag("--cluster", src.Setup.Cluster), filled(x.setting("global", "multiCluster", "clusterName")), literal(LayerTemplate, "Kubernetes"))},
		{"network", policy.EnvNetwork, slices.Concat(x.label(policy.LabelNetwork), flag("--network", src.Setup.Network), filled(x.setting("global", "network")))},
		{"meshID", "ISTIO_META_MESH_ID", slices.Concat(filled(x.setting("global", "meshID")), x.meshSetting("trustDomain", "cluster.local"))},
		{"trustDomain", "TRUST_DOMAIN", x.meshSetting("trustDomain", "cluster.local")},
		{"workloadName", "ISTIO_META_WORKLOAD_NAME", slices.Concat(x.label(policy.LabelWorkloadName), x.owner())},
	}
	for _, e := range envs {
		if v, ok := x.env[e.env]; ok {
			x.add(e.name, v.Value, x.envField(e.env), e.layers)
		}
	}
	if v, ok := x.env["ISTIO_META_OWNER"]; ok {
		owner := literal(LayerDerived, v.Value)
		owner[0].Source = x.doc.parsed.Position(walkField(x.view.object.Node, "kind"))
		x.add("owner", v.Value, x.envField("ISTIO_META_OWNER"), owner)
	}
	labels := x.watch.out.Template.Labels
	if v, ok := labels[policy.LabelCanonicalName]; ok {
		x.add("canonicalName", v, []string{"metadata.labels[" + policy.LabelCanonicalName + "]"}, x.label(policy.LabelCanonicalName),
			x.label("app.kubernetes.io/name"), x.label("app"), x.owner())
	}
	if v, ok := labels[policy.LabelCanonicalRevision]; ok {
		x.add("canonicalRevision", v, []string{"metadata.labels[" + policy.LabelCanonicalRevision + "]"}, x.label(policy.LabelCanonicalRevision),
			x.label("app.kubernetes.io/version"), x.label("version"), literal(LayerTemplate, "latest"))
	}
}

// owner is the name of the workload as a layer.
func (x *explaining) owner() []Layered {
	in := x.doc.input(x.view, x.facts.Namespace)
	at := x.doc.parsed.Position(x.view.object.Node)
	if n := walkField(x.view.object.Node, "metadata.name"); n != nil {
		at = x.doc.parsed.Position(n)
	}
	return []Layered{{in.Owner.Name, LayerDerived, at}}
}

// probing are the proxy's own probes and the switches about the application's.
func (x *explaining) probing() {
	if x.proxy == nil {
		return
	}
	if p := x.proxy.StartupProbe; p != nil {
		x.add("startupProbe.failureThreshold", strconv.Itoa(int(p.FailureThreshold)), x.in("startupProbe.failureThreshold"),
			x.setting("global", "proxy", "startupProbe", "failureThreshold"))
	}
	if p := x.proxy.ReadinessProbe; p != nil {
		for _, r := range []struct {
			name, annotation, key string
			value                 int32
		}{
			{"readinessProbe.initialDelaySeconds", policy.AnnotationReadinessDelay, "readinessInitialDelaySeconds", p.InitialDelaySeconds},
			{"readinessProbe.periodSeconds", policy.AnnotationReadinessPeriod, "readinessPeriodSeconds", p.PeriodSeconds},
			{"readinessProbe.failureThreshold", policy.AnnotationReadinessFailures, "readinessFailureThreshold", p.FailureThreshold},
		} {
			x.add(r.name, strconv.Itoa(int(r.value)), x.in(r.name), x.annotation(r.annotation), x.setting("global", "proxy", r.key))
		}
	}
	x.part("rewriteAppHTTPProbers", x.annotation(policy.AnnotationRewriteProbers),
		x.setting("sidecarInjectorWebhook", "rewriteAppHTTPProbe"), literal(LayerDefault, "false"))
	x.part("mergeMetrics", x.annotation(policy.AnnotationMergeMetrics), x.meshSetting("enablePrometheusMerge", "true"))
}

// proxyConfig files every other field of the effective ProxyConfig.
func (x *explaining) proxyConfig() {
	shown := []string{
		"concurrency", "discoveryAddress", "proxyAdminPort", "statusPort", "interceptionMode", "image.imageType",
		"holdApplicationUntilProxyStarts",
	}
	paths := map[string][]string{}
	for _, tree := range []map[string]any{x.effective} {
		leaves(tree, nil, paths)
	}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		if slices.Contains(shown, p) {
			continue
		}
		actual := show(dig(x.effective, paths[p]...))
		v := x.add("proxyConfig."+p, actual, nil, x.proxyField(paths[p]...))
		if paths[p][0] == "proxyMetadata" {
			x.metadata(v, paths[p][1], actual)
		}
		if v.Layer == LayerWorkload {
			v.Runtime = x.reapplied(paths[p]...)
		}
	}
}

// metadata notes where an entry of proxyMetadata ends: the environment, unless the pod's own istio-proxy has the name.
func (x *explaining) metadata(v *Value, name, actual string) {
	e, ok := x.env[name]
	if !ok {
		return
	}
	v.Fields = x.envField(name)
	if e.Value != actual {
		own, _ := x.override(v.Fields)
		v.Overridden = append([]Layered{v.Layered}, v.Overridden...)
		v.Layered = Layered{e.Value, LayerOverride, own}
	}
}

// leaves lists the paths of a tree; entries of proxyMetadata have a name of their own, other messages do not end in
// lists, which count as one value.
func leaves(tree map[string]any, at []string, out map[string][]string) {
	for k, v := range tree {
		path := append(at[:len(at):len(at)], k)
		if m, ok := v.(map[string]any); ok && len(m) > 0 {
			leaves(m, path, out)
			continue
		}
		out[strings.Join(path, ".")] = path
	}
}

// settle gives the changed fields the place of the setting that they came from.
func (x *explaining) settle(out *Explanation) {
	places := map[string]Layered{}
	for _, v := range x.values {
		for _, f := range v.Fields {
			places[f] = v.Layered
		}
	}
	for i := range out.Changes {
		if l, ok := places[out.Changes[i].Path]; ok && l.Source != (policy.Position{}) {
			out.Changes[i].Source = l.Source
		}
	}
}

// attach files the rule of a lint finding with the values that stand where it points to.
func attach(x *Explanation, f policy.Finding) {
	for i := range x.Values {
		v := &x.Values[i]
		if v.Source.Line > 0 && v.Source.File == f.Position.File && v.Source.Line == f.Position.Line && !slices.Contains(v.Rules, f.Code) {
			v.Rules = append(v.Rules, f.Code)
		}
	}
}

// underTemplate tells whether a field of an object belongs to the template of a record: where an object has several,
// to the one whose path it begins with.
func underTemplate(field string, r *Workload, all []Workload) bool {
	if r.Template == "" || strings.HasPrefix(field, r.Template) {
		return true
	}
	for i := range all {
		if all[i].Resource == r.Resource && all[i].Template != r.Template {
			return false
		}
	}
	return true
}
