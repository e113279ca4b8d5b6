// Package print makes text and machine formats of what the commands found and did: findings, the report of a run, and
// differences. It is the only place that knows about terminals, and knows only what it is told of them.
//
// Every writer gives the same bytes for the same data: findings are sorted, nothing depends on the machine, the
// clock or the environment. A writer that has nothing to say writes a valid empty document of its format.
// Text that comes from manifests is made harmless first; see [Clean].
package print
