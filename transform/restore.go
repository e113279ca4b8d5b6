package transform

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/typed"
	"github.com/kube-inject/inject/transform/workload"
)

// podTemplate is spelt often enough.
type podTemplate = corev1.PodTemplateSpec

// record is what taking a sidecar out by the pod's own word would not bring back: spellings of what was empty, the text
// of replaced scalars, the order of moved containers, named probe ports, what templates of the user's own add. It stands
// behind the document as a comment, or in a JSON document, which has none, as an annotation of its object.
type record struct {
	Version int `json:"v"`
	// Sum is the start of the SHA-256 of the text that the inverse gives; another sum means that somebody edited.
	Sum string `json:"sum"`
	// Text are edits of that text: start, end and what goes there.
	Text []textEdit `json:"text,omitempty"`
	// Fields are the same by meaning, as far as they have one, for a text that somebody edited.
	Fields []fieldEdit `json:"fields,omitempty"`
}

type textEdit struct {
	Start, End int
	New        string
}

// MarshalJSON keeps the record short: [start, end, "new"].
func (e textEdit) MarshalJSON() ([]byte, error) { return json.Marshal([]any{e.Start, e.End, e.New}) }

var errRecord = errors.New("a text edit has three parts")

// UnmarshalJSON reads the short form.
func (e *textEdit) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil || len(parts) != 3 {
		return errRecord
	}
	for i, into := range []any{&e.Start, &e.End, &e.New} {
		if err := json.Unmarshal(parts[i], into); err != nil {
			return err
		}
	}
	return nil
}

type fieldEdit struct {
	Path  []any           `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

const recordPrefix = "# " + policy.AnnotationRestore + ": "

func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:6])
}

// cutRecord gives the record of a document and the document without it. A record that cannot be read is a finding.
func cutRecord(d manifest.Document) (*record, manifest.Document, *policy.Finding) {
	at := bytes.LastIndex(d.Raw, []byte(recordPrefix))
	if at < 0 || at > 0 && d.Raw[at-1] != '\n' && d.Raw[at-1] != '\r' {
		return nil, d, nil
	}
	text := d.Raw[at+len(recordPrefix):]
	end := len(d.Raw)
	start := at
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
		end = at + len(recordPrefix) + i
		end += len(lineBreak(d.Raw[end:]))
	} else {
		// The document's last line had no line end, so the one before was added with the record.
		start -= len(lastBreak(d.Raw[:at]))
	}
	raw := append(append(make([]byte, 0, len(d.Raw)), d.Raw[:start]...), d.Raw[end:]...)
	rest, _ := manifest.Split(d.File, raw)
	var rec record
	if len(rest) != 1 || json.Unmarshal(bytes.TrimSpace(text), &rec) != nil || rec.Version != 1 {
		return nil, d, &policy.Finding{
			Code: "W_RECORD", Severity: policy.Warning, Document: d.Index,
			Position: policy.Position{File: d.File, Line: d.Line + bytes.Count(d.Raw[:at], []byte("\n"))},
			Message:  "the restore record cannot be read and is not used", Hint: "compare with the manifest as it was",
		}
	}
	out := rest[0]
	out.Index, out.Line, out.Offset = d.Index, d.Line, d.Offset
	return &rec, out, nil
}

// lineBreak is the line end that text starts with, lastBreak the one it ends with.
func lineBreak(text []byte) []byte {
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")):
		return text[:2]
	case len(text) > 0 && (text[0] == '\n' || text[0] == '\r'):
		return text[:1]
	}
	return nil
}

func lastBreak(text []byte) []byte {
	switch {
	case bytes.HasSuffix(text, []byte("\r\n")):
		return text[len(text)-2:]
	case len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r'):
		return text[len(text)-1:]
	}
	return nil
}

// restore brings back what the record holds: the text where nobody edited it, which gives true, else by meaning.
func (u *Uninjector) restore(r *Result, rec record, d manifest.Document) bool {
	if sum(r.Raw) == rec.Sum {
		if text, ok := rec.patch(r.Raw); ok {
			r.Raw = text
			return true
		}
	}
	r.Findings = append(r.Findings, policy.Finding{
		Code: "W_RECORD", Severity: policy.Warning, Document: d.Index, Position: policy.Position{File: d.File, Line: d.Line},
		Message: "the document was edited after injection, so it comes back by meaning, not byte for byte",
		Hint:    "read the difference before you commit it",
	})
	docs, _ := manifest.Split(d.File, r.Raw)
	if len(docs) != 1 {
		return false
	}
	parsed, fs := docs[0].Parse()
	if parsed == nil || policy.HasErrors(fs) {
		return false
	}
	for _, f := range rec.Fields {
		if c, ok := f.change(parsed); ok {
			if res, fs := manifest.Apply(parsed, []manifest.Change{c}); !policy.HasErrors(fs) && !res.Reencoded {
				docs, _ = manifest.Split(d.File, res.Raw)
				if next, bad := docs[0].Parse(); next != nil && !policy.HasErrors(bad) {
					parsed, r.Raw = next, res.Raw
				}
			}
		}
	}
	return false
}

// patch applies the text edits.
func (rec record) patch(text []byte) ([]byte, bool) {
	var out []byte
	at := 0
	for _, e := range rec.Text {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return nil, false
		}
		out = append(append(out, text[at:e.Start]...), e.New...)
		at = e.End
	}
	return append(out, text[at:]...), true
}

// change is the edit in the terms of the writer; ok is false where the document no longer has its place.
func (f fieldEdit) change(p *manifest.Parsed) (manifest.Change, bool) {
	var at manifest.Path
	for _, step := range f.Path {
		switch step := step.(type) {
		case string:
			at = append(at, manifest.Key(step))
		case float64:
			at = append(at, manifest.At(int(step)))
		}
	}
	if len(at) == 0 || p.Get(at[:len(at)-1]) == nil {
		return manifest.Change{}, false
	}
	if f.Value == nil {
		return manifest.Change{Op: manifest.Remove, Path: at}, p.Get(at) != nil
	}
	var doc yaml.Node
	if yaml.Unmarshal(f.Value, &doc) != nil || len(doc.Content) == 0 {
		return manifest.Change{}, false
	}
	return manifest.Change{Op: manifest.Set, Path: at, Value: doc.Content[0]}, true
}

// record checks that uninject would give the document back byte for byte, and adds what that takes.
func (w *documentWork) record(res manifest.Result) {
	if w.parsed.JSON {
		w.recordJSON(&Uninjector{w.Injector})
		return
	}
	back, ok := w.back(res)
	if ok && bytes.Equal(back, w.parsed.Doc.Raw) {
		return
	}
	injected, ok := w.resplit(res.Raw)
	if !ok {
		return
	}
	line := w.recordText((&Uninjector{w.Injector}).inverse(injected).Raw)
	raw, ok := appendComment(res.Raw, recordPrefix+line)
	if !ok {
		return
	}
	again, ok := w.resplit(raw)
	if !ok {
		return
	}
	parsed, fs := again.Parse()
	if parsed == nil || policy.HasErrors(fs) || !w.readsAll(parsed.Root) {
		return
	}
	w.result.Raw = raw
}

// back is the text that taking the sidecars out again gives: the way of Uninjector.Document, but on the tree that is
// there already, and unverified, as the bytes will be compared.
func (w *documentWork) back(res manifest.Result) ([]byte, bool) {
	after := w.parsed.After(res)
	if after == nil {
		return nil, false
	}
	var scratch Result
	u := &documentWork{Injector: w.Injector, parsed: after, result: &scratch}
	for _, want := range w.want {
		v := view{object: want.object, place: want.place, template: want.template}
		node := after.Get(want.path)
		if node == nil || want.shape == workload.PodSpec {
			return nil, false
		}
		v.place.Node = node
		stripped, _ := stripped(v)
		if !u.difference(v, &stripped, nil) {
			return nil, false
		}
	}
	raw, err := after.Splice(u.changes)
	return raw, err == nil
}

func (w *documentWork) readsAll(root *yaml.Node) bool {
	for _, want := range w.want {
		if !w.reads(root, want) {
			return false
		}
	}
	return true
}

// resplit makes a document of new text in the place of this one.
func (w *documentWork) resplit(raw []byte) (manifest.Document, bool) {
	docs, _ := manifest.Split(w.parsed.Doc.File, raw)
	if len(docs) != 1 {
		return manifest.Document{}, false
	}
	d := docs[0]
	d.Index, d.Line, d.Offset = w.parsed.Doc.Index, w.parsed.Doc.Line, w.parsed.Doc.Offset
	return d, true
}

// recordText is the record that leads from the inverse's text to the original.
func (w *documentWork) recordText(back []byte) string {
	rec := record{Version: 1, Sum: sum(back)}
	for _, e := range udiff.Strings(string(back), string(w.parsed.Doc.Raw)) {
		rec.Text = append(rec.Text, textEdit{e.Start, e.End, e.New})
	}
	for _, want := range w.want {
		rec.Fields = append(rec.Fields, w.fields(want)...)
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return ""
	}
	return string(text)
}

// fields are the differences by meaning between what the inverse gives and the template as it was.
func (w *documentWork) fields(want wanted) []fieldEdit {
	after, _ := stripped(view{template: want.template})
	before := want.before
	if _, ok := before.Annotations[policy.AnnotationStatus]; ok {
		return nil
	}
	var d typed.Difference
	if want.shape == workload.PodSpec {
		d = w.schema.Diff(&after.Spec, &before.Spec, want.path, nil, nil)
	} else {
		d = w.schema.Diff(&after, &before, want.path, w.schema.Encode(&after, nil), nil)
	}
	var out []fieldEdit
	for _, c := range d.Changes {
		if c.Op != manifest.Set && c.Op != manifest.Remove {
			continue
		}
		f := fieldEdit{}
		for _, s := range c.Path {
			if s.IsIndex {
				f.Path = append(f.Path, s.Index)
			} else {
				f.Path = append(f.Path, s.Key)
			}
		}
		if c.Op == manifest.Set {
			value, err := json.Marshal(typed.Generic(c.Value))
			if err != nil {
				continue
			}
			f.Value = value
		}
		out = append(out, f)
	}
	return out
}

// appendComment puts a comment line behind the last line of a document, before its end marker where it has one.
func appendComment(raw []byte, comment string) ([]byte, bool) {
	eol := "\n"
	if i := bytes.IndexByte(raw, '\n'); i > 0 && raw[i-1] == '\r' {
		eol = "\r\n"
	}
	if strings.ContainsAny(comment, "\r\n\u0085\u2028\u2029") {
		return nil, false
	}
	end := len(raw)
	if i := endMarker(raw); i >= 0 {
		end = i
	}
	out := append(make([]byte, 0, len(raw)+len(comment)+2), raw[:end]...)
	if end > 0 && len(lastBreak(raw[:end])) == 0 {
		return append(append(append(out, eol...), comment...), raw[end:]...), true
	}
	out = append(append(out, comment...), eol...)
	return append(out, raw[end:]...), true
}

// endMarker finds a line "..." behind the content; -1 where there is none.
func endMarker(raw []byte) int {
	for i := len(raw); i > 0; {
		start := bytes.LastIndexByte(raw[:i-1], '\n') + 1
		line := bytes.TrimRight(raw[start:i], " \t\r\n")
		switch {
		case bytes.HasPrefix(line, []byte("...")):
			return start
		case len(line) > 0 && line[0] != '#':
			return -1
		}
		i = start
	}
	return -1
}
