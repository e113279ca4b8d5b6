// Package policy answers whether a pod is injected and whether that is wise.
//
// It takes typed facts and gives data: a [Decision] with the trail of every rule that was asked, and [Finding]
// values with a position, advice and, where it is safe, a fix. It never sees a YAML node, a file or a terminal.
package policy
