package manifest

import (
	"go.yaml.in/yaml/v3"

	"github.com/kube-inject/inject/policy"
)

// Op is what a change does.
type Op int

// The operations.
const (
	// Set gives the mapping key or list element at Path a new value; missing parents are made.
	Set Op = iota
	// Insert puts a new element into the list at Path; a missing list is made.
	Insert
	// Remove takes the key or element at Path away. A collection that loses its last item stays as [] or {}.
	Remove
	// Move takes the list element at Path, with its comments, to the list at To.
	Move
)

// Change is one wish about a document. All changes of one call refer to the original tree: paths and indexes are
// those before any of them. Aliases and merge keys on a path are followed.
type Change struct {
	Op   Op
	Path Path
	// Index is the element of the original list before which Insert and Move place theirs; its length means the
	// end. Several at one place keep the order of the changes.
	Index int
	// To is the list that Move goes to; it need not exist yet.
	To Path
	// Value is the tree for Set and Insert. Mappings are printed in its order; its own styles, positions and
	// comments are not looked at, but a quoted scalar without a tag is a string.
	Value *yaml.Node
}

// Edit is one replacement in the bytes of a document: Raw[Start:End] becomes Text. The edits of a result are in order
// and do not overlap.
type Edit struct {
	Start, End int
	Text       []byte
}

// Result is what Apply made of a document.
type Result struct {
	// Raw is the whole new text, verified; the old one itself where nothing had to change.
	Raw []byte
	// Changed tells whether Raw differs from the text before.
	Changed bool
	// Edits lead from the old text to Raw. A document encoded anew has one edit.
	Edits []Edit
	// Reencoded: splicing could not reach the intended tree, and Reason says why.
	Reencoded bool
	Reason    string
	// Notices hold W_REENCODED and W_SEPARATOR.
	Notices []policy.Finding
	// Root is the tree parsed from Raw.
	Root *yaml.Node
}

// Options change how Apply works; the zero value is what [Apply] uses.
type Options struct {
	// NoReencode makes it an error (E_VERIFY) where splicing fails, instead of encoding the document anew.
	NoReencode bool
}
