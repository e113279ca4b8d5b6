// Package cli is the command tree: one file a command, each with its options, its constructor and a run function that
// takes only those options, so that both halves are tested alone.
package cli
