package workload

import (
	"strings"

	"github.com/kube-inject/inject/transform/manifest"
)

// Step is one step of a concrete path through a document.
type Step = manifest.Step

// Field prints steps as a dotted path with indexes in brackets; keys that hold dots, brackets or nothing are quoted.
func Field(steps []Step) string { return manifest.Path(steps).String() }

// Shape is what stands at the end of a path.
type Shape int

// The shapes: a PodTemplateSpec (metadata and spec), a whole Pod, or a bare PodSpec without metadata of its own.
const (
	PodTemplate Shape = iota
	Pod
	PodSpec
)

// String gives the word of the --kind syntax.
func (s Shape) String() string { return [...]string{"template", "pod", "podspec"}[s] }

// segment is one step of a registry path.
type segment struct {
	key string
	// each steps into every element of a sequence, values into every value of a mapping.
	each, values bool
}

// Path leads from an object to its pod templates; [*] and * fan out.
type Path struct {
	segments []segment
	Shape    Shape
}

// String prints the path in the --kind syntax.
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p.segments {
		writeSegment(&b, s)
	}
	if p.Shape != PodTemplate {
		b.WriteString("@" + p.Shape.String())
	}
	return b.String()
}

func writeSegment(b *strings.Builder, s segment) {
	switch {
	case s.each:
		b.WriteString("[*]")
	case s.values:
		b.WriteString(".*")
	default:
		text := Field([]Step{{Key: s.key}})
		if b.Len() > 0 && text[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(text)
	}
}
