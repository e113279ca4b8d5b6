// Package config reads what an injection runs with: the injection config, the Helm values and the mesh config.
//
// It takes bytes with a name and never opens a file. Each of the three may be the plain file, the ConfigMap that holds it
// as kubectl prints it, a List or a stream of documents with that ConfigMap among others, or, for values and mesh config,
// an IstioOperator or a Helm values file. What is read keeps its way back: every value knows the file, line and column it
// was written at, through ConfigMaps and block scalars, so that errors of templates and of later steps can name the line
// that a person would edit.
//
// Everything that is wrong is reported as a [policy.Finding] with one of these codes:
//
//	E_CONFIG_SYNTAX   the text is no YAML or JSON, or a mapping has a key twice
//	E_CONFIG_KIND     the file is something else than its flag says
//	E_CONFIG_MISSING  a part that must be there is not: no template, no data key, no such revision
//	E_CONFIG_CHOICE   several candidates and nothing that chooses one
//	E_CONFIG_VALUE    a value of the wrong type, outside its range, or not among the words accepted
//	E_CONFIG_SET      a --set expression that cannot be read or applied
//	E_CONFIG_VERSION  an Istio version that is none, or that the templates do not go with
//	W_CONFIG_UNKNOWN  a key that nothing reads
//	W_CONFIG_VALUE    a value that is accepted and probably not meant
//	W_CONFIG_VERSION  the version was guessed, or what speaks for it disagrees
//	W_CONFIG_EDITED   a part of a profile is not as it was written (a notice)
//
// Errors stop the run; a warning never does.
package config
