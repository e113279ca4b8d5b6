package print

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// githubShown is how many annotations of one kind GitHub shows for a step.
const githubShown = 10

// GitHub writes findings as workflow commands, which GitHub shows beside the lines they are about: the first ten
// errors, warnings and notices, as it takes no more, and a notice with the number of the rest.
func GitHub(w io.Writer, findings []policy.Finding, o Options) error {
	findings = prepare(findings)
	errors, warnings, infos := countSeverities(findings)
	notices := githubShown
	if errors > githubShown || warnings > githubShown || infos > githubShown {
		notices-- // one place is for the number of the rest
	}
	var b bytes.Buffer
	hidden := 0
	for _, kind := range []struct {
		severity policy.Severity
		room     int
	}{{policy.Error, githubShown}, {policy.Warning, githubShown}, {policy.Info, notices}} {
		for _, f := range findings {
			switch {
			case f.Severity != kind.severity:
			case kind.room == 0:
				hidden++
			default:
				kind.room--
				githubCommand(&b, f, o)
			}
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "::notice::%s not shown here\n", count(hidden, "more finding"))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// githubCommand writes one annotation.
func githubCommand(b *bytes.Buffer, f policy.Finding, o Options) {
	name := f.Severity.String()
	if f.Severity == policy.Info {
		name = "notice"
	}
	var properties []string
	add := func(key, value string) {
		properties = append(properties, key+"="+githubProperty(value))
	}
	if f.Position.File != "" {
		add("file", o.file(f.Position.File))
		addNumber(add, "line", f.Position.Line)
		addNumber(add, "endLine", f.EndLine)
		addNumber(add, "col", f.Position.Column)
	}
	if f.Code != "" {
		add("title", f.Code)
	}
	message := messageAndHint(f)
	if object := objectName(f.Resource); object != "" {
		message = object + ": " + message
	}
	fmt.Fprintf(b, "::%s %s::%s\n", name, strings.Join(properties, ","), githubData(message))
}

func addNumber(add func(key, value string), key string, n int) {
	if n > 0 {
		add(key, fmt.Sprint(n))
	}
}

// githubData escapes a command's message (actions/toolkit, packages/core/src/command.ts).
func githubData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// githubProperty escapes the value of a command's property.
func githubProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// GitHubText writes text that holds words of a manifest to the log of a GitHub step: where a line could be taken for
// a command, commands are stopped around the text with a token that the text cannot know.
func GitHubText(w io.Writer, text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if hasGitHubCommand(text) {
		token := stopToken(text)
		text = "::stop-commands::" + token + "\n" + text + "::" + token + "::\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// hasGitHubCommand finds both forms of a command: "::name" at the start of a line, and the older "##[name]" anywhere.
func hasGitHubCommand(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			return true
		}
	}
	return strings.Contains(text, "\r")
}

// stopToken is a hash of the text, so that the output is the same every time and no text can hold its own.
func stopToken(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "inject-" + hex.EncodeToString(sum[:16])
}
