// Package template renders injection templates: parsed once, rendered for each pod.
//
// Rendering is hermetic: a template sees its data and nothing of the machine, the clock, the network or chance.
// It is bounded: output and steps have a limit, so that a template that loops or explodes is an error, not a hang.
// Every error is a [policy.Finding] that names the template, the line in the file it came from and what to do.
package template
