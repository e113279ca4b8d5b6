package print

import (
	"io"
	"strings"

	"github.com/kube-inject/inject/transform"
)

// Why prints where one value or one field of the injected pod came from, and tells whether there is such a one. What is
// the name of a value, of a step of the trail, or a path in the pod template, with or without "spec." in front; a path
// that others begin with stands for all of them.
func Why(out io.Writer, w transform.Workload, what string, o ExplainOptions) (bool, error) {
	p := explainPrinter{w: out, o: o}
	x := w.Explanation
	if x == nil {
		return false, nil
	}
	found := false
	head := func() {
		if !found {
			p.bold(Explained(w))
		}
		found = true
	}
	for _, v := range valuesNamed(x, what) {
		head()
		p.value(" ", v)
		for _, f := range v.Fields {
			p.line("      %s", f)
		}
	}
	if found {
		return true, p.err
	}
	for _, path := range spellings(what) {
		for _, c := range x.Changes {
			if below(c.Path, path) {
				head()
				p.line("  %s", changeLine(c))
			}
		}
		if found {
			return true, p.err
		}
	}
	for _, s := range x.Trail {
		if s.ID == what {
			head()
			p.o.All = true
			p.step(s)
		}
	}
	return found, p.err
}

// valuesNamed finds values by name, else by a field in which they end.
func valuesNamed(x *transform.Explanation, what string) []transform.Value {
	all := x.Values
	if x.Shutdown != nil {
		all = append(all[:len(all):len(all)], x.Shutdown.Durations...)
	}
	var out []transform.Value
	for _, v := range all {
		if strings.EqualFold(v.Name, what) || strings.EqualFold(v.Name, "proxyConfig."+what) {
			out = append(out, v)
		}
	}
	for _, path := range spellings(what) {
		for _, v := range all {
			for _, f := range v.Fields {
				if len(out) == 0 && f == path {
					out = append(out, v)
				}
			}
		}
	}
	if len(out) > 1 {
		out = out[:1]
	}
	return out
}

// spellings are the paths that a person may mean: a proxy is looked for in either list of containers.
func spellings(what string) []string {
	path := what
	if !strings.HasPrefix(path, "metadata.") && !strings.HasPrefix(path, "spec.") {
		path = "spec." + path
	}
	out := []string{path}
	if rest, ok := strings.CutPrefix(path, "spec.containers["); ok {
		out = append(out, "spec.initContainers["+rest)
	}
	if rest, ok := strings.CutPrefix(path, "spec.initContainers["); ok {
		out = append(out, "spec.containers["+rest)
	}
	return out
}

// below tells whether a path is the given one or inside of it.
func below(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Names lists what [Why] answers for: the values of a pod template.
func Names(w transform.Workload) []string {
	var out []string
	if w.Explanation != nil {
		for _, v := range w.Explanation.Values {
			out = append(out, v.Name)
		}
	}
	return out
}
