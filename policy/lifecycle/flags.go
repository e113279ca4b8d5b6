package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flag describes one option of the command; command line and reference page are made from the same list.
type Flag struct {
	// Name is the kebab-case name without dashes.
	Name string
	// Type is one of bool, version, duration, duration|never, int, list and the forms Help explains.
	Type string
	// Default is what holds when the flag is not given, as text.
	Default string
	// Repeats says that the flag may be given more than once (or with commas).
	Repeats bool
	// Help is one line.
	Help string
	// Set reads value into o.
	Set func(o *Options, value string) error
}

// Flags lists every option of [Options], in the order of the reference page. Kubernetes and Istio version are in it
// too; a command that has flags of its own for them leaves those two out.
func Flags() []Flag {
	return slices.Concat(versionFlags(), timingFlags(), jobFlags(), failureFlags())
}

// SetFlag finds name in [Flags] and reads value into o.
func SetFlag(o *Options, name, value string) error {
	for _, f := range Flags() {
		if f.Name == name {
			if err := f.Set(o, value); err != nil {
				return fmt.Errorf("--%s: %w", name, err)
			}
			return nil
		}
	}
	return fmt.Errorf("there is no option --%s", name)
}

func versionFlags() []Flag {
	return []Flag{
		{
			Name: "kube-version", Type: "version", Default: "1.33", Help: "version of kubelet and API server",
			Set: func(o *Options, s string) error { return setVersion(&o.Kubernetes, s) },
		},
		{
			Name: "feature-gate-sidecar-containers", Type: "bool", Default: "by version",
			Help: "native sidecars on or off; only interesting for 1.28",
			Set: func(o *Options, s string) error {
				var on bool
				err := setBool(&on, s)
				o.SidecarContainers = &on
				return err
			},
		},
		{
			Name: "istio-version", Type: "version", Default: "1.30",
			Help: "generation of pilot-agent: up to 1.3, up to 1.7, or newer",
			Set:  func(o *Options, s string) error { return setVersion(&o.Istio, s) },
		},
		{
			Name: "phase", Type: "start|stop", Default: "start,stop", Repeats: true, Help: "phases to simulate",
			Set: setPhases,
		},
		{
			Name: "horizon", Type: "duration", Default: "300s", Help: "last simulated time of restart loops in phase start",
			Set: func(o *Options, s string) error { return setDuration(&o.Horizon, s, false) },
		},
	}
}

func timingFlags() []Flag {
	return []Flag{
		{
			Name: "proxy-ready", Type: "duration|never", Default: "2s", Help: "from the proxy's start to its readiness",
			Set: func(o *Options, s string) error { return setDuration(&o.ProxyReady, s, true) },
		},
		{
			Name: "init-duration", Type: "[NAME=]duration", Default: "1s", Repeats: true,
			Help: "run time of each init container, or of the one named",
			Set:  func(o *Options, s string) error { return setEach(&o.InitDuration, s, false) },
		},
		{
			Name: "app-ready", Type: "duration", Default: "1s", Help: "from an app's start to its readiness (drawing only)",
			Set: func(o *Options, s string) error { return setDuration(&o.AppReady, s, false) },
		},
		{
			Name: "app-shutdown", Type: "[NAME=]duration|never", Default: "1s", Repeats: true,
			Help: "from SIGTERM to the exit of each app, or of the one named",
			Set:  func(o *Options, s string) error { return setEach(&o.AppShutdown, s, true) },
		},
		{
			Name: "requests-in-flight", Type: "duration", Default: "0s",
			Help: "what the longest inbound request running at the deletion still takes",
			Set:  func(o *Options, s string) error { return setDuration(&o.RequestsInFlight, s, false) },
		},
		{
			Name: "connections-open", Type: "duration|never", Default: "0s",
			Help: "how long the last client keeps its connection after the deletion",
			Set:  func(o *Options, s string) error { return setDuration(&o.ConnectionsOpen, s, true) },
		},
		{
			Name: "endpoint-lag", Type: "duration", Default: "0s",
			Help: "how long new requests arrive after the deletion; 0s leaves it unchecked, 2s to 5s is realistic",
			Set:  func(o *Options, s string) error { return setDuration(&o.EndpointLag, s, false) },
		},
		{
			Name: "app-outbound", Type: "bool", Default: "true", Help: "the app needs the network until it exits",
			Set: func(o *Options, s string) error { return setBool(&o.AppOutbound, s) },
		},
		{
			Name: "hook", Type: "NAME.preStop|postStart=duration", Default: "", Repeats: true,
			Help: "duration of a hook that cannot be read from its command",
			Set:  setHook,
		},
		{
			Name: "init-network", Type: "list", Default: "", Repeats: true,
			Help: "names of init containers that need the network",
			Set: func(o *Options, s string) error {
				o.InitNetwork = append(slices.Clone(o.InitNetwork), strings.Split(s, ",")...)
				return nil
			},
		},
	}
}

func jobFlags() []Flag {
	return []Flag{
		{
			Name: "app-duration", Type: "duration", Default: "60s", Help: "run time of a Job's app",
			Set: func(o *Options, s string) error { return setDuration(&o.AppDuration, s, false) },
		},
		{
			Name: "app-exit-code", Type: "int", Default: "0", Help: "exit code of a Job's app",
			Set: func(o *Options, s string) error {
				n, err := strconv.Atoi(s)
				if err != nil || n < 0 || n > 255 {
					return fmt.Errorf("%q is not an exit code from 0 to 255", s)
				}
				o.AppExitCode = n
				return nil
			},
		},
		{
			Name: "app-quits-proxy", Type: "bool", Default: "false", Help: "a Job's app posts /quitquitquit when it is done",
			Set: func(o *Options, s string) error { return setBool(&o.AppQuitsProxy, s) },
		},
	}
}

func failureFlags() []Flag {
	return []Flag{
		{
			Name: "proxy-crash-at", Type: "duration", Default: "", Help: "Envoy dies at this time of phase start",
			Set: func(o *Options, s string) error { return setExit(o, "crash@"+s) },
		},
		{
			Name: "proxy-exit", Type: "crash|normal|crash-loop@duration", Default: "", Repeats: true,
			Help: "Envoy ends in this way at this time of phase start; the way matters to Istio up to 1.3",
			Set: func(o *Options, s string) error {
				for _, one := range strings.Split(s, ",") {
					if err := setExit(o, one); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			Name: "hot-restart-at", Type: "duration", Default: "", Repeats: true,
			Help: "new configuration or certificates at this time of phase start (Istio up to 1.7)",
			Set: func(o *Options, s string) error {
				times := slices.Clone(o.HotRestarts)
				for _, one := range strings.Split(s, ",") {
					d, err := ParseDuration(one, false)
					if err != nil {
						return err
					}
					times = append(times, d)
				}
				slices.Sort(times)
				o.HotRestarts = times
				return nil
			},
		},
	}
}

func setVersion(v *Version, s string) (err error) {
	*v, err = ParseVersion(s)
	return err
}

func setDuration(d *time.Duration, s string, never bool) (err error) {
	*d, err = ParseDuration(s, never)
	return err
}

func setEach(p *PerContainer, s string, never bool) error {
	for _, one := range strings.Split(s, ",") {
		if err := p.set(one, never); err != nil {
			return err
		}
	}
	return nil
}

func setBool(b *bool, s string) error {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", s)
	}
	*b = v
	return nil
}

func setPhases(o *Options, s string) error {
	o.SkipStart, o.SkipStop = true, true
	for _, one := range strings.Split(s, ",") {
		switch Phase(one) {
		case Start:
			o.SkipStart = false
		case Stop:
			o.SkipStop = false
		default:
			return fmt.Errorf("%q is neither start nor stop", one)
		}
	}
	return nil
}

func setHook(o *Options, s string) error {
	for _, one := range strings.Split(s, ",") {
		name, text, _ := strings.Cut(one, "=")
		container, hook, _ := strings.Cut(name, ".")
		if container == "" || hook != "preStop" && hook != "postStart" {
			return fmt.Errorf("%q does not start with a container and .preStop= or .postStart=", one)
		}
		d, err := ParseDuration(text, false)
		if err != nil {
			return err
		}
		hooks := map[string]time.Duration{name: d}
		for k, v := range o.Hooks {
			if k != name {
				hooks[k] = v
			}
		}
		o.Hooks = hooks
	}
	return nil
}

func setExit(o *Options, s string) error {
	word, text, _ := strings.Cut(s, "@")
	for _, kind := range []ExitKind{Crash, Normal, CrashLoop} {
		if kind.String() != word {
			continue
		}
		at, err := ParseDuration(text, false)
		if err != nil {
			return err
		}
		o.ProxyExits = append(slices.Clone(o.ProxyExits), ProxyExit{At: at, Kind: kind})
		slices.SortStableFunc(o.ProxyExits, func(a, b ProxyExit) int { return cmp.Compare(a.At, b.At) })
		return nil
	}
	return fmt.Errorf("%q is not crash@, normal@ or crash-loop@ and a time", s)
}
