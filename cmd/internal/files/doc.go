// Package files stands between the commands and the disk: it names the inputs in a stable order, holds a run's
// output until all of it is good, and replaces files in one step.
//
// What a command writes is all or nothing. Inputs are resolved and checked first, output gathers in a [Spool], and
// [Replace] touches no file before every temporary file beside them is complete.
//
// The package reads no environment and knows no process stream: standard input, the folder for temporary files and
// the working directory are handed in.
package files
