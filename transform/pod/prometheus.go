package pod

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// scrape is the value of ISTIO_PROMETHEUS_ANNOTATIONS: where the application's own metrics are.
type scrape struct {
	Scrape  string         `json:"scrape"`
	Path    string         `json:"path"`
	Port    string         `json:"port"`
	Targets []scrapeTarget `json:"targets,omitempty"`
}

// scrapeTarget is one of several places with metrics (Istio 1.31).
type scrapeTarget struct {
	Port string `json:"port"`
	Path string `json:"path"`
}

// empty tells that the pod says nothing about scraping.
func (s scrape) empty() bool {
	return s.Scrape == "" && s.Path == "" && s.Port == "" && len(s.Targets) == 0
}

// agentMetricsPath is where the agent serves the merged metrics.
const agentMetricsPath = "/stats/prometheus"

// mergePrometheus sends scraping to the agent, which merges the application's metrics with its own
// (istio/istio, pkg/kube/inject/webhook.go, applyPrometheusMerge, 1.30).
func (w *work) mergePrometheus() []policy.Finding {
	if !w.mergesMetrics() {
		return nil
	}
	port := strconv.Itoa(int(w.mesh.GetDefaultConfig().GetStatusPort()))
	own, keys := readScrape(w.pod.Annotations)
	if w.opts.Behaviour.ScrapeTargets {
		own.addTargets(w.pod.Annotations[policy.AnnotationScrapeTargets])
		if fs := w.checkScrapePort(own); len(fs) > 0 {
			return fs
		}
	}
	if slices.Contains(keys, sanitize(policy.AnnotationPrometheusPort)) && own.Port == port {
		// The user means the agent's port already.
		return nil
	}
	if proxy := sidecar(&w.pod.Spec); proxy != nil && !own.empty() {
		text, err := json.Marshal(own)
		if err != nil {
			return failure("E_ANNOTATION", "metadata.annotations", err.Error(), "")
		}
		proxy.Env = append(slices.Clip(proxy.Env), corev1.EnvVar{Name: policy.EnvPrometheusAnnotations, Value: string(text)})
	}
	w.out.Trace.Prometheus = true
	w.clearScrape()
	w.annotate(policy.AnnotationPrometheusPort, port)
	w.annotate(policy.AnnotationPrometheusPath, agentMetricsPath)
	w.annotate(policy.AnnotationPrometheusScrape, "true")
	w.securePort()
	return nil
}

// mergesMetrics asks annotation, mesh config and the pod's own wish not to be scraped, in this order.
func (w *work) mergesMetrics() bool {
	for k, v := range w.pod.Annotations {
		if sanitize(k) == sanitize(policy.AnnotationPrometheusScrape) && v == "false" {
			return false
		}
	}
	if v, ok := w.pod.Annotations[policy.AnnotationMergeMetrics]; ok {
		on, err := strconv.ParseBool(v)
		return err == nil && on
	}
	merge := w.mesh.GetEnablePrometheusMerge()
	return merge == nil || merge.GetValue()
}

// sanitize reads every character that a Prometheus label name may not have as "_", so that prometheus_io_port counts.
func sanitize(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, key)
}

// readScrape gives the scrape annotations under any of their spellings, and the sanitized keys that are there.
func readScrape(annotations map[string]string) (scrape, []string) {
	var out scrape
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(annotations)) {
		if !strings.HasPrefix(k, "prometheus") {
			continue
		}
		s := sanitize(k)
		switch s {
		case sanitize(policy.AnnotationPrometheusScrape):
			out.Scrape = annotations[k]
		case sanitize(policy.AnnotationPrometheusPath):
			out.Path = annotations[k]
		case sanitize(policy.AnnotationPrometheusPort):
			out.Port = annotations[k]
		default:
			continue
		}
		keys = append(keys, s)
	}
	return out, keys
}

// clearScrape takes out every spelling, as Prometheus would pick any of them.
func (w *work) clearScrape() {
	for k := range w.pod.Annotations {
		switch sanitize(k) {
		case sanitize(policy.AnnotationPrometheusScrape), sanitize(policy.AnnotationPrometheusPath),
			sanitize(policy.AnnotationPrometheusPort):
			delete(w.pod.Annotations, k)
		}
	}
	if w.opts.Behaviour.ScrapeTargets {
		delete(w.pod.Annotations, policy.AnnotationScrapeTargets)
	}
}

// addTargets reads prometheus.istio.io/scrape-targets, "8080:/metrics,9100:/more"; the first also stands where the pod
// names no port.
func (s *scrape) addTargets(text string) {
	if text == "" {
		return
	}
	for item := range strings.SplitSeq(text, ",") {
		port, path, _ := strings.Cut(strings.TrimSpace(item), ":")
		s.Targets = append(s.Targets, scrapeTarget{port, cmp.Or(path, "/metrics")})
	}
	if s.Port == "" {
		s.Port, s.Path = s.Targets[0].Port, s.Targets[0].Path
	}
}

// targetsText is the annotation again.
func (s *scrape) targetsText() string {
	var items []string
	for _, t := range s.Targets {
		items = append(items, t.Port+":"+t.Path)
	}
	return strings.Join(items, ",")
}
