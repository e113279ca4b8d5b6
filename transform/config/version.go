package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Engine is the way a pod is injected: today's, or that of the flat templates of old.
type Engine int

// The engines. Modern is the zero value.
const (
	// Modern renders partial pods and merges them (Istio 1.10 and later).
	Modern Engine = iota
	// Legacy17 and Legacy16 append the flat lists that a template of Istio 1.7 or 1.6 renders.
	Legacy17
	Legacy16
)

// String names the engine as reports do.
func (e Engine) String() string {
	return [...]string{"modern", "legacy 1.7", "legacy 1.6"}[e]
}

// Version is an Istio version; the zero value is unknown.
type Version struct {
	Major, Minor, Patch int
	// Text is as it was written, such as 1.30.3-distroless.
	Text string
}

// String prints the minor version, such as "1.30".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// less compares minor versions.
func (v Version) less(major, minor int) bool {
	return v.Major < major || v.Major == major && v.Minor < minor
}

var versionText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,4}))?(?:[-+.][0-9A-Za-z.+-]*)?$`)
})

// ParseVersion reads a version or an image tag that is one: 1.30, 1.30.3, v1.30.3, 1.30.3-distroless, 1.31-alpha.7f2.
// ok is false for anything else, such as latest.
func ParseVersion(s string) (v Version, ok bool) {
	m := versionText().FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return Version{}, false
	}
	v.Text = s
	v.Major, _ = strconv.Atoi(m[1])
	v.Minor, _ = strconv.Atoi(m[2])
	v.Patch, _ = strconv.Atoi(m[3])
	return v, true
}

// IstioVersion is the version to inject for, what that means for the engine, and how it was found.
type IstioVersion struct {
	Version
	// Reason says where the version is from, such as "global.tag in values.yaml:12".
	Reason string
	Engine Engine
	// Behaviour is the row of the table that applies.
	Behaviour Behaviour
}
