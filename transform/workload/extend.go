package workload

import (
	"fmt"
	"slices"
	"strings"
)

// With gives the registry changed by one value of --kind, a comma-separated list applied from left to right:
//
//	+group/Kind              switch on a kind that is off
//	-group/Kind              switch a kind off
//	group/Kind=PATH[,PATH]   define a kind, or replace its paths
//
// core/Kind is the core group. A PATH may end in @pod or @podspec; without it the place is a pod template.
// The error is one line of advice about wrong usage.
func (r Registry) With(spec string) (Registry, error) {
	entries, err := splitEntries(spec)
	if err != nil {
		return r, err
	}
	rows := slices.Clone(r.rows)
	for _, e := range entries {
		if rows, err = e.apply(rows); err != nil {
			return r, err
		}
	}
	return newRegistry(rows), nil
}

// entry is one item of --kind: sign is +, - or =.
type entry struct {
	sign        byte
	group, kind string
	paths       []Path
}

func (e entry) name() string { return Row{Group: e.group, Kind: e.kind}.Name() }

// splitEntries splits at commas outside quotes; a part with neither sign nor slash is one more path of the entry
// before it.
func splitEntries(spec string) ([]entry, error) {
	var entries []entry
	for _, part := range splitCommas(spec) {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("--kind %q: an entry is empty; write +group/Kind, -group/Kind or group/Kind=PATH", spec)
		}
		if n := len(entries); n > 0 && entries[n-1].sign == '=' && isPath(part) {
			path, err := userPath(part)
			if err != nil {
				return nil, fmt.Errorf("--kind %s: %w", entries[n-1].name(), err)
			}
			entries[n-1].paths = append(entries[n-1].paths, path)
			continue
		}
		e, err := parseEntry(part)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func splitCommas(text string) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// isPath tells a further path from a new entry: entries have a sign, or a slash outside quotes.
func isPath(part string) bool {
	if part[0] == '+' || part[0] == '-' {
		return false
	}
	quoted := false
	for i := 0; i < len(part); i++ {
		switch {
		case quoted && part[i] == '\\':
			i++
		case part[i] == '"':
			quoted = !quoted
		case part[i] == '/' && !quoted:
			return false
		}
	}
	return true
}

func parseEntry(part string) (entry, error) {
	e := entry{sign: part[0]}
	name := part[1:]
	if e.sign != '+' && e.sign != '-' {
		e.sign, name = '=', part
	}
	name, path, hasPath := strings.Cut(name, "=")
	if e.sign != '=' && hasPath {
		return entry{}, fmt.Errorf("--kind %s: %c takes no path; write %s=%s to define the kind", part, e.sign, name, path)
	}
	group, kind, ok := strings.Cut(name, "/")
	if !ok || !groupName(group) || !kindName(kind) {
		return entry{}, fmt.Errorf("--kind %s: %q is no group/Kind, such as example.com/WebApp or core/Pod", part, name)
	}
	if group == "core" {
		group = ""
	}
	e.group, e.kind = group, kind
	if e.sign != '=' {
		return e, nil
	}
	if !hasPath {
		return entry{}, fmt.Errorf("--kind %s: write +%s to switch the kind on, -%s to switch it off, "+
			"or %s=PATH to say where its pod template is", part, part, part, part)
	}
	p, err := userPath(path)
	if err != nil {
		return entry{}, fmt.Errorf("--kind %s: %w", name, err)
	}
	e.paths = []Path{p}
	return e, nil
}

// userPath reads a path, which must not be empty: a whole object is a Pod only in the core group.
func userPath(text string) (Path, error) {
	p, err := parsePath(text)
	if err == nil && len(p.segments) == 0 {
		err = fmt.Errorf("the path is empty; write the fields that lead to the pod template, such as spec.template")
	}
	return p, err
}

func (e entry) apply(rows []Row) ([]Row, error) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Group == e.group && r.Kind == e.kind })
	if e.sign == '=' {
		row := Row{Group: e.group, Kind: e.kind, Paths: e.paths, user: true}
		if i < 0 {
			return append(rows, row), nil
		}
		row.Restricted = rows[i].Restricted
		rows[i] = row
		return rows, nil
	}
	if i < 0 {
		return nil, e.unknown(rows)
	}
	if e.sign == '-' {
		rows[i].Mode, rows[i].silent = Off, true
		return rows, nil
	}
	if rows[i].Mode == Never || len(rows[i].Paths) == 0 {
		return nil, fmt.Errorf("--kind +%s: it cannot be switched on: %s", e.name(), rows[i].Reason)
	}
	rows[i].Mode, rows[i].silent = On, false
	return rows, nil
}

// unknown names the kinds that may have been meant.
func (e entry) unknown(rows []Row) error {
	var names []string
	for _, r := range rows {
		if strings.EqualFold(r.Kind, e.kind) || strings.EqualFold(r.Group, e.group) && r.Group != "" && len(names) < 5 {
			names = append(names, r.Name())
		}
	}
	advice := fmt.Sprintf("write %s=PATH to say where its pod template is", e.name())
	if len(names) > 0 {
		advice = "known are " + strings.Join(names, ", ") + "; else " + advice
	}
	return fmt.Errorf("--kind %c%s: the kind is not known; %s", e.sign, e.name(), advice)
}

// groupName accepts lower-case DNS names, and "core".
func groupName(group string) bool {
	if group == "" || strings.Trim(group, ".-") != group {
		return false
	}
	for _, c := range group {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// kindName accepts what Kubernetes does: letters and digits after a capital.
func kindName(kind string) bool {
	for i, c := range kind {
		upper := 'A' <= c && c <= 'Z'
		if i == 0 && !upper {
			return false
		}
		if !upper && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return kind != ""
}
