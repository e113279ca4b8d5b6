package template

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/kube-inject/inject/policy"
)

// FuncMap maps function names to functions, as text/template takes them.
type FuncMap = template.FuncMap

// Limits of one rendering. They are far above what a real template needs: Istio's sidecar writes 8 KB in 600 steps.
const (
	// MaxOutput is the most bytes that one rendering may write.
	MaxOutput = 4 << 20
	// MaxSteps is the most actions, texts and loop rounds that one rendering may run.
	MaxSteps = 1 << 20
)

// Codes of the findings of this package.
const (
	CodeParse  = "E_TEMPLATE_PARSE"
	CodeRender = "E_TEMPLATE_RUN"
	CodeLimit  = "E_TEMPLATE_LIMIT"
	CodeValue  = "E_TEMPLATE_VALUE"
)

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	name    string
	text    string
	pos     policy.Position
	funcs   FuncMap
	parsed  *template.Template
	mutates bool
}

// Parse reads the template called name. Pos is where its first line stands (the line of the file, counted from 1),
// so that findings point into the user's file; funcs are all functions that it may call besides those of
// text/template itself. A finding says what does not parse, or which function is not available and why.
func Parse(name, text string, pos policy.Position, funcs FuncMap) (*Template, *policy.Finding) {
	parsed, err := template.New(name).Funcs(funcs).Parse(text)
	t := &Template{name: name, text: text, pos: pos, funcs: funcs, parsed: parsed}
	if err != nil {
		return nil, t.finding(CodeParse, err, nil)
	}
	for _, sub := range parsed.Templates() {
		if sub.Tree == nil {
			continue
		}
		countSteps(sub.Tree.Root)
		t.mutates = t.mutates || calls(sub.Tree.Root, mutators)
	}
	return t, nil
}

// Name gives the template's name.
func (t *Template) Name() string { return t.name }

// Mutates tells whether the template calls a function that writes into its data (sprig's set, unset, merge …), so
// that each rendering needs a copy of its own.
func (t *Template) Mutates() bool { return t.mutates }

// Render runs the template on data. The finding, if any, names the line and, where a value is missing, its key:
// output that holds "<no value>" or "<nil>" is refused, because no field of a pod wants those words.
func (t *Template) Render(data any) ([]byte, *policy.Finding) {
	var out bounded
	out.buf.Grow(16 << 10)
	if err := t.parsed.Execute(&out, data); err != nil {
		return nil, t.finding(CodeRender, err, data)
	}
	text := out.buf.Bytes()
	if missing(text) {
		if f := t.explainMissing(data); f != nil {
			return nil, f
		}
	}
	return text, nil
}

// RenderRaw is Render without the check for missing values; the tests of single functions need it.
func (t *Template) RenderRaw(data any) ([]byte, error) {
	var out bounded
	err := t.parsed.Execute(&out, data)
	return out.buf.Bytes(), err
}

func missing(text []byte) bool {
	return bytes.Contains(text, []byte("<no value>")) || bytes.Contains(text, []byte("<nil>"))
}

var errLimit = errors.New("the template writes without end")

// bounded collects output and counts writes; text/template writes once for each text and each printed action.
type bounded struct {
	buf   bytes.Buffer
	steps int
}

// Write appends p, or fails beyond one of the limits.
func (b *bounded) Write(p []byte) (int, error) {
	b.steps++
	if b.steps > MaxSteps || b.buf.Len()+len(p) > MaxOutput {
		return 0, errLimit
	}
	return b.buf.Write(p)
}

// countSteps puts an action that prints nothing into each loop body, and into each template that includes others, so
// that an empty loop or a recursion counts too.
func countSteps(list *parse.ListNode) {
	includes := false
	walk(list, func(n parse.Node) {
		switch n := n.(type) {
		case *parse.RangeNode:
			if n.List != nil {
				n.List.Nodes = slices.Insert(n.List.Nodes, 0, emptyAction(n.Pos))
			}
		case *parse.TemplateNode:
			includes = true
		}
	})
	if includes && list != nil && len(list.Nodes) > 0 {
		list.Nodes = slices.Insert(list.Nodes, 0, emptyAction(list.Pos))
	}
}

// emptyAction is {{ "" }}: it writes nothing, but it writes.
func emptyAction(pos parse.Pos) parse.Node {
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: &parse.PipeNode{
		NodeType: parse.NodePipe, Pos: pos,
		Cmds: []*parse.CommandNode{{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{
			&parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: `""`},
		}}},
	}}
}

// walk visits every node below list.
func walk(list *parse.ListNode, visit func(parse.Node)) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		visit(n)
		switch n := n.(type) {
		case *parse.IfNode:
			walkBranch(&n.BranchNode, visit)
		case *parse.RangeNode:
			walkBranch(&n.BranchNode, visit)
		case *parse.WithNode:
			walkBranch(&n.BranchNode, visit)
		case *parse.ActionNode:
			walkPipe(n.Pipe, visit)
		case *parse.TemplateNode:
			walkPipe(n.Pipe, visit)
		}
	}
}

func walkBranch(b *parse.BranchNode, visit func(parse.Node)) {
	walkPipe(b.Pipe, visit)
	walk(b.List, visit)
	walk(b.ElseList, visit)
}

func walkPipe(p *parse.PipeNode, visit func(parse.Node)) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		for _, a := range c.Args {
			visit(a)
			switch a := a.(type) {
			case *parse.PipeNode:
				walkPipe(a, visit)
			case *parse.ChainNode:
				if inner, ok := a.Node.(*parse.PipeNode); ok {
					walkPipe(inner, visit)
				}
			}
		}
	}
}

// mutators are the functions that change the maps they are given (sprig 3.3.0, dict.go).
var mutators = []string{"set", "unset", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"}

func calls(list *parse.ListNode, names []string) bool {
	found := false
	walk(list, func(n parse.Node) {
		if id, ok := n.(*parse.IdentifierNode); ok && slices.Contains(names, id.Ident) {
			found = true
		}
	})
	return found
}

// Calls gives the names of the functions and the top-level data (such as .NativeSidecars) that text uses, sorted;
// a text that does not parse with the given functions gives none.
func Calls(text string, funcs FuncMap) []string {
	t, err := template.New("").Funcs(funcs).Parse(text)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, sub := range t.Templates() {
		if sub.Tree == nil {
			continue
		}
		walk(sub.Tree.Root, func(n parse.Node) {
			switch n := n.(type) {
			case *parse.IdentifierNode:
				seen[n.Ident] = true
			case *parse.FieldNode:
				seen["."+strings.Join(n.Ident, ".")] = true
			}
		})
	}
	return slices.Sorted(maps.Keys(seen))
}
