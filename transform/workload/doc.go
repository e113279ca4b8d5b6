// Package workload knows which kinds of objects hold pod templates, and where.
//
// A [Registry] is a table keyed by API group and kind, a value that the user's --kind rows change into another value.
// [Find] reads a parsed document through it and gives the objects in it, lists opened, with their pod templates as
// nodes of the tree, and notices about what only looked like a workload. It changes nothing and knows no bytes.
package workload
