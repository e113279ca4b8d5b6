package lint

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// preStop gives the preStop handler of a container; nil where there is none.
func preStop(c *corev1.Container) *corev1.LifecycleHandler {
	if c == nil || c.Lifecycle == nil {
		return nil
	}
	return c.Lifecycle.PreStop
}

// postStart gives the postStart handler of a container; nil where there is none.
func postStart(c *corev1.Container) *corev1.LifecycleHandler {
	if c == nil || c.Lifecycle == nil {
		return nil
	}
	return c.Lifecycle.PostStart
}

// handlerText joins the command of a handler, for a search in it.
func handlerText(h *corev1.LifecycleHandler) string {
	if h == nil || h.Exec == nil {
		return ""
	}
	return strings.Join(h.Exec.Command, " ")
}

// simpleCommands splits a command into its simple commands: itself, or those of the script behind -c.
func simpleCommands(command []string) [][]string {
	if len(command) == 0 {
		return nil
	}
	script, ok := shellScript(command)
	if !ok {
		return [][]string{command}
	}
	var out [][]string
	for _, part := range strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(";&|\n()", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && slices.Contains([]string{"exec", "then", "do", "{", "else"}, words[0]) {
			words = words[1:]
		}
		for i := range words {
			words[i] = strings.Trim(words[i], `"'`)
		}
		if len(words) > 0 && words[0] != "" {
			out = append(out, words)
		}
	}
	return out
}

// shellScript gives the script of a command like sh -c SCRIPT.
func shellScript(command []string) (string, bool) {
	if len(command) < 3 || !isShell(command[0]) {
		return "", false
	}
	for i, word := range command[1 : len(command)-1] {
		if strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") {
			return command[i+2], true
		}
	}
	return "", false
}

func isShell(word string) bool {
	return slices.Contains([]string{"sh", "bash", "ash", "dash", "busybox"}, base(word))
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// sleepTime adds up the arguments of sleep, with the units of coreutils.
func sleepTime(words []string) time.Duration {
	var sum time.Duration
	for _, w := range words {
		unit := time.Second
		switch {
		case strings.HasSuffix(w, "m"):
			unit = time.Minute
		case strings.HasSuffix(w, "h"):
			unit = time.Hour
		case strings.HasSuffix(w, "d"):
			unit = 24 * time.Hour
		}
		n, err := strconv.ParseFloat(strings.TrimRight(w, "smhd"), 64)
		if err != nil || n < 0 || n > 1e6 {
			return sum
		}
		sum += time.Duration(n * float64(unit))
	}
	return sum
}

// seconds prints a duration as "5s" or "2.5s".
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// mentions tells whether one of the words holds a text.
func mentions(words []string, text string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, text) })
}

func itoa(i int) string { return strconv.Itoa(i) }
