package template

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/kube-inject/inject/policy"
)

// place matches the head of text/template's errors: "template: NAME:LINE:COLUMN: …", the column only when running.
var place = regexp.MustCompile(`^template: ?([^:]*):(\d+):(?:(\d+):)? ?(?s:(.*))$`)

// finding turns an error of text/template into one with the user's file and line and without Go's words.
func (t *Template) finding(code string, err error, data any) *policy.Finding {
	f := &policy.Finding{Code: code, Severity: policy.Error, Position: t.pos}
	text := err.Error()
	if m := place.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[2])
		f.Position = t.at(line, 0)
		text = m[4]
	}
	f.Message, f.Hint = reword(text)
	// The message about an action without its end names the line where the action starts.
	unclosed := regexp.MustCompile(`^unclosed action(?: started at .*:(\d+))?$`)
	switch m := unclosed.FindStringSubmatch(text); {
	case m != nil:
		if line, err := strconv.Atoi(m[1]); err == nil {
			f.Position = t.at(line, 0)
		}
		f.Message, f.Hint = "the action that starts here with {{ does not end", "close it with }}"
	case text == "unexpected EOF":
		if words, line := unclosedBlock(t.text); line > 0 {
			f.Position = t.at(line, 0)
			f.Message, f.Hint = "{{ "+oneLine(words)+" }} has no {{ end }}", "add {{ end }} where it ends"
		}
	case text == "unexpected {{end}}":
		f.Message, f.Hint = "this {{ end }} closes nothing", "remove it, or add the {{ if }} that it belongs to"
	}
	if code == CodeRender {
		if missing, hint := advise(expression(text), data); missing != "" {
			f.Hint = hint
		}
	}
	if errors.Is(err, errLimit) {
		f.Code = CodeLimit
		f.Message = fmt.Sprintf("the template does not end: more than %d steps or %d bytes", MaxSteps, MaxOutput)
		f.Hint = "look for a range over a huge number or a template that includes itself"
	}
	f.Message = fmt.Sprintf("template %q: %s", t.name, f.Message)
	return f
}

// expression is what text/template was evaluating when it met an error.
func expression(text string) string {
	if m := executing.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// at gives the place in the file of a line of the template.
func (t *Template) at(line, column int) policy.Position {
	p := t.pos
	p.Line += line - 1
	p.Column = column
	return p
}

// reworder rewrites one of text/template's messages: a pattern, the words and the advice in its place.
type reworder struct {
	pattern *regexp.Regexp
	message string
	hint    string
}

var executing = regexp.MustCompile(`^executing "[^"]*" at <(.*?)>: `)

// rewordings is read in order; the first that matches speaks. Groups are those of its pattern; $at is the expression.
func rewordings() []reworder {
	return []reworder{
		{
			regexp.MustCompile(`^function "([^"]+)" not defined$`),
			`function $1 is not available`, "",
		},
		{
			regexp.MustCompile(`can't evaluate field (\S+) in type .*`),
			`$at: there is no $1 here`, newerIstio,
		},
		{
			regexp.MustCompile(`nil pointer evaluating .*\.(\S+)$`),
			`$at: the value that should hold $1 is missing`, "add the missing key to the values file",
		},
		{
			regexp.MustCompile(`error calling index: index of (?:nil pointer|untyped nil)`),
			`$at: the value to look into is missing`, "add the missing key to the values file",
		},
		{
			regexp.MustCompile(`exceeded maximum template depth .*`),
			`$at: templates include each other without end`, "look for a template that includes itself",
		},
		{
			regexp.MustCompile(`error calling (\w+): (incompatible types for comparison).*`),
			`$at: $2`, "numbers of a values file are floating point: compare with 15020.0, or quote both sides",
		},
		{
			regexp.MustCompile(`error calling fail: (?s:(.*))`),
			`$1`, "the template stops on purpose at this place",
		},
		{
			regexp.MustCompile(`(?:wrong type for value; )?expected (\w+); (?:got|found) .*`),
			`$at: expected a $1 here`, "",
		},
		{
			regexp.MustCompile(`error calling (\w+): (?s:(.*))`),
			`$at: $1: $2`, "",
		},
	}
}

// reword says what a message of text/template means, and what to do.
func reword(text string) (message, hint string) {
	at := ""
	if m := executing.FindStringSubmatch(text); m != nil {
		at = m[1]
		text = text[len(m[0]):]
	}
	for _, r := range rewordings() {
		loc := r.pattern.FindStringSubmatchIndex(text)
		if loc == nil {
			continue
		}
		message = string(r.pattern.ExpandString(nil, strings.ReplaceAll(r.message, "$at", "\x00"), text, loc))
		hint = r.hint
		if name, ok := strings.CutPrefix(message, "function "); ok && hint == "" {
			message, hint = unavailable(strings.TrimSuffix(name, " is not available"))
		}
		return oneLine(strings.TrimPrefix(strings.ReplaceAll(message, "\x00", at), ": ")), hint
	}
	if at != "" {
		return oneLine(at + ": " + text), ""
	}
	return oneLine(text), ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// explainMissing renders once more with a check behind every printed action, to name the one that has no value.
// It gives nil where the words come from the data themselves.
func (t *Template) explainMissing(data any) *policy.Finding {
	funcs := FuncMap{"_value": func(line int, expr string, v reflect.Value) (reflect.Value, error) {
		if !v.IsValid() || printsNothing(v) {
			return v, missingValue{line, expr}
		}
		return v, nil
	}}
	again, err := template.New(t.name).Funcs(t.funcs).Funcs(funcs).Parse(t.text)
	if err != nil {
		return nil
	}
	for _, sub := range again.Templates() {
		if sub.Tree != nil {
			t.checkActions(sub.Tree)
		}
	}
	var gone missingValue
	if err := again.Execute(&bounded{}, data); !errors.As(err, &gone) {
		return nil
	}
	f := &policy.Finding{
		Code: CodeValue, Severity: policy.Error, Position: t.at(gone.line, 0),
		Message: fmt.Sprintf("template %q: %s has no value", t.name, gone.expr),
		Hint:    "give the template a default",
	}
	if missing, hint := advise(gone.expr, data); missing != "" {
		if missing != gone.expr {
			f.Message += ": there is no " + missing
		}
		f.Hint = hint
	}
	return f
}

func printsNothing(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() && v.Kind() != reflect.Map && v.Kind() != reflect.Slice {
			return true
		}
	}
	if !v.CanInterface() {
		return false
	}
	return missing([]byte(fmt.Sprint(v.Interface())))
}

type missingValue struct {
	line int
	expr string
}

func (m missingValue) Error() string { return m.expr }

// checkActions pipes the value of each printing action through _value.
func (t *Template) checkActions(tree *parse.Tree) {
	walk(tree.Root, func(n parse.Node) {
		a, ok := n.(*parse.ActionNode)
		if !ok || len(a.Pipe.Decl) > 0 {
			return
		}
		expr := a.Pipe.String()
		a.Pipe.Cmds = append(a.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: a.Pos, Args: []parse.Node{
			parse.NewIdentifier("_value").SetPos(a.Pos).SetTree(tree),
			&parse.NumberNode{NodeType: parse.NodeNumber, Pos: a.Pos, IsInt: true, Int64: int64(a.Line), Text: strconv.Itoa(a.Line)},
			&parse.StringNode{NodeType: parse.NodeString, Pos: a.Pos, Quoted: strconv.Quote(expr), Text: expr},
		}})
	})
}
