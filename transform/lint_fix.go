package transform

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/policy/lint"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
)

// Fixed is what fixing made of documents.
type Fixed struct {
	// Docs are the documents with the fixes in them; joined they are the new text of their files.
	Docs []manifest.Document
	// Mended are the findings that are gone, sorted; Rest is what linting finds now.
	Mended []policy.Finding
	Rest   Linted
	// Problems say why a fix could not be written.
	Problems []policy.Finding
}

// maxRounds bounds how often fixing looks again: a fix may bring another finding that can be fixed.
const maxRounds = 8

// Fix mends the findings that have a fix and lints again. A fix that does not make its finding go away is taken back.
func (l *Linter) Fix(docs []manifest.Document) Fixed {
	out := Fixed{Docs: docs, Rest: l.Lint(docs)}
	given := map[string]bool{}
	for range maxRounds {
		todo := slices.DeleteFunc(slices.Clone(out.Rest.Findings), func(f policy.Finding) bool {
			return f.Fix == nil || f.Document == 0 || given[identity(f)]
		})
		if len(todo) == 0 {
			break
		}
		next, problems := l.fixRound(out.Docs, todo)
		out.Problems = append(out.Problems, problems...)
		after := l.Lint(next)
		left := map[string]bool{}
		for _, f := range after.Findings {
			left[identity(f)] = true
		}
		gone := 0
		for _, f := range todo {
			switch {
			case left[identity(f)]:
				// Another round may still reach it, where this one had to do something else first.
			default:
				out.Mended = append(out.Mended, f)
				gone++
			}
		}
		if gone == 0 {
			for _, f := range todo {
				given[identity(f)] = true
			}
			continue
		}
		out.Docs, out.Rest = next, after
	}
	out.Mended = policy.SortFindings(out.Mended)
	out.Problems = policy.SortFindings(out.Problems)
	return out
}

// FixConfig gives the text of a file of the configuration with the fixes of findings about it, and those findings. The
// text is the one given where there is none, or where it cannot be edited in place.
func FixConfig(name string, text []byte, fs []policy.Finding) (fixed []byte, mended, problems []policy.Finding) {
	for _, f := range fs {
		if f.Fix != nil && f.Document == 0 && f.Position.File == name {
			mended = append(mended, f)
		}
	}
	p := parseOne(name, text)
	if len(mended) == 0 || p == nil {
		return text, nil, nil
	}
	for _, f := range mended {
		for _, e := range f.Fix.Edits {
			// A file that holds its values in another form, such as a ConfigMap, has no such place.
			if len(e.Path) < 2 || p.Get(pathOf(p.Root, e.Path[:1])) == nil {
				return text, nil, nil
			}
		}
	}
	res, problems := manifest.Options{NoReencode: true}.Apply(p, changes(p, mended))
	if policy.HasErrors(problems) {
		return text, nil, problems
	}
	return res.Raw, mended, nil
}

// identity tells findings apart but for their lines, which move.
func identity(f policy.Finding) string {
	return strings.Join([]string{f.Code, f.Position.File, strconv.Itoa(f.Document), f.Resource.String(), f.Field, f.Message}, "\x00")
}

// fixRound writes fixes that do not touch each other.
func (l *Linter) fixRound(docs []manifest.Document, todo []policy.Finding) ([]manifest.Document, []policy.Finding) {
	var problems []policy.Finding
	raw := make([][]byte, len(docs))
	changed := map[string]bool{}
	for i, d := range docs {
		raw[i] = d.Raw
		var mine []policy.Finding
		for _, f := range todo {
			if f.Position.File == d.File && f.Document == d.Index && d.Index > 0 {
				mine = append(mine, f)
			}
		}
		if len(mine) == 0 {
			continue
		}
		text, fs := l.fixDocument(d, mine)
		problems = append(problems, fs...)
		if text != nil && !bytes.Equal(text, d.Raw) {
			raw[i] = text
			changed[d.File] = true
		}
	}
	return rejoin(docs, raw, changed), problems
}

// rejoin splits changed files anew, since lines have moved.
func rejoin(docs []manifest.Document, raw [][]byte, changed map[string]bool) []manifest.Document {
	var out []manifest.Document
	for i := 0; i < len(docs); {
		file := docs[i].File
		var text []byte
		end := i
		for ; end < len(docs) && docs[end].File == file; end++ {
			text = append(text, raw[end]...)
		}
		if changed[file] {
			split, _ := manifest.Split(file, text)
			out = append(out, split...)
		} else {
			out = append(out, docs[i:end]...)
		}
		i = end
	}
	return out
}

// fixDocument gives the document's bytes with the fixes in them; nil where nothing can be done.
func (l *Linter) fixDocument(d manifest.Document, fs []policy.Finding) ([]byte, []policy.Finding) {
	for _, f := range fs {
		if f.Fix.Summary == lint.FixInject {
			r := l.Injector.Document(d)
			if r.Failed() {
				return nil, policy.Errors(r.Findings)
			}
			return r.Raw, nil
		}
	}
	parsed, problems := d.Parse()
	if parsed == nil {
		return nil, problems
	}
	if text, ok := renames(parsed, fs); ok {
		return text, nil
	}
	res, problems := manifest.Options{NoReencode: true}.Apply(parsed, changes(parsed, fs))
	if policy.HasErrors(problems) {
		return nil, problems
	}
	return withComments(parsed, fs, res), nil
}

// withComments gives the new text with the comments that stood behind fields which moved.
func withComments(before *manifest.Parsed, fs []policy.Finding, res manifest.Result) []byte {
	text := res.Raw
	for _, f := range fs {
		comment, to := movedComment(before, f.Fix)
		if comment == "" {
			continue
		}
		p := parseOne(before.Doc.File, text)
		if p == nil {
			return text
		}
		key := manifest.KeyNode(p.Get(pathOf(p.Root, to[:len(to)-1])), to[len(to)-1])
		value := p.Get(pathOf(p.Root, to))
		if key == nil || value == nil || value.Line != key.Line || value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			continue
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		line := bytes.TrimRight(lines[key.Line-1], "\r\n")
		if bytes.Contains(line, []byte(" #")) {
			continue
		}
		end := lines[key.Line-1][len(line):]
		lines[key.Line-1] = slices.Concat(line, []byte("  "+comment), end)
		next := bytes.Join(lines, nil)
		if again := parseOne(before.Doc.File, next); again != nil && reflect.DeepEqual(typed.Generic(again.Root), typed.Generic(res.Root)) {
			text = next
		}
	}
	return text
}

// movedComment gives the comment behind a field that a fix puts elsewhere, and where that is.
func movedComment(p *manifest.Parsed, f *policy.Fix) (comment string, to []string) {
	if len(f.Edits) != 2 || !f.Edits[0].Remove || f.Edits[1].Remove {
		return "", nil
	}
	from, to := f.Edits[0].Path, f.Edits[1].Path
	if len(from) == 0 || len(to) == 0 {
		return "", nil
	}
	key := manifest.KeyNode(p.Get(pathOf(p.Root, from[:len(from)-1])), from[len(from)-1])
	value := p.Get(pathOf(p.Root, from))
	if key == nil || value == nil {
		return "", nil
	}
	for _, c := range []string{value.LineComment, key.LineComment} {
		if c != "" && !strings.Contains(c, "\n") {
			return c, to
		}
	}
	return "", nil
}

// parseOne parses a text that holds one document; nil where it does not.
func parseOne(file string, text []byte) *manifest.Parsed {
	split, _ := manifest.Split(file, text)
	var out *manifest.Parsed
	for _, d := range split {
		if d.Index == 0 {
			continue
		}
		p, _ := d.Parse()
		if p == nil || p.Root == nil || out != nil {
			return nil
		}
		out = p
	}
	return out
}

// changes makes the edits of fixes into changes; an edit of a field that an earlier one has touched waits for the next
// round.
func changes(p *manifest.Parsed, fs []policy.Finding) []manifest.Change {
	var out []manifest.Change
	seen := map[string]bool{}
	for _, f := range fs {
		if slices.ContainsFunc(f.Fix.Edits, func(e policy.FixEdit) bool { return seen[strings.Join(e.Path, "\x00")] }) {
			continue
		}
		for _, e := range f.Fix.Edits {
			seen[strings.Join(e.Path, "\x00")] = true
			c := manifest.Change{Op: manifest.Set, Path: pathOf(p.Root, e.Path), Value: valueNode(e.Value)}
			if e.Remove {
				c.Op, c.Value = manifest.Remove, nil
			}
			out = append(out, c)
		}
	}
	return out
}

// pathOf makes a path of words: a number is an index where the tree has a list.
func pathOf(n *yaml.Node, words []string) manifest.Path {
	var out manifest.Path
	for _, w := range words {
		n = manifest.Resolve(n)
		if n != nil && n.Kind == yaml.SequenceNode {
			if i, err := strconv.Atoi(w); err == nil {
				out = append(out, manifest.At(i))
				n = child(n, w)
				continue
			}
		}
		out = append(out, manifest.Key(w))
		n = manifest.Lookup(n, w)
	}
	return out
}

// valueNode makes a node of the value of a fix; fixes of rules are strings.
func valueNode(v any) *yaml.Node {
	n := &yaml.Node{}
	if s, ok := v.(string); ok {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	}
	if err := n.Encode(v); err != nil {
		panic("transform: a fix holds a value that YAML has no form for: " + err.Error())
	}
	return n
}

// renames writes fixes that only rename a key, in place, so that order and comments stay; ok is false where there is
// none. The result is checked against the tree that is meant.
func renames(p *manifest.Parsed, fs []policy.Finding) (text []byte, ok bool) {
	type rename struct {
		start, end int
		key        string
	}
	var list []rename
	want := typed.Generic(p.Root)
	for _, f := range fs {
		from, to, is := asRename(f.Fix)
		if !is {
			continue
		}
		key := manifest.KeyNode(p.Get(pathOf(p.Root, from[:len(from)-1])), from[len(from)-1])
		start, end, found := keyBytes(p, key)
		if !found || !renameGeneric(want, from, to) {
			continue
		}
		list = append(list, rename{start, end, to})
	}
	if len(list) == 0 {
		return nil, false
	}
	slices.SortFunc(list, func(a, b rename) int { return b.start - a.start })
	text = bytes.Clone(p.Doc.Raw)
	for _, r := range list {
		text = slices.Concat(text[:r.start], []byte(r.key), text[r.end:])
	}
	split, _ := manifest.Split(p.Doc.File, text)
	for _, d := range split {
		if again, _ := d.Parse(); again != nil && again.Root != nil && reflect.DeepEqual(typed.Generic(again.Root), want) {
			return text, true
		}
	}
	return nil, false
}

// asRename tells whether a fix takes a key away and sets another one beside it.
func asRename(f *policy.Fix) (from []string, to string, ok bool) {
	if len(f.Edits) != 2 || !f.Edits[0].Remove || f.Edits[1].Remove {
		return nil, "", false
	}
	a, b := f.Edits[0].Path, f.Edits[1].Path
	if len(a) != len(b) || !slices.Equal(a[:len(a)-1], b[:len(b)-1]) {
		return nil, "", false
	}
	return a, b[len(b)-1], true
}

// keyBytes finds a plain or simply quoted key in the bytes; quotes are left standing.
func keyBytes(p *manifest.Parsed, key *yaml.Node) (start, end int, ok bool) {
	if key == nil || key.Line == 0 || key.Anchor != "" {
		return 0, 0, false
	}
	offset := 0
	for line := 1; line < key.Line; line++ {
		i := bytes.IndexByte(p.Doc.Raw[offset:], '\n')
		if i < 0 {
			return 0, 0, false
		}
		offset += i + 1
	}
	rest := p.Doc.Raw[offset:]
	for column := 1; column < key.Column; column++ {
		if len(rest) == 0 {
			return 0, 0, false
		}
		n := len(string([]rune(string(rest[:min(4, len(rest))]))[:1]))
		offset += n
		rest = rest[n:]
	}
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		offset++
		rest = rest[1:]
	}
	if !bytes.HasPrefix(rest, []byte(key.Value)) {
		return 0, 0, false
	}
	return offset, offset + len(key.Value), true
}

// renameGeneric renames a key in plain data.
func renameGeneric(v any, from []string, to string) bool {
	for _, w := range from[:len(from)-1] {
		switch in := v.(type) {
		case map[string]any:
			v = in[w]
		case []any:
			i, err := strconv.Atoi(w)
			if err != nil || i >= len(in) {
				return false
			}
			v = in[i]
		default:
			return false
		}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	last := from[len(from)-1]
	value, ok := m[last]
	if !ok {
		return false
	}
	delete(m, last)
	m[to] = value
	return true
}

// FixEdits gives the fix of a finding as edits of the document's bytes, in order; none where that cannot be done.
func (l *Linter) FixEdits(d manifest.Document, f policy.Finding) []manifest.Edit {
	if f.Fix == nil || len(f.Fix.Edits) == 0 {
		return nil
	}
	p, _ := d.Parse()
	if p == nil {
		return nil
	}
	if from, to, ok := asRename(f.Fix); ok {
		key := manifest.KeyNode(p.Get(pathOf(p.Root, from[:len(from)-1])), from[len(from)-1])
		if start, end, found := keyBytes(p, key); found {
			return []manifest.Edit{{Start: start, End: end, Text: []byte(to)}}
		}
	}
	res, fs := manifest.Options{NoReencode: true}.Apply(p, changes(p, []policy.Finding{f}))
	if policy.HasErrors(fs) {
		return nil
	}
	return res.Edits
}
