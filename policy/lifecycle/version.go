package lifecycle

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a release of Kubernetes or Istio; patches make no difference here.
type Version struct{ Major, Minor int }

// ParseVersion reads "1.33", "v1.33.2" or "1.33.2-gke.1".
func ParseVersion(s string) (Version, error) {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	if len(parts) >= 2 {
		minor, _, _ := strings.Cut(parts[1], "-")
		minor = strings.TrimSuffix(minor, "+")
		a, errA := strconv.Atoi(parts[0])
		b, errB := strconv.Atoi(minor)
		if errA == nil && errB == nil && a >= 0 && b >= 0 {
			return Version{a, b}, nil
		}
	}
	return Version{}, fmt.Errorf("%q is not a version such as 1.33", s)
}

// String prints major.minor.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// AtLeast tells whether v is 1.minor or newer.
func (v Version) AtLeast(minor int) bool { return v.Major > 1 || v.Major == 1 && v.Minor >= minor }
