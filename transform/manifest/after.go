package manifest

// After gives the document that r made of p, with the tree that was parsed to verify it: what Parse would give for
// r.Raw, without parsing again. It is nil for a result that changed nothing.
func (p *Parsed) After(r Result) *Parsed {
	if !r.Changed || r.Root == nil {
		return nil
	}
	d := p.Doc
	d.tail += len(r.Raw) - len(d.Raw)
	d.Raw = r.Raw
	d.facts = scanText(d.Raw)
	after := &Parsed{Doc: d, Root: r.Root, JSON: p.JSON}
	after.lines = newLineTable(d.Raw, d.facts, d.body)
	c := checker{p: after}
	c.walk(after.Root)
	return after
}

// Splice writes changes into the text without verifying what comes out: for a caller who compares the bytes with ones
// that are known. The error says that the changes cannot be spliced.
func (p *Parsed) Splice(changes []Change) ([]byte, error) {
	cs, err := collect(p.Root, changes, p.JSON)
	if err != nil {
		return nil, err
	}
	if cs.top.empty() {
		return p.Doc.Raw, nil
	}
	raw, _, err := p.spliced(cs, false)
	return raw, err
}
