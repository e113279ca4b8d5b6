package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parsePath reads key(.key | [*] | .* | ["key.with.dots"])* with an optional @pod or @podspec at its end.
// The empty path with @pod is the object itself, which only the table of Pods uses.
func parsePath(text string) (Path, error) {
	body, suffix, hasSuffix := cutSuffix(text)
	p := Path{}
	switch {
	case !hasSuffix:
	case suffix == "pod":
		p.Shape = Pod
	case suffix == "podspec":
		p.Shape = PodSpec
	default:
		return Path{}, fmt.Errorf("%s ends in @%s, only @pod and @podspec are known", text, suffix)
	}
	for rest := body; rest != ""; {
		s, tail, err := parseSegment(rest, len(p.segments) == 0)
		if err != nil {
			return Path{}, fmt.Errorf("path %s: %w", text, err)
		}
		p.segments, rest = append(p.segments, s), tail
	}
	return p, nil
}

// cutSuffix splits at the last @ that is outside quotes.
func cutSuffix(text string) (body, suffix string, ok bool) {
	quoted := false
	at := -1
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '@' && !quoted:
			at = i
		}
	}
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}

func parseSegment(text string, first bool) (segment, string, error) {
	switch {
	case strings.HasPrefix(text, "[*]"):
		if first {
			return segment{}, "", errors.New("it must start with a key")
		}
		return segment{each: true}, text[len("[*]"):], nil
	case strings.HasPrefix(text, `["`):
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil || !strings.HasPrefix(text[1+len(quoted):], "]") {
			return segment{}, "", errors.New(`a quoted key is written ["key"]`)
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return segment{}, "", errors.New(`a quoted key is written ["key"]`)
		}
		return segment{key: key}, text[len(quoted)+2:], nil
	case text[0] == '[':
		return segment{}, "", errors.New(`brackets hold * or a quoted key, as in tasks[*] or ["a.b"]`)
	}
	if !first {
		if text[0] != '.' {
			return segment{}, "", fmt.Errorf("a dot or bracket is missing before %q", text)
		}
		text = text[1:]
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	key := text[:end]
	switch {
	case key == "":
		return segment{}, "", errors.New("a key is empty")
	case key == "*" && first:
		return segment{}, "", errors.New("it must start with a key")
	case key == "*":
		return segment{values: true}, text[end:], nil
	case strings.ContainsAny(key, "*]\"'@/ \t{}"):
		return segment{}, "", fmt.Errorf(`%q is no plain key; other keys are written ["key"]`, key)
	}
	return segment{key: key}, text[end:], nil
}
