package lifecycle

import (
	"math"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

// hook is a lifecycle hook as the model sees it.
type hook struct {
	set bool
	// duration is the time outside of wait and drain.
	duration time.Duration
	// wait is a `pilot-agent wait` in the command.
	wait *waitCall
	// drain is a `pilot-agent request … drain` in the command, called at drainAt.
	drain   *drainCall
	drainAt time.Duration
	// statusPort says that the hook asks the agent's status port: an HTTP hook that injection rewrote.
	statusPort bool
}

// waitCall holds the flags of `pilot-agent wait` (Istio, pilot/cmd/pilot-agent/app/wait.go, 1.7 to 1.30). Its
// requestTimeoutMillis is checked but changes no time: a port that is not ready refuses at once.
type waitCall struct {
	period, timeout time.Duration
	asks            waitTarget
	broken          bool // the flags do not parse, the command fails at once
}

// waitTarget is what the wait's --url asks.
type waitTarget int

const (
	asksProxy  waitTarget = iota // readiness of the proxy
	asksOther                    // something that is not this proxy and answers
	asksNobody                   // a local port that nobody serves before the apps start
)

// drainCall holds the flags of `pilot-agent request … drain` (Istio, pilot/cmd/pilot-agent/app/request.go, 1.30).
type drainCall struct {
	port   int
	method string
}

// reaches tells whether the call gets to the agent's /drain: the command knows four ports, the agent listens on one,
// takes POST only, and has the endpoint from 1.20 on.
func (d *drainCall) reaches(statusPort int, istio Version) bool {
	switch d.port {
	case policy.PortProxyAdmin, policy.PortDebug, policy.PortTelemetry, policy.PortHealth:
		return d.port == statusPort && d.method == "POST" && istio.AtLeast(20)
	}
	return false
}

// readHook measures h; name is what --hook calls it.
func readHook(h *corev1.LifecycleHandler, name string, o *Options, statusPort int) hook {
	if h == nil {
		return hook{}
	}
	out := hook{set: true}
	given, known := o.Hooks[name]
	switch {
	case h.Exec != nil:
		out.readCommand(h.Exec.Command)
	case h.Sleep != nil && o.Kubernetes.AtLeast(30): // before, the field is dropped (KEP-3960)
		out.duration = clamp(float64(h.Sleep.Seconds))
	case h.HTTPGet != nil:
		out.statusPort = h.HTTPGet.Port.IntValue() == statusPort && statusPort != 0
	}
	if known && out.wait == nil && out.drain == nil {
		out.duration = given
	}
	return out
}

// readCommand takes the command apart, also inside `sh -c`. A loop may run any number of times: it counts as unknown.
func (h *hook) readCommand(command []string) {
	for _, words := range simpleCommands(command) {
		switch {
		case isLoop(words[0]):
			h.duration = 0
			return
		case base(words[0]) == "sleep":
			h.duration += sleepTime(words[1:])
		case base(words[0]) == "pilot-agent" && len(words) > 1 && words[1] == "wait":
			w := readWait(words[2:])
			h.wait = &w
		case base(words[0]) == "pilot-agent" && len(words) > 2 && words[1] == "request" && words[len(words)-1] == "drain":
			d := readDrain(words[2:])
			h.drain, h.drainAt = &d, h.duration
		}
	}
}

// simpleCommands splits a command into its simple commands: itself, or those of the script after -c.
func simpleCommands(command []string) [][]string {
	if len(command) == 0 {
		return nil
	}
	if len(command) < 3 || !isShell(command[0]) {
		return [][]string{command}
	}
	script := ""
	for i, word := range command[1 : len(command)-1] {
		if strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") {
			script = command[i+2]
			break
		}
	}
	var out [][]string
	separator := func(r rune) bool { return strings.ContainsRune(";&|\n()", r) }
	for _, part := range strings.FieldsFunc(script, separator) {
		words := strings.Fields(part)
		for len(words) > 0 && (words[0] == "exec" || words[0] == "then" || words[0] == "do" || words[0] == "{") {
			words = words[1:]
		}
		for i := range words {
			words[i] = strings.Trim(words[i], `"'`)
		}
		if len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

func isShell(word string) bool {
	switch base(word) {
	case "sh", "bash", "ash", "dash", "busybox":
		return true
	}
	return false
}

func isLoop(word string) bool { return word == "while" || word == "until" || word == "for" }

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// sleepTime adds up the arguments of sleep; coreutils and busybox take fractions and the units s, m, h, d.
func sleepTime(words []string) time.Duration {
	var sum time.Duration
	for _, w := range words {
		unit := 1.0
		switch {
		case strings.HasSuffix(w, "m"):
			unit = 60
		case strings.HasSuffix(w, "h"):
			unit = 3600
		case strings.HasSuffix(w, "d"):
			unit = 86400
		}
		n, err := strconv.ParseFloat(strings.TrimRight(w, "smhd"), 64)
		if err != nil {
			return sum
		}
		sum = min(Never, sum+clamp(n*unit))
	}
	return sum
}

// clamp makes seconds a duration between nothing and [Never]; NaN is nothing.
func clamp(s float64) time.Duration {
	switch {
	case !(s > 0):
		return 0
	case s >= seconds(Never):
		return Never
	default:
		return time.Duration(math.Round(s*1000)) * time.Millisecond
	}
}

// flagPairs reads cobra's "--name value" and "--name=value"; the rest comes back as words.
func flagPairs(words []string) (flags map[string]string, rest []string) {
	flags = map[string]string{}
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "--") {
			rest = append(rest, words[i])
			continue
		}
		if !joined && i+1 < len(words) {
			i++
			value = words[i]
		}
		flags[strings.TrimLeft(name, "-")] = value
	}
	return flags, rest
}

func readWait(words []string) waitCall {
	w := waitCall{period: 500 * time.Millisecond, timeout: time.Minute}
	flags, _ := flagPairs(words)
	for name, value := range flags {
		n, err := strconv.Atoi(value)
		switch name {
		case "timeoutSeconds":
			w.timeout = clamp(float64(n))
		case "periodMillis":
			w.period = clamp(float64(n) / 1000)
		case "requestTimeoutMillis": // see waitCall
		case "url":
			err = nil
			w.asks = targetOf(value)
		default: // log flags of the agent's root command
			err = nil
		}
		w.broken = w.broken || err != nil
	}
	return w
}

// targetOf says whom an URL asks: the readiness of this pod's proxy, a local port, or somebody else.
func targetOf(url string) waitTarget {
	_, rest, _ := strings.Cut(url, "://")
	address, path, _ := strings.Cut(rest, "/")
	host, port := address, ""
	if i := strings.LastIndexByte(address, ':'); i > strings.LastIndexByte(address, ']') {
		host, port = address[:i], address[i+1:]
	}
	switch host {
	case "localhost", "127.0.0.1", "[::1]", "0.0.0.0":
	default:
		return asksOther
	}
	switch port {
	case strconv.Itoa(policy.PortHealth), strconv.Itoa(policy.PortTelemetry):
		if strings.HasPrefix(path, "healthz/ready") {
			return asksProxy
		}
	case strconv.Itoa(policy.PortProxyAdmin):
		return asksProxy
	}
	return asksNobody
}

func readDrain(words []string) drainCall {
	flags, rest := flagPairs(words)
	d := drainCall{port: policy.PortProxyAdmin}
	if text, ok := flags["debug-port"]; ok {
		d.port, _ = strconv.Atoi(text)
	}
	if len(rest) > 0 {
		d.method = rest[0]
	}
	return d
}

// looks gives when the wait succeeds for a proxy that is ready after ready, and whether it does before its timeout;
// else the time at which it fails. A look at the very moment of the timeout may be lost, so it counts as lost.
func (w *waitCall) looks(ready time.Duration) (after time.Duration, ok bool) {
	if w.broken {
		return 0, false
	}
	switch w.asks {
	case asksOther:
		ready = 0
	case asksNobody:
		ready = Never
	}
	at := max(ready, w.period)
	if w.period > 0 && at < Never {
		at = (at + w.period - 1) / w.period * w.period
	}
	if at >= w.timeout {
		return w.timeout, false
	}
	return at, true
}
