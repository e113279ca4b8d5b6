package manifest

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// Apply writes the changes into the text of the document. The new text is parsed again and must be the old tree with
// the changes applied; where splicing does not reach that, the document is encoded anew and the notice W_REENCODED says
// why. An error (E_VERIFY where the fallback fails too, E_TYPE for a path that leads through a scalar) gives no result.
func Apply(p *Parsed, changes []Change) (Result, []policy.Finding) {
	return Options{}.Apply(p, changes)
}

// Apply is [Apply] with options.
func (o Options) Apply(p *Parsed, changes []Change) (Result, []policy.Finding) {
	if len(changes) == 0 {
		return Result{Raw: p.Doc.Raw, Root: p.Root}, nil
	}
	if p.Root == nil || p.Root.Kind != yaml.MappingNode && p.Root.Kind != yaml.SequenceNode {
		return Result{}, []policy.Finding{p.finding("E_TYPE", policy.Error, p.Root, "the document is no object", "")}
	}
	cs, err := collect(p.Root, changes, p.JSON)
	if err != nil {
		return Result{}, []policy.Finding{p.finding("E_TYPE", policy.Error, p.Root, err.Error(), "")}
	}
	if cs.top.empty() {
		return Result{Raw: p.Doc.Raw, Root: p.Root}, nil
	}
	want := cs.intended(p.Root, &cs.top)
	res := Result{Changed: true}
	for _, keep := range []bool{false, true} {
		// A text without a last line end may have to gain one: a block scalar that becomes its last line needs it.
		if keep && (err == nil || breakBefore(p.Doc.Raw, len(p.Doc.Raw)) > 0) {
			break
		}
		if res.Raw, res.Edits, err = p.spliced(cs, keep); err == nil {
			res.Root, err = p.verify(res.Raw, want)
		}
	}
	if err != nil {
		if o.NoReencode {
			return Result{}, []policy.Finding{p.finding("E_VERIFY", policy.Error, p.Root,
				"the change cannot be written into the text: "+p.reason(err), "")}
		}
		res.Reencoded, res.Reason = true, p.reason(err)
		for _, keep := range []bool{false, true} {
			if res.Raw, err = p.reencode(cs, want, keep); err == nil {
				if res.Root, err = p.verify(res.Raw, want); err == nil {
					break
				}
			}
		}
		if err != nil {
			return Result{}, []policy.Finding{p.finding("E_VERIFY", policy.Error, p.Root,
				"the changed document cannot be written: "+err.Error(), "please report this file")}
		}
		res.Edits = []Edit{{0, len(p.Doc.Raw), res.Raw}}
		res.Notices = append(res.Notices, p.finding("W_REENCODED", policy.Warning, p.Root,
			"document re-encoded: "+res.Reason, ""))
	}
	if p.Doc.contentOnSeparator() {
		res.Notices = append(res.Notices, p.Doc.finding("W_SEPARATOR", policy.Warning, p.Doc.sep,
			"content on the line of the separator ---; kubectl refuses it", "put it on a line of its own"))
	}
	return res, nil
}

// spliced edits the bytes.
func (p *Parsed) spliced(cs *changeSet, keep bool) ([]byte, []Edit, error) {
	pl := &planner{p: p, cs: cs, raw: p.Doc.Raw, look: p.lookOf()}
	if p.aliased {
		pl.anchored(p.Root, &cs.top)
	}
	pl.change(p.Root, &cs.top, slot{root: true, col: -1})
	if pl.err != nil {
		return nil, nil, pl.err
	}
	pl.finish(keep)
	raw, err := splice(p.Doc.Raw, pl.edits, 0, len(p.Doc.Raw))
	if err != nil {
		return nil, nil, err
	}
	edits := pl.edits[:0]
	for _, e := range pl.edits {
		if !bytes.Equal(p.Doc.Raw[e.Start:e.End], e.Text) {
			edits = append(edits, e)
		}
	}
	return raw, edits, nil
}

// reason puts the cause of a fallback into words for people.
func (p *Parsed) reason(err error) string {
	if p.aliased && strings.Contains(err.Error(), "unknown anchor") {
		return "an anchor that goes away is used elsewhere by its alias; the alias was written out"
	}
	if _, ok := err.(differs); ok && p.aliased {
		return "an anchored value that changes is used elsewhere by its alias; the alias was written out"
	}
	return err.Error()
}
