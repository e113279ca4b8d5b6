package transform

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// ignoreComment is what a suppression in a comment starts with.
const ignoreComment = "inject:ignore"

// suppression is one wish not to hear of a rule.
type suppression struct {
	rule string
	at   policy.Position
	// from and to are the lines of the file that it covers; zero for one that covers an object.
	from, to int
	resource policy.Resource
	used     bool
}

// suppressions are those of a document.
type suppressions struct {
	linter   *Linter
	document int
	comments []*suppression
	// object are those of the object at hand; left those of objects that are done.
	object, left []*suppression
	findings     []policy.Finding
}

// suppressions reads the comments of a document that holds something to lint.
func (l *Linter) suppressions(p *manifest.Parsed, found workload.Found) *suppressions {
	s := &suppressions{linter: l, document: p.Doc.Index}
	if !bytes.Contains(p.Doc.Raw, []byte(ignoreComment)) {
		return s
	}
	if !found.HasTemplates() && !slices.ContainsFunc(found.Objects, func(o workload.Object) bool { return o.Resource.Kind == "Namespace" }) {
		return s
	}
	lines := strings.Split(string(p.Doc.Raw), "\n")
	for i, line := range lines {
		at, rest, ok := cutComment(line)
		if !ok {
			continue
		}
		target := i
		if strings.TrimSpace(line[:at]) == "" {
			for target++; target < len(lines) && skipped(lines[target]); target++ {
			}
		}
		pos := policy.Position{File: p.Doc.File, Line: p.Doc.Line + i, Column: len([]rune(line[:at])) + 1}
		from := p.Doc.Line + target
		to := p.Doc.Line + extent(p.Root, target+1) - 1
		for _, rule := range s.rules(rest, pos, policy.Resource{}) {
			s.comments = append(s.comments, &suppression{rule: rule, at: pos, from: from, to: max(from, to)})
		}
	}
	return s
}

// skipped tells whether a line is blank or a comment.
func skipped(line string) bool {
	text := strings.TrimSpace(line)
	return text == "" || text[0] == '#'
}

// cutComment finds "# inject:ignore" in a line, as the start of a comment; rest is what follows.
func cutComment(line string) (at int, rest string, ok bool) {
	i := strings.Index(line, ignoreComment)
	if i < 0 {
		return 0, "", false
	}
	hash := strings.TrimRight(line[:i], " \t")
	if !strings.HasSuffix(hash, "#") {
		return 0, "", false
	}
	at = len(hash) - 1
	if at > 0 && line[at-1] != ' ' && line[at-1] != '\t' {
		return 0, "", false
	}
	rest = line[i+len(ignoreComment):]
	return at, rest, rest == "" || strings.ContainsAny(rest[:1], " \t\r")
}

// extent gives the last line of what starts on a line: the outermost field or list item that does. Lines count from 1
// within the document.
func extent(n *yaml.Node, line int) int {
	if n == nil {
		return line
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			continue
		}
		value := c
		if n.Kind == yaml.MappingNode && i+1 < len(n.Content) {
			value = n.Content[i+1]
		}
		switch {
		case c.Line == line:
			return lastLine(value)
		case value.Kind != yaml.AliasNode:
			if last := extent(value, line); last > line {
				return last
			}
		}
	}
	return line
}

// lastLine is the last line on which something of a node stands.
func lastLine(n *yaml.Node) int {
	last := n.Line
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		last += strings.Count(n.Value, "\n")
	}
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// rules reads the names in front of the reason and files a finding for each that is unknown.
func (s *suppressions) rules(text string, at policy.Position, res policy.Resource) []string {
	words := strings.Fields(text)
	var names, out []string
	for i, w := range words {
		more := strings.HasSuffix(w, ",")
		for n := range strings.SplitSeq(w, ",") {
			if n != "" {
				names = append(names, n)
			}
		}
		if !more && !(i+1 < len(words) && strings.HasPrefix(words[i+1], ",")) {
			break
		}
	}
	if len(names) == 0 {
		s.file(lint.UnknownSuppression, at, res, "the suppression names no rule, so it hides nothing", "")
	}
	for _, n := range names {
		if s.linter.known[n] {
			out = append(out, n)
			continue
		}
		hint := ""
		if _, err := lint.Find(lint.Rules(), n); err != nil {
			hint = err.Error()
		}
		s.file(lint.UnknownSuppression, at, res, fmt.Sprintf("the suppression names %q, which is no rule", n), hint)
	}
	return out
}

// annotation takes the suppressions of the annotation on an object; they hold until leave.
func (s *suppressions) annotation(res policy.Resource, annotations map[string]string, at func(string) policy.Position) {
	text, ok := annotations[policy.AnnotationLintIgnore]
	if !ok {
		return
	}
	pos := at(policy.AnnotationLintIgnore)
	list := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }), ",")
	for _, rule := range s.rules(list, pos, res) {
		s.object = append(s.object, &suppression{rule: rule, at: pos, resource: res})
	}
}

// leave ends the object at hand.
func (s *suppressions) leave() {
	s.left = append(s.left, s.object...)
	s.object = nil
}

// apply takes away the findings that are suppressed.
func (s *suppressions) apply(fs []policy.Finding) []policy.Finding {
	if len(s.comments)+len(s.object) == 0 {
		return fs
	}
	return slices.DeleteFunc(fs, func(f policy.Finding) bool {
		hidden := false
		for _, x := range s.object {
			if x.rule == f.Code {
				x.used, hidden = true, true
			}
		}
		for _, x := range s.comments {
			if x.rule == f.Code && f.Position.File == x.at.File && x.from <= f.Position.Line && f.Position.Line <= x.to {
				x.used, hidden = true, true
			}
		}
		return hidden
	})
}

// rest gives the findings about suppressions themselves. One of a rule that is switched off may be of use another time.
func (s *suppressions) rest() []policy.Finding {
	for _, x := range slices.Concat(s.comments, s.left) {
		if _, on := s.linter.active[x.rule]; !x.used && on {
			s.file(lint.UnusedSuppression, x.at, x.resource, "nothing here to hide from "+x.rule, "")
		}
	}
	return s.findings
}

func (s *suppressions) file(rule string, at policy.Position, res policy.Resource, message, hint string) {
	r, on := s.linter.active[rule]
	if !on {
		return
	}
	if hint == "" {
		hint = r.Remedy
	}
	s.findings = append(s.findings, policy.Finding{
		Code: rule, Severity: r.Severity, Position: at, Document: s.document, Resource: res, Message: message, Hint: hint,
	})
}
