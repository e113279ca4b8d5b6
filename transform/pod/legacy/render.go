package legacy

import (
	"errors"
	"fmt"
	"sync"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/template"
)

const (
	// templateName is the name that errors give the template; Istio's said "inject".
	templateName = "inject"
	// maxNesting bounds render inside render.
	maxNesting = 8
	// maxRenders bounds the calls of render in one injection.
	maxRenders = 1000
)

var errNested = errors.New("render is called too often: it renders a text that calls render again")

// rendering is one parsed template together with the state of the run it is in. It serves one run at a time, because
// the function render needs the data of the run, and functions are bound when a template is parsed.
type rendering struct {
	version Version
	env     map[string]string
	pos     policy.Position
	main    *template.Template

	data    *Data
	depth   int
	calls   int
	endless bool
	failed  []policy.Finding
}

// renderings holds the idle copies of the parsed template: as many as injections have run at the same time. (A
// sync.Pool would be emptied by each garbage collection, and parsing a chart's template costs more than running it.)
type renderings struct {
	parse func() (*rendering, *policy.Finding)
	mu    sync.Mutex
	idle  []*rendering
}

// parse reads the template once; the finding says what does not parse.
func parse(cfg Config) (*renderings, *policy.Finding) {
	all := &renderings{parse: func() (*rendering, *policy.Finding) {
		r := &rendering{version: cfg.Version, env: cfg.TemplateEnv, pos: cfg.TemplatePos}
		var f *policy.Finding
		r.main, f = template.Parse(templateName, cfg.Template, cfg.TemplatePos, functions(cfg.Version, cfg.TemplateEnv, r))
		return r, f
	}}
	first, f := all.parse()
	if f != nil {
		return nil, f
	}
	all.idle = []*rendering{first}
	return all, nil
}

func (all *renderings) get() *rendering {
	if r := all.take(); r != nil {
		return r
	}
	r, _ := all.parse() // it has been parsed before, so it parses
	return r
}

func (all *renderings) take() *rendering {
	all.mu.Lock()
	defer all.mu.Unlock()
	n := len(all.idle)
	if n == 0 {
		return nil
	}
	r := all.idle[n-1]
	all.idle = all.idle[:n-1]
	return r
}

func (all *renderings) put(r *rendering) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.idle = append(all.idle, r)
}

// run renders the template on data. Findings are warnings where there is output.
func (r *rendering) run(data *Data) ([]byte, []policy.Finding) {
	r.data, r.depth, r.calls, r.endless, r.failed = data, 0, 0, false, nil
	out, f := r.main.Render(data)
	r.data = nil
	switch {
	case r.endless:
		return nil, []policy.Finding{{
			Code: template.CodeLimit, Severity: policy.Error, Position: r.pos,
			Message: fmt.Sprintf("template %q: %v", templateName, errNested),
		}}
	case f != nil:
		return nil, []policy.Finding{*f}
	}
	return out, r.failed
}

// nested is the function render: it runs text as a template on the same data. As in Istio, a text that is no
// template or fails gives nothing, here with a warning; a value that is missing is an error.
func (r *rendering) nested(text string) (string, error) {
	r.calls++
	r.endless = r.endless || r.depth >= maxNesting || r.calls > maxRenders
	if r.endless {
		return "", errNested
	}
	r.depth++
	defer func() { r.depth-- }()
	t, f := template.Parse("render", text, r.pos, functions(r.version, r.env, r))
	if f == nil {
		out, f := t.Render(r.data)
		switch {
		case f == nil:
			return string(out), nil
		case r.endless || f.Code != template.CodeRender:
			return "", errors.New(f.Message)
		}
	}
	r.failed = append(r.failed, policy.Finding{
		Code: CodeRenderedNothing, Severity: policy.Warning, Position: r.pos,
		Message: fmt.Sprintf("the template function render gives nothing for %q, which is no working template", text),
	})
	return "", nil
}
