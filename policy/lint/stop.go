package lint

import (
	"time"

	"github.com/kube-inject/inject/policy"
)

func nativeDrainReplaced() Rule {
	return Rule{
		ID: "native-drain-replaced", Category: Lifecycle, Severity: policy.Warning, Link: linkSidecars,
		Summary: "values global.proxy.lifecycle takes the place of the native sidecar's drain hook",
		Why: "A native sidecar starts to drain by a preStop hook that the template writes only where values give no " +
			"lifecycle. Without it clients are told late that the pod goes away, and the pod stops later.",
		Remedy: "add to the values: global.proxy.lifecycle.preStop.exec.command: " +
			"[pilot-agent, request, --debug-port=15020, POST, drain]",
		Bad: "# values, native sidecar\nglobal:\n  proxy:\n    lifecycle:\n      postStart: {exec: {command: [pilot-agent, wait]}}",
		Good: "# values, native sidecar\nglobal:\n  proxy:\n    lifecycle:\n      preStop:\n        exec:\n" +
			"          command: [pilot-agent, request, --debug-port=15020, POST, drain]",
		check: func(f *Facts, r *Report) {
			c, native := f.proxy()
			if c == nil || !native || f.lifecycleValue() == nil || f.stop().DrainHook {
				return
			}
			r.inConfig(f.ValueAt("global", "proxy", "lifecycle"), "global.proxy.lifecycle",
				"no preStop hook starts the drain of native sidecars: this lifecycle takes its place")
		},
	}
}

func prestopHTTP() Rule {
	return Rule{
		ID: "prestop-http", Category: Lifecycle, Severity: policy.Warning, Link: linkHooks,
		Summary: "an HTTP preStop hook, rewritten to an agent that is stopping",
		Why: "The hook asks the agent's port, which the agent closes on SIGTERM, and a classic proxy gets its SIGTERM at " +
			"the moment the application's hook starts: who is first wins.",
		Remedy: "use an exec hook, or give the proxy a preStop sleep, or run it as a native sidecar",
		Bad:    "# classic sidecar\nlifecycle:\n  preStop:\n    httpGet: {path: /drain, port: 8080}",
		Good:   "# classic sidecar\nlifecycle:\n  preStop:\n    exec: {command: [/drain]}",
		check: func(f *Facts, r *Report) {
			c, native := f.proxy()
			if c == nil || native || !f.rewrites() || !f.rewritesHooks() || f.stop().ProxyPreStop > 0 {
				return
			}
			for _, a := range f.apps() {
				h := preStop(a.Container)
				switch {
				case h == nil:
				case h.HTTPGet != nil:
					r.at(a.at("lifecycle", "preStop", "httpGet").key(),
						"the hook of container %s goes to the agent's port, which closes at the same moment", a.Name)
				case h.TCPSocket != nil:
					r.at(a.at("lifecycle", "preStop", "tcpSocket").key(),
						"the hook of container %s goes to the agent's port, which closes at the same moment", a.Name)
				}
			}
		},
	}
}

func graceBelowDrain() Rule {
	return Rule{
		ID: "grace-below-drain", Category: Lifecycle, Severity: policy.Warning, Link: linkTermination,
		Summary: "the grace period is shorter than the proxy's own stop",
		Why:     "The kubelet kills what still runs at the end of the grace period: Envoy dies in the middle of its drain.",
		Remedy:  "raise terminationGracePeriodSeconds above the proxy's preStop hook and drain",
		Bad: "metadata:\n  annotations:\n    proxy.istio.io/config: 'terminationDrainDuration: 20s'\nspec:\n" +
			"  terminationGracePeriodSeconds: 10",
		Good: "metadata:\n  annotations:\n    proxy.istio.io/config: 'terminationDrainDuration: 20s'\nspec:\n" +
			"  terminationGracePeriodSeconds: 60",
		check: func(f *Facts, r *Report) {
			c, native := f.proxy()
			if c == nil || native && f.stop().DrainHook {
				return
			}
			need := f.stop().ProxyStop
			if g := f.stop().Grace; g < need {
				if given := f.pod().Spec.TerminationGracePeriodSeconds; given != nil {
					g = time.Duration(*given) * time.Second // the kubelet makes one second of none
				}
				r.at(template("spec", "terminationGracePeriodSeconds"),
					"the grace period is %s, the proxy takes %s to stop", seconds(g), seconds(need)).
					hint("set terminationGracePeriodSeconds to %d or more", int((need+10*time.Second)/time.Second))
			}
		},
	}
}

func drainBelowAppPrestop() Rule {
	return Rule{
		ID: "drain-below-app-prestop", Category: Lifecycle, Severity: policy.Error, Link: linkTermination,
		Summary: "the application's preStop hook outlives the proxy",
		Why: "A classic proxy gets its SIGTERM together with the application and ends when its drain time is over. An " +
			"application that still sleeps in its hook has no network from then on.",
		Remedy: "set terminationDrainDuration in proxy.istio.io/config above the hook's time, or use a native sidecar",
		Bad: "# classic sidecar\nmetadata:\n  annotations:\n    proxy.istio.io/config: 'terminationDrainDuration: 5s'\nspec:\n" +
			"  containers:\n  - name: web\n    lifecycle: {preStop: {exec: {command: [sleep, \"10\"]}}}",
		Good: "# classic sidecar\nmetadata:\n  annotations:\n    proxy.istio.io/config: 'terminationDrainDuration: 20s'\nspec:\n" +
			"  containers:\n  - name: web\n    lifecycle: {preStop: {exec: {command: [sleep, \"10\"]}}}",
		check: func(f *Facts, r *Report) {
			c, native := f.proxy()
			if c == nil || native || f.stop().ExitOnZero { // exit-on-zero-short
				return
			}
			life := f.stop().ProxyStop
			for _, a := range f.apps() {
				if s := f.app(a.Name).PreStop; s > 0 && s >= life {
					r.at(a.at("lifecycle", "preStop").key(), "container %s waits %s in its preStop hook, the proxy is gone after %s",
						a.Name, seconds(s), seconds(life))
				}
			}
		},
	}
}

func exitOnZeroNative() Rule {
	return Rule{
		ID: "exit-on-zero-native", Category: Lifecycle, Severity: policy.Info, Link: linkAgent,
		Summary: "EXIT_ON_ZERO_ACTIVE_CONNECTIONS on a native sidecar",
		Why:     "A native sidecar drains from its preStop hook on and stops after the applications: it leaves at once on SIGTERM anyway.",
		Remedy:  "remove the variable",
		Bad: "annotations:\n  sidecar.istio.io/nativeSidecar: \"true\"\n  proxy.istio.io/config: |\n    proxyMetadata:\n" +
			"      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"",
		Good: "annotations:\n  sidecar.istio.io/nativeSidecar: \"true\"",
		check: func(f *Facts, r *Report) {
			c, native := f.proxy()
			if c == nil || !native || !f.stop().DrainHook || !f.stop().ExitOnZero {
				return
			}
			f.atMetadata(r, envExitOnZero, "%s has no effect on a native sidecar", envExitOnZero)
		},
	}
}

// atMetadata files a finding at a variable of proxyMetadata, wherever it is set.
func (f *Facts) atMetadata(r *Report, name, format string, args ...any) *draft {
	if f.Config != nil {
		for _, m := range stringMaps()[:2] {
			if v := f.Config.Root.field(m).value().field(name); v != nil {
				return r.inText(v.Key, []string{m, name}, format, args...)
			}
		}
	}
	var d *draft
	f.proxyEnv(func(c container, i int, n, _ string) {
		if n == name && d == nil {
			d = r.at(c.at("env", itoa(i), "name"), format, args...)
		}
	})
	if d != nil {
		return d
	}
	if p := f.MeshAt("defaultConfig", "proxyMetadata", name); p.Line > 0 {
		return r.inConfig(p, "defaultConfig.proxyMetadata."+name, format, args...)
	}
	return r.at(template("spec"), format, args...)
}

func exitOnZeroShort() Rule {
	return Rule{
		ID: "exit-on-zero-short", Category: Lifecycle, Severity: policy.Warning, Link: linkAgent,
		Summary: "EXIT_ON_ZERO_ACTIVE_CONNECTIONS with a minimum below the application's stop",
		Why: "No open connection does not mean no work: the proxy leaves after MINIMUM_DRAIN_DURATION while the " +
			"application still sits in its preStop hook.",
		Remedy: "raise MINIMUM_DRAIN_DURATION above the hook's time",
		Bad: "# classic sidecar, preStop: sleep 15\nproxyMetadata:\n  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"\n" +
			"  MINIMUM_DRAIN_DURATION: \"5s\"",
		Good: "# classic sidecar, preStop: sleep 15\nproxyMetadata:\n  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"\n" +
			"  MINIMUM_DRAIN_DURATION: \"20s\"",
		check: func(f *Facts, r *Report) {
			c, native := f.proxy()
			if c == nil || native || !f.stop().ExitOnZero {
				return
			}
			life := f.stop().ProxyStop
			for _, a := range f.apps() {
				if s := f.app(a.Name).PreStop; s > 0 && life < s {
					r.at(a.at("lifecycle", "preStop").key(),
						"container %s waits %s in its preStop hook, the proxy may leave after %s", a.Name, seconds(s), seconds(life)).
						hint("set MINIMUM_DRAIN_DURATION to %s or more", seconds(s+5*time.Second))
				}
			}
		},
	}
}

func drainDurationIgnored() Rule {
	return Rule{
		ID: "drain-duration-ignored", Category: Lifecycle, Severity: policy.Warning, Link: linkAgent,
		Summary: "terminationDrainDuration beside EXIT_ON_ZERO_ACTIVE_CONNECTIONS",
		Why: "With EXIT_ON_ZERO_ACTIVE_CONNECTIONS the agent waits MINIMUM_DRAIN_DURATION and then for the last " +
			"connection; it does not read terminationDrainDuration.",
		Remedy: "set MINIMUM_DRAIN_DURATION instead, and drop terminationDrainDuration",
		Bad: "annotations:\n  proxy.istio.io/config: |\n    terminationDrainDuration: 30s\n    proxyMetadata:\n" +
			"      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"",
		Good: "annotations:\n  proxy.istio.io/config: |\n    proxyMetadata:\n" +
			"      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: \"true\"\n      MINIMUM_DRAIN_DURATION: \"30s\"",
		check: func(f *Facts, r *Report) {
			if !f.stop().ExitOnZero || f.Proxy == nil {
				return
			}
			const message = "terminationDrainDuration has no effect: EXIT_ON_ZERO_ACTIVE_CONNECTIONS is on"
			if f.Config != nil {
				for _, name := range []string{"terminationDrainDuration", "termination_drain_duration"} {
					if field := f.Config.Root.field(name); field != nil {
						r.inText(field.Key, []string{name}, message)
						return
					}
				}
			}
			if p := f.MeshAt("defaultConfig", "terminationDrainDuration"); p.Line > 0 && f.MeshAt("defaultConfig", "proxyMetadata", envExitOnZero).Line > 0 {
				r.inConfig(p, "defaultConfig.terminationDrainDuration", message)
			}
		},
	}
}

func jobClassicSidecar() Rule {
	return Rule{
		ID: "job-classic-sidecar", Category: Lifecycle, Severity: policy.Error, Link: linkJobs,
		Summary: "a Job with a classic sidecar",
		Why:     "A Job's pod is done when all its containers are, and a classic proxy never ends by itself.",
		Remedy:  "sidecar.istio.io/nativeSidecar: \"true\", or sidecar.istio.io/inject: \"false\", or let the application post to localhost:15020/quitquitquit",
		Bad:     "kind: Job\nspec:\n  template:\n    metadata:\n      annotations:\n        sidecar.istio.io/nativeSidecar: \"false\"",
		Good:    "kind: Job\nspec:\n  template:\n    metadata:\n      annotations:\n        sidecar.istio.io/nativeSidecar: \"true\"",
		check: func(f *Facts, r *Report) {
			if !f.isJob() || !f.classic() {
				return
			}
			for _, c := range f.apps() {
				for _, part := range [][]string{c.Command, c.Args, {handlerText(preStop(c.Container))}, {handlerText(postStart(c.Container))}} {
					if mentions(part, "quitquitquit") {
						r.at(template("spec"), "container %s ends the proxy by quitquitquit; if it dies before, the pod never completes", c.Name).
							level(policy.Info)
						return
					}
				}
			}
			r.at(template("spec"), "the %s's pod never completes: its classic sidecar does not end", f.Resource.Kind)
		},
	}
}
