package lint

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

const fieldHold = "holdApplicationUntilProxyStarts"

// lifecycleValue is the lifecycle that values give the proxy; nil where there is none.
func (r *Run) lifecycleValue() map[string]any {
	v, _ := r.value("global", "proxy", "lifecycle").(map[string]any)
	if len(v) == 0 {
		return nil
	}
	return v
}

func holdReplaced() Rule {
	return Rule{
		ID: "hold-replaced", Category: Lifecycle, Severity: policy.Error, Link: linkProxyConfig, Fixes: true,
		Summary: "hold is on, but values global.proxy.lifecycle takes the place of its hook",
		Why: "The template writes either the configured lifecycle or the hook that makes the application wait. With a " +
			"lifecycle of one's own nothing waits, and the application starts without a network.",
		Remedy: "add to the values: global.proxy.lifecycle.postStart.exec.command: [pilot-agent, wait]",
		Bad:    "# values\nglobal:\n  proxy:\n    holdApplicationUntilProxyStarts: true\n    lifecycle:\n      preStop: {exec: {command: [sleep, \"10\"]}}",
		Good: "# values\nglobal:\n  proxy:\n    holdApplicationUntilProxyStarts: true\n    lifecycle:\n" +
			"      postStart: {exec: {command: [pilot-agent, wait]}}\n      preStop: {exec: {command: [sleep, \"10\"]}}",
		check: func(f *Facts, r *Report) {
			c, native := f.proxy()
			if c == nil || native || !f.Hold || f.lifecycleValue() == nil || f.stop().HoldHook {
				return
			}
			d := r.inConfig(f.ValueAt("global", "proxy", "lifecycle"), "global.proxy.lifecycle",
				"applications are to wait for the proxy, but this lifecycle takes the place of the hook that does it: it has no pilot-agent wait")
			if _, other := f.lifecycleValue()["postStart"]; !other {
				d.fix("add the hook", policy.FixEdit{
					Path:  []string{"global", "proxy", "lifecycle", "postStart", "exec", "command"},
					Value: []any{"pilot-agent", "wait"},
				})
			}
		},
	}
}

func holdNoRestart() Rule {
	return Rule{
		ID: "hold-no-restart", Category: Lifecycle, Severity: policy.Error, Link: "https://github.com/istio/istio/issues/45627",
		Summary: "hold in a pod whose containers are not started again",
		Why: "When the hold hook gives up after a minute, the kubelet ends the agent with code 0. With restartPolicy " +
			"OnFailure or Never it stays away, and so does the network.",
		Remedy: "run the proxy as a native sidecar: sidecar.istio.io/nativeSidecar: \"true\"",
		Bad: "kind: Job\nspec:\n  template:\n    metadata:\n      annotations:\n        sidecar.istio.io/nativeSidecar: \"false\"\n" +
			"        proxy.istio.io/config: 'holdApplicationUntilProxyStarts: true'\n    spec:\n      restartPolicy: OnFailure",
		Good: "kind: Job\nspec:\n  template:\n    metadata:\n      annotations:\n        sidecar.istio.io/nativeSidecar: \"true\"\n" +
			"    spec:\n      restartPolicy: OnFailure",
		check: func(f *Facts, r *Report) {
			policyName := f.Template.Spec.RestartPolicy
			if !f.classic() || policyName == "" || policyName == corev1.RestartPolicyAlways {
				return
			}
			if !f.stop().HoldHook {
				return
			}
			r.at(template("spec", "restartPolicy"),
				"with restartPolicy %s a proxy whose hold hook timed out is never started again", policyName)
		},
	}
}

func initNetwork() Rule {
	return Rule{
		ID: "init-network", Category: Lifecycle, Severity: policy.Warning, Link: linkCNI,
		Summary: "an init container under CNI that may need the network",
		Why: "With Istio's CNI plugin redirection exists before the first init container runs, and the classic proxy " +
			"starts after the last one: until then every connection is refused.",
		Remedy: "run the proxy as a native sidecar, or this init container as user 1337",
		Bad:    "# values: pilot.cni.enabled: true, classic sidecar\ninitContainers:\n- name: migrate\n  image: shop/migrate:1",
		Good: "# values: pilot.cni.enabled: true, classic sidecar\ninitContainers:\n- name: migrate\n  image: shop/migrate:1\n" +
			"  securityContext:\n    runAsUser: 1337",
		check: func(f *Facts, r *Report) {
			if !f.cni() || !f.classic() || f.mode() == "NONE" || !f.redirected() {
				return
			}
			for _, c := range f.inits() {
				if f.bypasses(c.Container) || isNative(c.Container) {
					continue
				}
				if why := needsNetwork(c.Container); why != "" {
					r.at(c.at("name"), "init container %s %s; it runs when redirection exists and the proxy does not, without a network",
						c.Name, why)
				}
			}
		},
	}
}

// bypasses tells whether a container runs as the proxy's user or group.
func (f *Facts) bypasses(c *corev1.Container) bool {
	is := func(id *int64, proxy int64) bool { return id != nil && *id == proxy }
	user, group := (*int64)(nil), (*int64)(nil)
	if s := f.Template.Spec.SecurityContext; s != nil {
		user, group = s.RunAsUser, s.RunAsGroup
	}
	if s := c.SecurityContext; s != nil {
		if s.RunAsUser != nil {
			user = s.RunAsUser
		}
		if s.RunAsGroup != nil {
			group = s.RunAsGroup
		}
	}
	return is(user, f.ProxyUID) || is(group, f.ProxyGID)
}

func poststartHTTP() Rule {
	return Rule{
		ID: "poststart-http", Category: Lifecycle, Severity: policy.Warning, Link: linkHooks,
		Summary: "an HTTP postStart hook, rewritten to an agent that starts later",
		Why: "The hook asks the agent's port while the proxy is still to be started: it fails, and the kubelet kills the " +
			"application and starts it again. With restartPolicy Never it stays dead.",
		Remedy: "use an exec hook, or hold the application until the proxy is ready",
		Bad:    "# classic sidecar, no hold\nlifecycle:\n  postStart:\n    httpGet: {path: /warm, port: 8080}",
		Good:   "# classic sidecar, no hold\nlifecycle:\n  postStart:\n    exec: {command: [/warm]}",
		check: func(f *Facts, r *Report) {
			if !f.classic() || !f.rewrites() || f.proxyFirst() || !f.rewritesHooks() {
				return
			}
			for _, c := range f.apps() {
				if h, kind := postStart(c.Container), ""; h != nil {
					switch {
					case h.HTTPGet != nil:
						kind = "httpGet"
					case h.TCPSocket != nil:
						kind = "tcpSocket"
					default:
						continue
					}
					r.at(c.at("lifecycle", "postStart", kind).key(),
						"the hook of container %s goes to the agent's port, and the proxy starts after this container", c.Name)
				}
			}
		},
	}
}

// rewritesHooks tells whether this Istio sends lifecycle hooks through the agent too (app_probe.go, from 1.25 on).
func (f *Facts) rewritesHooks() bool { return f.Istio.AtLeast(25) }

// proxyFirst tells whether the proxy is the first ordinary container.
func (f *Facts) proxyFirst() bool {
	cs := f.pod().Spec.Containers
	return len(cs) > 0 && cs[0].Name == policy.ContainerProxy
}

func firstWithoutHold() Rule {
	return Rule{
		ID: "first-without-hold", Category: Lifecycle, Severity: policy.Warning, Link: linkProxyConfig,
		Summary: "the proxy is put first by hand, but nothing waits for it",
		Why: "The kubelet starts the next container as soon as the one before has started, not when it is ready; only a " +
			"postStart hook makes it wait. And injection puts the proxy last unless hold is on.",
		Remedy: "set holdApplicationUntilProxyStarts: true in proxy.istio.io/config, which does both",
		Bad:    "containers:\n- name: istio-proxy\n  image: auto\n- name: web\n  image: shop/web:1",
		Good: "metadata:\n  annotations:\n    proxy.istio.io/config: 'holdApplicationUntilProxyStarts: true'\nspec:\n" +
			"  containers:\n  - name: istio-proxy\n    image: auto\n  - name: web\n    image: shop/web:1",
		check: func(f *Facts, r *Report) {
			cs := f.Template.Spec.Containers
			c, native := f.proxy()
			if c == nil || native || len(cs) < 2 || cs[0].Name != policy.ContainerProxy || f.stop().HoldHook ||
				!f.redirected() {
				return
			}
			r.at(template("spec", "containers", "0", "name"), "istio-proxy stands first, but no hook makes the others wait for it")
		},
	}
}

func holdWorkaround() Rule {
	return Rule{
		ID: "hold-workaround", Category: Lifecycle, Severity: policy.Info, Link: linkProxyConfig,
		Summary: "a command that waits for the proxy by itself",
		Why: "Polling the agent's port or sleeping before the start were the ways out before Istio could hold the " +
			"application. They tie the image to the mesh: without a sidecar the poll never ends.",
		Remedy: "start the program directly; a native sidecar or holdApplicationUntilProxyStarts makes it wait",
		Bad:    "command: [sh, -c]\nargs:\n- until curl -fs localhost:15021/healthz/ready; do sleep 1; done; exec /app",
		Good:   "command: [/app]",
		check: func(f *Facts, r *Report) {
			for _, c := range f.apps() {
				if field, how := waitsItself(c.Container); field != "" {
					d := r.at(c.at(field), "container %s %s before it starts", c.Name, how)
					if f.native() {
						d.hint("start the program directly: the native sidecar is ready before this container starts")
					}
				}
			}
		},
	}
}

// waitsItself recognises a command that polls the agent, or sleeps before an exec.
func waitsItself(c *corev1.Container) (field, how string) {
	for _, part := range []struct {
		field string
		words []string
	}{{"command", c.Command}, {"args", c.Args}} {
		text := strings.Join(part.words, " ")
		for _, probe := range []string{":15020", ":15021", ":15000/server_info", " 15020", " 15021"} {
			if strings.Contains(text, probe) && !strings.Contains(text, "quitquitquit") && polls(text) {
				return part.field, "polls the proxy's port"
			}
		}
	}
	all := append(append([]string{}, c.Command...), c.Args...)
	script, ok := shellScript(all)
	if !ok {
		return "", ""
	}
	commands := simpleCommands(all)
	if len(commands) == 2 && base(commands[0][0]) == "sleep" && len(commands[0]) == 2 && sleepTime(commands[0][1:]) > 0 &&
		strings.Contains(script, "exec ") {
		field = "command"
		if len(c.Args) > 0 {
			field = "args"
		}
		return field, "sleeps"
	}
	return "", ""
}

func polls(text string) bool {
	for _, tool := range []string{"curl", "wget", "nc ", "/dev/tcp"} {
		if strings.Contains(text, tool) {
			return true
		}
	}
	return false
}

// redirected tells whether something sets up redirection for the pod; for a gateway nothing does.
func (f *Facts) redirected() bool {
	for _, c := range f.pod().Spec.InitContainers {
		if c.Name == policy.ContainerInit || c.Name == policy.ContainerValidation {
			return true
		}
	}
	return false
}
