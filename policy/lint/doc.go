// Package lint checks workloads, and the namespaces around them, for mistakes about the sidecar: annotations that
// nobody reads, values that are refused, lifecycles that lose traffic.
//
// A [Rule] is data with a function over [Facts]: the pod template as written, what the decision and the injection made
// of it, the effective configuration, the versions. Facts are typed and hold no syntax tree; a place is asked for only
// when there is something to say about it. [Rules] is the catalogue, [Select] applies a user's settings to it,
// [Workload] and [InNamespace] run it. Rules are pure: the same facts give the same findings.
package lint
