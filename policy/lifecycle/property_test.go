package lifecycle_test

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lifecycle"
)

// dice generates pods and options; the seed is fixed, so a failure comes again.
type dice struct{ *rand.Rand }

func (d dice) seconds(most int) time.Duration {
	return time.Duration(d.Intn(most*10+1)) * 100 * time.Millisecond
}

func (d dice) yes(percent int) bool { return d.Intn(100) < percent }

func (d dice) hook() *corev1.LifecycleHandler {
	switch d.Intn(4) {
	case 0:
		return command("sleep", fmt.Sprint(d.Intn(8)))
	case 1:
		return command("sh", "-c", fmt.Sprintf("sleep %d; echo done", d.Intn(5)))
	case 2:
		return &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: int64(d.Intn(6))}}
	default:
		return &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/x", Port: intstr.FromInt32(15020)}}
	}
}

func (d dice) lifecycle(percent int) *corev1.Lifecycle {
	if !d.yes(percent) {
		return nil
	}
	l := &corev1.Lifecycle{}
	if d.yes(50) {
		l.PostStart = d.hook()
	}
	if d.yes(70) {
		l.PreStop = d.hook()
	}
	return l
}

// pod builds a classic pod and turns it into one of the variants. proxyHooks are given by percent.
func (d dice) pod(proxyHooks int) lifecycle.Pod {
	p := classicPod()
	p.Annotations = map[string]string{}
	if d.yes(40) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "fetch"})
	}
	if d.yes(20) {
		p.Spec.InitContainers[0].Name = "istio-validation"
	}
	for i := range 1 + d.Intn(2) {
		name := []string{"app", "helper"}[i]
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name, Lifecycle: d.lifecycle(40)})
	}
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "istio-proxy", Lifecycle: d.lifecycle(proxyHooks)})
	grace := int64(10 + d.Intn(40))
	p.Spec.TerminationGracePeriodSeconds = &grace
	if d.yes(30) {
		p.Annotations[policy.AnnotationProxyConfig] = fmt.Sprintf("terminationDrainDuration: %ds", d.Intn(30))
	}
	if d.yes(15) {
		env := corev1.EnvVar{Name: "EXIT_ON_ZERO_ACTIVE_CONNECTIONS", Value: "true"}
		p.Spec.Containers[len(p.Spec.Containers)-1].Env = []corev1.EnvVar{env}
	}
	if d.yes(40) {
		p.Kind = []string{"Job", "CronJob"}[d.Intn(2)]
		p.Spec.RestartPolicy = []corev1.RestartPolicy{"Never", "OnFailure"}[d.Intn(2)]
		if d.yes(30) {
			deadline := int64(d.Intn(200))
			p.ActiveDeadlineSeconds = &deadline
		}
	}
	v, err := lifecycle.Variant(p, lifecycle.Variants()[d.Intn(3)])
	if err != nil {
		panic(err)
	}
	if always := corev1.ContainerRestartPolicyAlways; d.yes(20) {
		side := corev1.Container{Name: "logger", RestartPolicy: &always, Lifecycle: d.lifecycle(30)}
		v.Spec.InitContainers = append(v.Spec.InitContainers, side)
	}
	return v
}

func (d dice) options() lifecycle.Options {
	o := lifecycle.Defaults()
	minors := []int{30, 30, 30, 24, 19, 11, 7, 6, 3, 1, 0}
	o.Istio.Minor = minors[d.Intn(len(minors))]
	o.Kubernetes.Minor = []int{33, 33, 33, 30, 29, 28, 27}[d.Intn(7)]
	o.ProxyReady = d.seconds(10)
	if d.yes(10) {
		o.ProxyReady = []time.Duration{90 * time.Second, lifecycle.Never}[d.Intn(2)]
	}
	o.AppShutdown.Default = d.seconds(30)
	if d.yes(5) {
		o.AppShutdown.Default = lifecycle.Never
	}
	o.RequestsInFlight, o.EndpointLag, o.ConnectionsOpen = d.seconds(15), d.seconds(5), d.seconds(20)
	if d.yes(10) {
		o.ConnectionsOpen = lifecycle.Never
	}
	o.AppExitCode, o.AppQuitsProxy = d.Intn(5)/4, d.yes(30)
	o.InitNetwork = []string{"fetch"}
	if d.yes(20) {
		o.ProxyExits = []lifecycle.ProxyExit{{At: d.seconds(100), Kind: lifecycle.ExitKind(d.Intn(3))}}
	}
	if d.yes(20) {
		o.HotRestarts = []time.Duration{d.seconds(100)}
	}
	return o
}

// generated runs check on pods and options of a fixed seed.
func generated(t *testing.T, seed int64, n, proxyHooks int, check func(lifecycle.Pod, lifecycle.Options) string) {
	t.Helper()
	d := dice{rand.New(rand.NewSource(seed))}
	for i := range n {
		p, o := d.pod(proxyHooks), d.options()
		if problem := check(p, o); problem != "" {
			t.Fatalf("case %d of seed %d: %s\noptions %v\npod %s %s, grace %d\n%s", i, seed, problem,
				o.Changed(), p.Kind, p.Spec.RestartPolicy, *p.Spec.TerminationGracePeriodSeconds, describe(p, o))
		}
	}
}

func describe(p lifecycle.Pod, o lifecycle.Options) string {
	text := ""
	for _, e := range lifecycle.Simulate(p, o).Events {
		text += fmt.Sprintln(e.Phase, lifecycle.FormatDuration(e.At), e.Container, e.Kind, e.ExitCode, e.Cause)
	}
	for _, v := range lifecycle.Simulate(p, o).Verdicts {
		text += fmt.Sprintln(v.ID, v.When(), v.Message, v.Advice())
	}
	return text
}

// life follows one container through the events and tells the first event without its cause.
type life struct{ running, hook, term, killed bool }

func (l *life) step(e lifecycle.Event) string {
	switch e.Kind {
	case lifecycle.ContainerStart:
		if l.running {
			return "started twice"
		}
		*l = life{running: true}
		return ""
	case lifecycle.PostStartBegin, lifecycle.PreStopBegin:
		l.hook = true
	case lifecycle.PreStopEnd, lifecycle.PreStopFail, lifecycle.PreStopTimeout, lifecycle.PostStartEnd:
		if !l.hook {
			return "hook ended without a beginning"
		}
		l.hook = false
	case lifecycle.PostStartFail:
		l.hook = false // a restart's hook has no beginning of its own in the trace
	case lifecycle.SignalTerm:
		if l.hook {
			return "SIGTERM inside a hook"
		}
		l.term = true
	case lifecycle.SignalKill:
		if !l.term {
			return "SIGKILL without SIGTERM"
		}
		l.killed = true
	case lifecycle.StatusPortClose, lifecycle.ListenersClose:
		if !l.term {
			return "closed without SIGTERM"
		}
	case lifecycle.ContainerExit:
		if (e.ExitCode == 137) != l.killed {
			return "code 137 and SIGKILL do not go together"
		}
		if !l.running {
			return "exit of what does not run"
		}
		l.running = false
		return ""
	}
	if !l.running && e.Kind != lifecycle.EpochDrain && e.Kind != lifecycle.EpochExit {
		return "event of what does not run"
	}
	return ""
}

// TestCauses holds that no event comes before its cause.
func TestCauses(t *testing.T) {
	t.Parallel()
	generated(t, 1, 4000, 40, func(p lifecycle.Pod, o lifecycle.Options) string {
		lives := map[string]*life{}
		var last lifecycle.Event
		for _, e := range lifecycle.Simulate(p, o).Events {
			if e.Phase == last.Phase && e.At < last.At || e.At < 0 || e.At >= lifecycle.Never {
				return fmt.Sprintf("%s at %v after %v", e.Kind, e.At, last.At)
			}
			if e.Phase != last.Phase {
				lives = map[string]*life{}
			}
			last = e
			if e.Container == "" {
				continue
			}
			if lives[e.Container] == nil {
				lives[e.Container] = &life{running: e.Phase == lifecycle.Stop}
			}
			if problem := lives[e.Container].step(e); problem != "" {
				return fmt.Sprintf("%s %s at %v: %s", e.Container, e.Kind, e.At, problem)
			}
		}
		return ""
	})
}

// TestShutdownBound holds that a pod is gone by the end of its grace period and the 2 s that the kubelet grants at
// least, plus the fraction of a second of a hook that it does not count.
func TestShutdownBound(t *testing.T) {
	t.Parallel()
	late := 0
	generated(t, 2, 4000, 40, func(p lifecycle.Pod, o lifecycle.Options) string {
		bound := time.Duration(*p.Spec.TerminationGracePeriodSeconds+2)*time.Second + time.Second
		for _, e := range lifecycle.Simulate(p, o).Events {
			if e.Kind == lifecycle.PodGone && e.At >= bound {
				return fmt.Sprintf("gone at %v", e.At)
			}
			if e.Kind == lifecycle.PodGone && e.At > bound-3*time.Second {
				late++
			}
		}
		return ""
	})
	if late == 0 {
		t.Error("no generated pod uses its grace period up")
	}
}

// TestMoreGrace holds that a longer grace period never makes the stop worse. Hooks here end by themselves: one that a
// short period cuts off takes longer with a longer one, and the app with it.
func TestMoreGrace(t *testing.T) {
	t.Parallel()
	better := 0
	generated(t, 3, 3000, 40, func(p lifecycle.Pod, o lifecycle.Options) string {
		o.SkipStart = true
		before := lifecycle.Simulate(p, o).Worst()
		more := *p.Spec.TerminationGracePeriodSeconds + 25
		q := p
		q.Spec.TerminationGracePeriodSeconds = &more
		after := lifecycle.Simulate(q, o).Worst()
		if after < before {
			better++
		}
		if after > before {
			return fmt.Sprintf("%v becomes %v with %ds", before, after, more)
		}
		return ""
	})
	if better == 0 {
		t.Error("no generated pod gets better with a longer grace period")
	}
}

// TestNativeJobs holds that a native sidecar is never worse than a classic one for a Job, on a Kubernetes that stops it
// in order and with an Istio that drains it.
func TestNativeJobs(t *testing.T) {
	t.Parallel()
	better := 0
	generated(t, 4, 3000, 0, func(p lifecycle.Pod, o lifecycle.Options) string {
		if p.Kind == "Deployment" || !o.Kubernetes.AtLeast(29) || !o.Istio.AtLeast(20) {
			return ""
		}
		worst := map[string]policy.Severity{}
		for _, name := range []string{"classic", "native"} {
			v, err := lifecycle.Variant(p, name)
			if err != nil {
				return err.Error()
			}
			worst[name] = lifecycle.Simulate(v, o).Worst()
		}
		if worst["native"] < worst["classic"] {
			better++
		}
		if worst["native"] > worst["classic"] {
			return fmt.Sprintf("classic %v, native %v", worst["classic"], worst["native"])
		}
		return ""
	})
	if better == 0 {
		t.Error("no generated Job gets better with a native sidecar")
	}
}

// TestSameAgain holds that a simulation repeats itself and leaves its input alone, and that every remedy with edits
// mends its verdict.
func TestSameAgain(t *testing.T) {
	t.Parallel()
	tried := 0
	generated(t, 5, 1500, 40, func(p lifecycle.Pod, o lifecycle.Options) string {
		spec := p.Spec.DeepCopy()
		first := lifecycle.Simulate(p, o)
		second := lifecycle.Simulate(p, o)
		if d := cmp.Diff(first, second, cmp.AllowUnexported(lifecycle.Remedy{})); d != "" {
			return d
		}
		if d := cmp.Diff(*spec, p.Spec); d != "" {
			return d
		}
		for _, v := range first.Verdicts {
			if v.Timed && v.To < v.From {
				return fmt.Sprintf("%s from %v to %v", v.ID, v.From, v.To)
			}
			for _, r := range v.Remedies {
				if len(r.Edits) == 0 {
					continue
				}
				tried++
				checkRemedy(t, p.Kind, p, o, first, v, r)
			}
		}
		return ""
	})
	if tried < 1000 {
		t.Errorf("only %d remedies", tried)
	}
}

// TestAbsurdNumbers plays numbers that a manifest may hold and no clock: times stay on the clock.
func TestAbsurdNumbers(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{-1 << 63, -1, 0, 1, 1 << 31, 1<<63 - 1} {
		for _, name := range lifecycle.Variants() {
			p := classicPod("app", "istio-proxy")
			p.Kind, p.Spec.RestartPolicy = "Job", corev1.RestartPolicyNever
			p.Spec.TerminationGracePeriodSeconds, p.ActiveDeadlineSeconds = &n, &n
			p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
				PreStop:   &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: n}},
				PostStart: command("sleep", fmt.Sprint(n)),
			}
			p.Annotations = map[string]string{policy.AnnotationProxyConfig: fmt.Sprintf("terminationDrainDuration: %dh", n)}
			v, err := lifecycle.Variant(p, name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range v.Spec.InitContainers {
				if probe := v.Spec.InitContainers[i].StartupProbe; probe != nil {
					probe.FailureThreshold, probe.PeriodSeconds = int32(n), int32(n>>1)
				}
			}
			for _, e := range lifecycle.Simulate(v, lifecycle.Defaults()).Events {
				if e.At < 0 {
					t.Errorf("%s, %d: %s at %v", name, n, e.Kind, e.At)
				}
			}
			lifecycle.Sensitivity(v, lifecycle.Defaults())
		}
	}
}

func BenchmarkSimulate(b *testing.B) {
	d := dice{rand.New(rand.NewSource(6))}
	p := d.pod(0)
	o := lifecycle.Defaults()
	o.AppShutdown.Default, o.RequestsInFlight = 12*time.Second, 10*time.Second
	b.Run("events", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lifecycle.Simulate(p, o)
		}
	})
	b.Run("sensitivity", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lifecycle.Sensitivity(p, o)
		}
	})
}
