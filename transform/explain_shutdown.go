package transform

import (
	"cmp"
	"strconv"
	"time"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// Names of the durations of a [Shutdown].
const (
	DrainDuration            = "drainDuration"
	TerminationDrainDuration = "terminationDrainDuration"
	MinimumDrainDuration     = "MINIMUM_DRAIN_DURATION"
	GracePeriod              = "terminationGracePeriodSeconds"
)

// Shutdown are the durations that decide how the pod stops, side by side.
type Shutdown struct {
	Durations []Value
	// Wins names the duration that ends the proxy, Why says how it comes.
	Wins, Why string
}

// kubernetesGrace is the grace period of a pod that names none (Kubernetes, pkg/apis/core/v1/defaults.go, 1.33).
const kubernetesGrace = 30

// shutdown sets the four durations side by side and says which ends the proxy. Whether the drain hook works is asked of
// the model of package lifecycle, so that both say the same.
func (x *explaining) shutdown() *Shutdown {
	if x.proxy == nil {
		return nil
	}
	named := func(name string, layers ...[]Layered) Value {
		v := Value{Name: name}
		for _, ls := range layers {
			for _, l := range ls {
				if v.Layer == "" {
					v.Layered = l
				} else {
					v.Overridden = append(v.Overridden, l)
				}
			}
		}
		return v
	}
	zero := x.env["EXIT_ON_ZERO_ACTIVE_CONNECTIONS"].Value
	onZero, _ := strconv.ParseBool(zero)
	drain := named(DrainDuration, x.proxyField(DrainDuration))
	termination := named(TerminationDrainDuration, x.proxyField(TerminationDrainDuration))
	minimum := named(MinimumDrainDuration, x.proxyField("proxyMetadata", MinimumDrainDuration), literal(LayerDefault, "5s"))
	if e := x.env[MinimumDrainDuration]; e.Value != "" && e.Value != minimum.Value {
		at, _ := x.override(x.envField(MinimumDrainDuration))
		minimum.Overridden = append([]Layered{minimum.Layered}, minimum.Overridden...)
		minimum.Layered = Layered{e.Value, LayerOverride, at}
	}
	if !onZero {
		minimum.Note = "without effect: EXIT_ON_ZERO_ACTIVE_CONNECTIONS is not true"
	}
	grace := Value{Name: GracePeriod, Layered: Layered{strconv.Itoa(kubernetesGrace) + "s", LayerDefault, policy.Position{}}}
	if g := x.watch.out.Template.Spec.TerminationGracePeriodSeconds; g != nil {
		grace.Layered = Layered{strconv.FormatInt(*g, 10) + "s", LayerTemplate, x.templatePlace()}
		if n := walkField(x.view.place.Node, "spec."+GracePeriod); n != nil {
			grace.Layer, grace.Source = "manifest", x.doc.parsed.Position(n)
		}
	}
	s := &Shutdown{Durations: []Value{drain, termination, minimum, grace}}
	s.decide(x, onZero, duration(drain.Value), duration(termination.Value), duration(minimum.Value), duration(grace.Value))
	return s
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// decide names the duration that ends the proxy.
func (s *Shutdown) decide(x *explaining, onZero bool, drain, termination, minimum, grace time.Duration) {
	switch {
	case x.native() && !x.drainCancelled():
		s.Wins = GracePeriod
		s.Why = "native sidecar: it drains from the deletion on, outlives the application, and then ends at once"
	case onZero && minimum >= grace:
		s.Wins, s.Why = GracePeriod, "it ends before the minimum drain is over"
	case onZero:
		s.Wins = MinimumDrainDuration
		s.Why = "the proxy waits at least this long, then until no connection is open, at most until the grace period ends"
	case termination >= grace:
		s.Wins, s.Why = GracePeriod, "it ends before the termination drain is over: the proxy is killed"
	default:
		s.Wins, s.Why = TerminationDrainDuration, "the proxy ends this long after SIGTERM, whatever is still open"
		if drain < termination {
			s.Why += "; inbound listeners close earlier, after " + DrainDuration
		}
	}
}

// drainCancelled asks the model of a pod's stop whether the native sidecar's drain hook is lost.
func (x *explaining) drainCancelled() bool {
	src := x.watch.explainer.src
	o := lifecycle.Defaults()
	if v, err := lifecycle.ParseVersion(cmp.Or(src.Setup.KubeVersion, src.Bundle.KubeVersion, DefaultKubeVersion)); err == nil {
		o.Kubernetes = v
	}
	o.Istio = lifecycle.Version{Major: src.Bundle.Istio.Version.Major, Minor: src.Bundle.Istio.Version.Minor}
	o.SkipStart = true
	t := &x.watch.out.Template
	return lifecycle.Simulate(lifecycle.Pod{
		Kind: x.view.object.Resource.Kind, Namespace: x.facts.Namespace, Name: x.view.object.Resource.Name,
		Labels: t.Labels, Annotations: t.Annotations, Spec: t.Spec,
	}, o).Has(lifecycle.NativeDrainCancelled)
}
