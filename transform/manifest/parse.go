package manifest

import (
	"bytes"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// Limits of a document that is parsed; beyond them it is refused with E_LIMIT.
const (
	// maxDepth is how deep collections may nest.
	maxDepth = 1000
	// maxNodes is how many nodes the tree may have with all aliases written out. It is counted, never expanded.
	maxNodes = 1_000_000
	// maxParse is how many bytes are given to the parser.
	maxParse = 64 << 20
)

// Parsed is a document with its tree.
type Parsed struct {
	Doc Document
	// Root is the top node of the tree (never a document node), nil for a document without content.
	Root *yaml.Node
	// JSON: the document is strict JSON, and so must every edit be.
	JSON bool

	lines lineTable
	// aliased: somewhere in the document an alias is used.
	aliased bool
}

// Parse builds the tree of the document. With an error among the findings (E_SYNTAX, E_TEMPLATE, E_DUPKEY, E_ALIAS,
// E_LIMIT, E_ENCODING, E_INTERNAL) there is no tree; W_TAG and W_ARRAY come with one.
func (d Document) Parse() (*Parsed, []policy.Finding) {
	if len(d.Raw) > maxParse {
		return nil, []policy.Finding{d.finding("E_LIMIT", policy.Error, d.body,
			"document is larger than 64 MiB", "split it")}
	}
	p := &Parsed{Doc: d}
	if d.Index == 0 {
		return p, nil
	}
	var fs []policy.Finding
	strict := strings.HasSuffix(strings.ToLower(d.File), ".json")
	done := false
	if i, ok := d.jsonStart(strict); ok {
		if done, fs = p.parseJSON(i, strict); fs != nil {
			return nil, fs
		}
	}
	if !done {
		if fs = p.parseYAML(); fs != nil {
			return nil, fs
		}
	}
	p.lines = newLineTable(d.Raw, d.facts, d.body)
	if p.Root == nil {
		return p, nil
	}
	fs = p.check()
	if policy.HasErrors(fs) {
		return nil, fs
	}
	if p.Root.Kind == yaml.SequenceNode && arrayOfObjects(p.Root) {
		fs = append(fs, p.finding("W_ARRAY", policy.Warning, p.Root,
			"top-level array of objects is not a Kubernetes stream; passed unchanged", "use one document per object, or a List"))
	}
	return p, fs
}

func arrayOfObjects(n *yaml.Node) bool {
	for _, c := range n.Content {
		if c = Resolve(c); c.Kind != yaml.MappingNode || Lookup(c, "kind") == nil {
			return false
		}
	}
	return len(n.Content) > 0
}

// jsonStart finds the brace of a document that may be JSON. In a .json file everything must be.
func (d Document) jsonStart(strict bool) (int, bool) {
	i := d.body
	for {
		i = skipSpace(d.Raw, i)
		if i < len(d.Raw) && d.Raw[i] == '#' && !strict {
			i = nextLine(d.Raw, i)
			continue
		}
		break
	}
	if i < len(d.Raw) && (d.Raw[i] == '{' || strict) {
		return i, true
	}
	return 0, false
}

// parseJSON reads the value at offset from. Text that is not JSON is left to the YAML parser unless strict.
func (p *Parsed) parseJSON(from int, strict bool) (bool, []policy.Finding) {
	d := p.Doc
	s := jsonScanner{b: d.Raw, i: from, build: true, line: 1}
	for i := 0; i < from; {
		if w := breakAt(d.Raw, i); w > 0 {
			i += w
			s.line, s.lineStart = s.line+1, i
			continue
		}
		i++
	}
	if hasBOM(d.Raw, s.lineStart) {
		s.lineStart += len(bom)
	}
	root := s.value()
	if s.state == jsonOK {
		s.space()
		if s.i < d.tail {
			s.fail("text after the end of the JSON value")
			s.state = jsonBad
		}
	}
	switch {
	case s.state == jsonOK:
		p.Root, p.JSON = root, true
		return true, nil
	case s.state == jsonDeep:
		return false, []policy.Finding{d.finding("E_LIMIT", policy.Error, s.i, "nested deeper than 1000 levels", "")}
	case !strict:
		return false, nil
	}
	if i := skipBlanks(d.Raw, from); i+1 < len(d.Raw) && d.Raw[i] == '{' && (d.Raw[i+1] == '{' || d.Raw[i+1] == '%') {
		if f, ok := d.templateLine(); ok {
			return false, []policy.Finding{f}
		}
	}
	what := s.what
	if !strings.Contains(what, "JSON") {
		what = "JSON: " + what
	}
	hint := ""
	if s.i+1 < len(d.Raw) && (d.Raw[s.i] == '/' || d.Raw[s.i] == '#') {
		hint = "JSON has no comments; remove it or name the file .yaml"
	} else if s.i < len(d.Raw) && (d.Raw[s.i] == '}' || d.Raw[s.i] == ']') && strings.HasPrefix(what, "expected a ") {
		hint = "remove the comma before it"
	}
	at := s.i
	if s.state == jsonShort && at >= len(d.Raw) {
		at = len(d.Raw) - breakBefore(d.Raw, len(d.Raw))
	}
	return false, []policy.Finding{d.finding("E_SYNTAX", policy.Error, at, what, hint)}
}

// parseYAML hands the document to the parser, with byte order marks and newer version directives hidden from it.
func (p *Parsed) parseYAML() []policy.Finding {
	d := p.Doc
	if d.facts.control {
		if f, ok := d.controlFinding(); ok {
			return []policy.Finding{f}
		}
	}
	text, f := d.parserText()
	if f != nil {
		return []policy.Finding{*f}
	}
	root, err := parseOne(text)
	if err != nil {
		return []policy.Finding{d.syntaxFinding(text, err)}
	}
	p.Root = root
	return nil
}

// errSecond says that the parser found a second document where splitting saw one.
type errSecond struct{}

func (errSecond) Error() string { return "more than one document where one was expected" }

// parseOne gives the root of the only document in text, nil for one without content.
func parseOne(text []byte) (root *yaml.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if err == io.EOF {
			return nil, nil
		}
		return nil, err
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, errSecond{}
	} else if err != io.EOF {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// parserText is the text as the parser may see it. Lines and columns stay those of Raw, but for byte order marks,
// which count for nothing in both.
func (d Document) parserText() ([]byte, *policy.Finding) {
	text := d.Raw
	copied := false
	own := func() {
		if !copied {
			text, copied = append([]byte(nil), text...), true
		}
	}
	if d.Index > 0 && d.body > 0 {
		head := d.Raw[:d.body]
		for i := 0; i < len(head); i = nextLine(d.Raw, i) {
			q := i
			if hasBOM(head, q) {
				q += 3
			}
			line := head[q:lineEnd(head, q)]
			if len(line) == 0 || line[0] != '%' || !bytes.HasPrefix(line, []byte("%YAML")) {
				continue
			}
			version := strings.TrimLeft(string(line[5:]), " \t")
			if !strings.HasPrefix(version, "1.") {
				f := d.finding("E_SYNTAX", policy.Error, q, "unsupported directive "+cut(string(line), 40)+
					": only YAML 1.x is understood (%YAML 1.1 or 1.2)", "remove the line")
				return nil, &f
			}
			if !strings.HasPrefix(version, "1.1") {
				own()
				text[q] = '#'
			}
		}
	}
	if !d.facts.wide || !bytes.Contains(text, []byte(bom)) {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if hasBOM(text, i) && (i == 0 || i <= d.body && lineStart(text, i)) {
			i += 3
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out, nil
}
