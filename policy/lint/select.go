package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// Settings are a user's wishes about the rules.
type Settings struct {
	// Only leaves no other rules; Disable takes rules away, Enable adds rules that are off by default. Each entry is a
	// rule id or the name of a category.
	Only, Enable, Disable []string
	// Severity gives rules another severity, by rule id.
	Severity map[string]policy.Severity
}

// Select applies settings to rules. The error names every id that is unknown.
func Select(rules []Rule, s Settings) ([]Rule, error) {
	var errs []error
	for _, list := range [][]string{s.Only, s.Enable, s.Disable} {
		for _, name := range list {
			if !slices.ContainsFunc(rules, func(r Rule) bool { return r.is(name) }) {
				errs = append(errs, unknownRule(rules, name))
			}
		}
	}
	for _, id := range sortedKeys(s.Severity) {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == id }) {
			errs = append(errs, unknownRule(rules, id))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var out []Rule
	for _, r := range rules {
		on := !r.OptIn || slices.ContainsFunc(s.Enable, r.is)
		if len(s.Only) > 0 {
			on = slices.ContainsFunc(s.Only, r.is)
		}
		if !on || slices.ContainsFunc(s.Disable, r.is) {
			continue
		}
		if level, ok := s.Severity[r.ID]; ok {
			r.Severity, r.fixed = level, true
		}
		out = append(out, r)
	}
	return out, nil
}

// is tells whether a name means the rule.
func (r Rule) is(name string) bool { return r.ID == name || string(r.Category) == name }

// Find gives the rule of an id.
func Find(rules []Rule, id string) (Rule, error) {
	for _, r := range rules {
		if r.ID == id {
			return r, nil
		}
	}
	return Rule{}, unknownRule(rules, id)
}

func unknownRule(rules []Rule, id string) error {
	var names []string
	for _, r := range rules {
		names = append(names, r.ID)
	}
	if near := nearest(id, names, max(1, len(id)/3)); len(near) > 0 {
		return fmt.Errorf("there is no rule %q; did you mean %s?", id, strings.Join(near, " or "))
	}
	return fmt.Errorf("there is no rule %q; inject lint --rules lists them", id)
}

// nearest gives the names at the smallest distance from word, as far as that is not above limit.
func nearest(word string, names []string, limit int) []string {
	var out []string
	best := limit
	for _, n := range names {
		d := policy.Distance(n, word, limit)
		switch {
		case d > best:
		case d < best:
			best, out = d, []string{n}
		default:
			out = append(out, n)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
