package transform

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
)

// pieceItems is how many items of a long list are worked on at a time.
const pieceItems = 32

// pieceHead makes a list of its own of some items.
const pieceHead = "apiVersion: " + resourceListGroup + "v1\nkind: " + resourceListKind + "\nitems:\n"

// pieces are the lines of a list's items, cut between items.
type pieces struct {
	// starts has an offset for each piece and one for the end of the last.
	starts []int
	size   int
}

// pieces cuts a list of plain block YAML. Anything that makes lines depend on other lines (aliases, flow style, an end
// marker) leaves it whole, and so do results that are there already.
func (l *resourceList) pieces(size int) (pieces, bool) {
	root, raw := l.parsed.Root, l.parsed.Doc.Raw
	items := typed.Get(root, "items")
	if len(l.items) <= size || l.parsed.JSON || items.Kind != yaml.SequenceNode || (root.Style|items.Style)&yaml.FlowStyle != 0 ||
		typed.Get(root, "results") != nil || bytes.Contains(raw, []byte("\n...")) || bytes.ContainsAny(raw, "\r\u0085\u2028\u2029\ufeff") ||
		hasAlias(root) {
		return pieces{}, false
	}
	lines := []int{0}
	for i, b := range raw {
		if b == '\n' {
			lines = append(lines, i+1)
		}
	}
	p := pieces{size: size}
	for i := 0; i < len(items.Content); i += size {
		n := items.Content[i]
		at := lines[n.Line-1]
		if n.Column < 3 || at+n.Column-3 >= len(raw) || raw[at+n.Column-3] != '-' || len(bytes.TrimLeft(raw[at:at+n.Column-3], " ")) > 0 {
			return pieces{}, false
		}
		p.starts = append(p.starts, at)
	}
	end := len(raw)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key := root.Content[i]; key.Line > items.Line {
			end = min(end, lines[key.Line-1])
		}
	}
	p.starts = append(p.starts, end)
	return p, end > p.starts[len(p.starts)-2]
}

func hasAlias(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return true
	}
	for _, c := range n.Content {
		if hasAlias(c) {
			return true
		}
	}
	return false
}

// document injects the list, a long one in pieces: memory and time then follow the pieces, and all cores work.
func (r *functionRun) document(in *Injector) Result {
	p, ok := r.list.pieces(pieceItems)
	if !ok {
		return in.Document(r.list.parsed.Doc)
	}
	raw := r.list.parsed.Doc.Raw
	results := make([]Result, len(p.starts)-1)
	whole := make([]bool, len(results))
	parallel(len(results), func(i int) {
		text := append([]byte(pieceHead), raw[p.starts[i]:p.starts[i+1]]...)
		docs, _ := manifest.Split(r.list.parsed.Doc.File, text)
		if len(docs) != 1 {
			return
		}
		results[i] = guarded(docs[0], in.Document)
		out := results[i].Raw
		whole[i] = bytes.HasPrefix(out, []byte(pieceHead)) && (out[len(out)-1] == '\n' || i == len(results)-1)
	})
	joined := Result{Raw: bytes.Clone(raw[:p.starts[0]])}
	for i, res := range results {
		if !whole[i] {
			return in.Document(r.list.parsed.Doc)
		}
		joined.Raw = append(joined.Raw, res.Raw[len(pieceHead):]...)
		joined.Changed = joined.Changed || res.Changed
		for _, f := range res.Findings {
			f.Resource.Item = shifted(f.Resource.Item, i*p.size)
			joined.Findings = append(joined.Findings, f)
		}
		for _, w := range res.Workloads {
			w.Resource.Item = shifted(w.Resource.Item, i*p.size)
			joined.Workloads = append(joined.Workloads, w)
		}
	}
	joined.Raw = append(joined.Raw, raw[p.starts[len(p.starts)-1]:]...)
	r.pieced = true
	return joined
}

// shifted counts an item of a piece from the start of the list.
func shifted(item string, by int) string {
	i, rest, ok := itemIndex(item)
	if !ok {
		return item
	}
	return joinField(fmt.Sprintf("items[%d]", i+by), rest)
}

// appendResults puts results behind a list of plain block YAML.
func appendResults(text []byte, fs []policy.Finding) []byte {
	if len(fs) == 0 {
		return text
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(resultNodes(fs)); err != nil {
		panic("results made of texts cannot be printed: " + err.Error())
	}
	return append(append(text, "results:\n"...), b.Bytes()...)
}
