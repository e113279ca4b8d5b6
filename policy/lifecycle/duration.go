package lifecycle

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Never is the duration of what does not happen; every duration from it on means the same.
const Never = time.Duration(1 << 60)

// longest is the most any input may say; sums of a few of them stay far from the end of the clock.
const longest = 10 * 365 * 24 * time.Hour

// FormatDuration prints d in seconds without trailing zeros ("2.5s", "600s"), and "never" for [Never].
func FormatDuration(d time.Duration) string {
	if d >= Never {
		return "never"
	}
	return strconv.FormatFloat(seconds(d), 'f', -1, 64) + "s"
}

// ParseDuration reads a Go duration, or "never" where allowed. Negative values and fractions of a millisecond are
// errors: no clock in a pod's life is finer.
func ParseDuration(s string, never bool) (time.Duration, error) {
	if s == "never" && never {
		return Never, nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil && never:
		return 0, fmt.Errorf("%q is neither a duration such as 1.5s nor never", s)
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration such as 1.5s", s)
	case d < 0:
		return 0, fmt.Errorf("%q is negative", s)
	case d%time.Millisecond != 0:
		return 0, fmt.Errorf("%q is finer than a millisecond", s)
	case d > longest:
		return 0, fmt.Errorf("%q is longer than ten years", s)
	}
	return d, nil
}

// seconds gives d in seconds, exact to the millisecond.
func seconds(d time.Duration) float64 { return float64(d/time.Millisecond) / 1000 }

// ofSeconds makes a duration of a number from a manifest, at most [longest].
func ofSeconds(n int64) time.Duration {
	return time.Duration(max(0, min(n, int64(longest/time.Second)))) * time.Second
}

// wholeSeconds rounds down as the kubelet does when it counts what is left of a grace period.
func wholeSeconds(d time.Duration) time.Duration { return d.Truncate(time.Second) }

// PerContainer is a duration that can differ by container.
type PerContainer struct {
	Default time.Duration
	ByName  map[string]time.Duration
}

// For gives the duration of the container called name.
func (p PerContainer) For(name string) time.Duration {
	if d, ok := p.ByName[name]; ok {
		return d
	}
	return p.Default
}

// set takes "DURATION" for all containers or "NAME=DURATION" for one.
func (p *PerContainer) set(value string, never bool) error {
	name, text, named := strings.Cut(value, "=")
	if !named {
		text = value
	}
	d, err := ParseDuration(text, never)
	if err != nil {
		return err
	}
	if !named {
		p.Default = d
		return nil
	}
	byName := map[string]time.Duration{name: d}
	for k, v := range p.ByName {
		if k != name {
			byName[k] = v
		}
	}
	p.ByName = byName
	return nil
}
