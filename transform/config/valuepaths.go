package config

import (
	"strings"
	tmpl "text/template/parse"
)

// valuePaths lists the paths below .Values that a template reads, dotted. A path stands for all below it. Variables and
// with-blocks that stand for a part of the values are followed, so that {{ $g := .Values.global }} alone reads nothing.
// A text that does not parse reads nothing.
func valuePaths(text string) []string {
	trees := map[string]*tmpl.Tree{}
	root := tmpl.New("")
	root.Mode = tmpl.SkipFuncCheck
	if _, err := root.Parse(text, "", "", trees); err != nil {
		return nil
	}
	w := pathWalker{trees: trees, vars: map[string]*string{}, foreign: new(string), seen: map[string]bool{}}
	if root.Root != nil {
		w.list(root.Root, nil)
	}
	return w.paths
}

// pathWalker goes through a template; a path is nil where it is not known to be a part of the values.
type pathWalker struct {
	trees map[string]*tmpl.Tree
	vars  map[string]*string
	// foreign is the dot inside of a range: neither the template's data nor a path.
	foreign *string
	paths   []string
	seen    map[string]bool
	depth   int
}

func (w *pathWalker) reads(path *string) {
	if path != nil && !w.seen[*path] {
		w.seen[*path] = true
		w.paths = append(w.paths, *path)
	}
}

// list visits nodes with dot standing for a path of the values, or nil for the template's data.
func (w *pathWalker) list(l *tmpl.ListNode, dot *string) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *tmpl.ActionNode:
			w.pipe(n.Pipe, dot)
		case *tmpl.IfNode:
			w.pipe(n.Pipe, dot)
			w.list(n.List, dot)
			w.list(n.ElseList, dot)
		case *tmpl.WithNode:
			inner := w.bound(n.Pipe, dot)
			if inner == nil {
				w.pipe(n.Pipe, dot)
				inner = dot
			}
			w.list(n.List, inner)
			w.list(n.ElseList, dot)
		case *tmpl.RangeNode:
			w.pipe(n.Pipe, dot)
			if p := w.bound(n.Pipe, dot); p != nil {
				w.reads(p)
			}
			w.list(n.List, w.foreign)
			w.list(n.ElseList, dot)
		case *tmpl.TemplateNode:
			w.call(n, dot)
		}
	}
}

// call visits a named template with what it is given.
func (w *pathWalker) call(n *tmpl.TemplateNode, dot *string) {
	inner := dot
	if n.Pipe != nil {
		if p := w.bound(n.Pipe, dot); p != nil {
			inner = p
		} else if !isDot(n.Pipe) {
			w.pipe(n.Pipe, dot)
			inner = nil
		}
	}
	if t := w.trees[n.Name]; t != nil && t.Root != nil && w.depth < 16 {
		w.depth++
		w.list(t.Root, inner)
		w.depth--
	}
}

func isDot(p *tmpl.PipeNode) bool {
	if len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return false
	}
	switch a := p.Cmds[0].Args[0].(type) {
	case *tmpl.DotNode:
		return true
	case *tmpl.VariableNode:
		return len(a.Ident) == 1 && a.Ident[0] == "$"
	}
	return false
}

// bound gives the path that a pipe of one plain reference stands for; nil for anything else.
func (w *pathWalker) bound(p *tmpl.PipeNode, dot *string) *string {
	if p == nil || len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return nil
	}
	return w.path(p.Cmds[0].Args[0], dot)
}

// pipe notes what a pipe reads; one that only names a part of the values binds the variable it declares.
func (w *pathWalker) pipe(p *tmpl.PipeNode, dot *string) {
	if p == nil {
		return
	}
	if len(p.Decl) == 1 {
		if path := w.bound(p, dot); path != nil {
			w.vars[p.Decl[0].Ident[0]] = path
			return
		}
		delete(w.vars, p.Decl[0].Ident[0])
	}
	for _, c := range p.Cmds {
		if path := w.indexed(c, dot); path != nil {
			w.reads(path)
			continue
		}
		for _, a := range c.Args {
			w.arg(a, dot)
		}
	}
}

func (w *pathWalker) arg(a tmpl.Node, dot *string) {
	if path := w.path(a, dot); path != nil {
		w.reads(path)
		return
	}
	switch a := a.(type) {
	case *tmpl.PipeNode:
		w.pipe(a, dot)
	case *tmpl.ChainNode:
		w.arg(a.Node, dot)
	}
}

// path gives the part of the values that a node names; nil where it names something else.
func (w *pathWalker) path(a tmpl.Node, dot *string) *string {
	join := func(base string, rest []string) *string {
		s := strings.TrimPrefix(base+"."+strings.Join(rest, "."), ".")
		s = strings.TrimSuffix(s, ".")
		return &s
	}
	switch a := a.(type) {
	case *tmpl.DotNode:
		if dot == w.foreign {
			return nil
		}
		return dot
	case *tmpl.FieldNode:
		if dot == w.foreign {
			return nil
		}
		if dot != nil {
			return join(*dot, a.Ident)
		}
		if a.Ident[0] == "Values" {
			return join("", a.Ident[1:])
		}
	case *tmpl.VariableNode:
		if base, ok := w.vars[a.Ident[0]]; ok && base != nil {
			return join(*base, a.Ident[1:])
		}
		if a.Ident[0] == "$" && len(a.Ident) > 1 && a.Ident[1] == "Values" {
			return join("", a.Ident[2:])
		}
	case *tmpl.ChainNode:
		if base := w.inner(a.Node, dot); base != nil {
			return join(*base, a.Field)
		}
	}
	return nil
}

// inner is the path in the brackets of (.Values.a).b.
func (w *pathWalker) inner(n tmpl.Node, dot *string) *string {
	if p, ok := n.(*tmpl.PipeNode); ok {
		return w.bound(p, dot)
	}
	return w.path(n, dot)
}

// indexed is the path of index .Values "a" "b".
func (w *pathWalker) indexed(c *tmpl.CommandNode, dot *string) *string {
	if len(c.Args) < 3 {
		return nil
	}
	if id, ok := c.Args[0].(*tmpl.IdentifierNode); !ok || id.Ident != "index" {
		return nil
	}
	base := w.path(c.Args[1], dot)
	if base == nil {
		return nil
	}
	out := *base
	for _, a := range c.Args[2:] {
		s, ok := a.(*tmpl.StringNode)
		if !ok {
			break
		}
		out = strings.TrimPrefix(out+"."+s.Text, ".")
	}
	return &out
}
