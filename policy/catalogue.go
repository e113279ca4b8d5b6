package policy

import (
	"errors"
	"slices"
	"strings"
	"sync"
)

// KeyKind tells annotations from labels.
type KeyKind string

// The two kinds of keys.
const (
	Annotation KeyKind = "annotation"
	Label      KeyKind = "label"
)

// Status says what became of a key.
type Status string

// The statuses. Read is a key that injector, template, agent or CNI read or write; Elsewhere a valid key that none of
// them reads on a pod template; Removed one that Istio has given up.
const (
	Read      Status = "read"
	Elsewhere Status = "elsewhere"
	Removed   Status = "removed"
)

// The effects of a bad value that [Key.OnInvalid] gives. Empty means unknown or none.
const (
	InjectionFails = "injection fails"
	ValueIgnored   = "the value is ignored"
)

// Key is a row of the catalogue: one annotation or label.
type Key struct {
	Name   string
	Kind   KeyKind
	Status Status
	Type   ValueType
	// Values are the only ones that count; nil where the type alone says it.
	Values []string
	// Default is what applies when the key is absent, in words; empty where that is nothing.
	Default string
	// Summary says in one line what the key does.
	Summary string
	// Scope lists the kinds of objects on which the key is read; "Any" is all of them.
	Scope []string
	// Validated is true where the injector refuses a pod with a bad value; else OnInvalid says what a bad value does.
	Validated bool
	OnInvalid string
	// Deprecated keys name what to write instead in ReplacedBy, where there is something.
	Deprecated bool
	ReplacedBy string
	// Written is true for keys that injection writes and people should not.
	Written bool
	// ReadBy names the reader: Istio files of 1.30, or a component.
	ReadBy string
	// Since is the oldest of the Istio releases 1.6, 1.7, 1.8 (which stands for all up to 1.30) and 1.31 that knows the
	// key, Until the last one that reads it; empty where they were not told apart.
	Since, Until string
}

// Check gives an error that says what is wrong with a value of this key, and what is accepted; nil where it is fine.
// The value of proxy.istio.io/config needs the mesh types and is not looked at.
func (k Key) Check(value string) error {
	if len(k.Values) > 0 && (k.Type == Text || k.Type == "") {
		if slices.Contains(k.Values, value) {
			return nil
		}
		return errors.New("it must be " + alternatives(k.Values))
	}
	accepts, parse := k.Type.rules()
	if parse == nil {
		return nil
	}
	err := parse(value)
	if err == nil {
		return nil
	}
	if err.Error() == "" {
		return errors.New("it must be " + accepts)
	}
	return errors.New(err.Error() + "; it must be " + accepts)
}

// alternatives prints "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// catalogue holds the rows sorted by name and kind, and where each stands.
type catalogue struct {
	keys  []Key
	index map[keyID]int
}

type keyID struct {
	name string
	kind KeyKind
}

var theCatalogue = sync.OnceValue(func() catalogue {
	keys := slices.Concat(injectionKeys(), trafficKeys(), proxyKeys(), statsKeys(), identityKeys(),
		foreignKeys(), ownKeys(), elsewhereKeys(), removedKeys())
	slices.SortFunc(keys, func(a, b Key) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(string(a.Kind), string(b.Kind))
	})
	c := catalogue{keys: keys, index: make(map[keyID]int, len(keys))}
	for i := range keys {
		k := &keys[i]
		if k.Status == "" {
			k.Status = Read
		}
		if k.Type == "" {
			k.Type = Text
		}
		if k.Scope == nil {
			k.Scope = []string{"Pod"}
		}
		if k.Validated {
			k.OnInvalid = InjectionFails
		}
		c.index[keyID{k.Name, k.Kind}] = i
	}
	return c
})

// Keys gives the whole catalogue, sorted by name and kind: what Istio 1.24 to 1.31 read, what its API names besides,
// what it has removed, and what is ours. Sources: istio/api annotations.gen.go and labels.gen.go, 1.30, and the files
// of Istio named in each row. The slice is the caller's, the slices in its rows are shared and must not be changed.
func Keys() []Key { return slices.Clone(theCatalogue().keys) }

// Lookup finds a key of the given kind.
func Lookup(name string, kind KeyKind) (Key, bool) {
	c := theCatalogue()
	i, ok := c.index[keyID{name, kind}]
	if !ok {
		return Key{}, false
	}
	return c.keys[i], true
}

// KeyPrefixes lists the prefixes, with their slash, under which every key is Istio's own: one that the catalogue does
// not hold is a mistake.
func KeyPrefixes() []string {
	return []string{
		"ambient.istio.io/", "inject.istio.io/", "istio.io/", "networking.istio.io/", "prometheus.istio.io/",
		"proxy.istio.io/", "readiness.status.sidecar.istio.io/", "security.istio.io/", "service.istio.io/",
		"sidecar.istio.io/", "status.sidecar.istio.io/", "topology.istio.io/", "traffic.sidecar.istio.io/",
	}
}
