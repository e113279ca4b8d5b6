// Package typed stands between YAML nodes and Kubernetes' Go types.
//
// Decode reads a node as the cluster would, Merge lays a rendered overlay over a typed value by Kubernetes' own merge
// keys, Encode writes a typed value as a node in the order of its declaration, and Diff compares two typed values and
// gives the edits that turn the document of the first into the document of the second. What the types do not know is
// in neither value, so no edit ever touches it. Nothing is marshalled on the way: all four walk the same table of
// fields, which a Schema reads once from the struct tags of k8s.io/api.
package typed
