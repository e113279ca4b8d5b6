// Package manifest turns bytes into documents and edits of documents back into bytes.
//
// Its promise: what nobody edits leaves as its own bytes (separators, comments, byte order marks, line ends and a
// missing last line end included), and what is edited differs by the lines the edit needs and no others. Every edited
// document is parsed again and compared with the intended tree before it is handed out; where splicing cannot reach
// that tree the document alone is encoded anew, and a notice says so.
//
// The way through: [Split] or [Reader] cut a stream into [Document] values, [Document.Sniff] tells which of them can
// not hold a workload, [Document.Parse] gives the tree of the others with exact positions, and [Apply] writes
// a list of [Change] values into the bytes. The package knows nothing of sidecars, kinds or terminals.
package manifest
