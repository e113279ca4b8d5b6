package manifest

// look is how a document is written; see style.go.
type look struct{}
