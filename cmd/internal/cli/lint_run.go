package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/manifest"
)

// lintText is an input that was read: its text in UTF-8, and how it was encoded.
type lintText struct {
	name string
	data []byte
	enc  manifest.Encoding
	docs []manifest.Document
}

// lintRun is one run of lint on its way.
type lintRun struct {
	plan   *lintPlan
	linter *transform.Linter
	inputs []files.Input
	texts  []lintText
	// config is what loading the configuration found.
	config []policy.Finding
	linted transform.Linted
}

// readAll reads all inputs, since a Namespace may stand behind the workloads in it.
func readAll(inputs []files.Input) ([]lintText, []policy.Finding) {
	var out []lintText
	var problems []policy.Finding
	for i := range inputs {
		in := &inputs[i]
		data, err := readInput(in)
		if err != nil {
			problems = append(problems, in.Problem(err))
			continue
		}
		text, enc, bad := manifest.Decode(in.Name, data)
		if bad != nil {
			problems = append(problems, *bad)
			continue
		}
		docs, fs := manifest.Split(in.Name, text)
		for _, f := range fs {
			if f.Code == "E_ENCODING" {
				problems = append(problems, f)
			}
		}
		out = append(out, lintText{in.Name, text, enc, docs})
	}
	return out, problems
}

func readInput(in *files.Input) ([]byte, error) {
	r, err := in.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	return data, err
}

func documents(texts []lintText) []manifest.Document {
	var out []manifest.Document
	for i := range texts {
		out = append(out, texts[i].docs...)
	}
	return out
}

// report prints the findings and gives the status as an error.
func (o *lintOptions) report(p *Process, r *lintRun, w io.Writer) error {
	fs := policy.SortFindings(append(slices.Clone(r.config), r.linted.Findings...))
	fs = slices.DeleteFunc(fs, func(f policy.Finding) bool { return f.Severity < r.plan.shown })
	po := r.printing(p, o)
	if r.plan.target != "" {
		var b bytes.Buffer
		po.Style = print.Style{}
		if err := r.plan.write(&b, fs, po); err != nil {
			return err
		}
		if err := os.WriteFile(r.plan.target, b.Bytes(), 0o666); err != nil {
			return usagef("", "cannot write %s: %s", r.plan.target, reason(err))
		}
	} else if err := r.plan.write(w, fs, po); err != nil {
		return err
	}
	status := ExitDone
	for _, f := range fs {
		if f.Severity >= r.plan.failing {
			status = ExitFound
		}
	}
	if r.linted.Unreadable {
		status = ExitFailed
	}
	if !o.quiet {
		fmt.Fprintln(p.Err, lintSummary(r, fs))
	}
	return exit(status)
}

// lintSummary is the line at the end.
func lintSummary(r *lintRun, fs []policy.Finding) string {
	counts := [3]int{}
	for _, f := range fs {
		counts[f.Severity]++
	}
	return fmt.Sprintf("checked %s in %s: %s, %s, %s", number(len(r.linted.Checked), "object"),
		number(r.linted.Documents, "document"), number(counts[policy.Error], "error"),
		number(counts[policy.Warning], "warning"), number(counts[policy.Info], "info"))
}

// number is "1 error" or "2 errors".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// printing is what the writers need besides the findings.
func (r *lintRun) printing(p *Process, o *lintOptions) print.Options {
	po := print.Options{
		Tool: tool(), StdinName: o.stdinName, MaxErrors: -1, Style: p.styleFor(o.color, p.OutTerminal),
		Source: r.source(), Edits: r.edits,
	}
	for _, rule := range r.plan.rules {
		po.Rules = append(po.Rules, print.Rule{
			ID: rule.ID, Category: string(rule.Category), Severity: rule.Severity, Summary: rule.Summary,
			Help: rule.Why + "\n\nRemedy: " + rule.Remedy + ".", Link: rule.Link,
		})
	}
	for _, c := range r.linted.Checked {
		po.Checked = append(po.Checked, print.Checked{File: c.File, Resource: c.Resource})
	}
	return po
}

// source gives lines of the inputs; a file is cut into lines when it is first asked for.
func (r *lintRun) source() func(file string, line int) (string, bool) {
	lines := map[string][]string{}
	return func(file string, line int) (string, bool) {
		if _, ok := lines[file]; !ok {
			lines[file] = nil
			for i := range r.texts {
				if r.texts[i].name == file {
					lines[file] = strings.Split(string(r.texts[i].data), "\n")
				}
			}
		}
		if line < 1 || line > len(lines[file]) {
			return "", false
		}
		return lines[file][line-1], true
	}
}

// edits gives the fix of a finding as edits of its file.
func (r *lintRun) edits(f policy.Finding) []print.TextEdit {
	var out []print.TextEdit
	for i := range r.texts {
		if r.texts[i].name != f.Position.File {
			continue
		}
		for _, d := range r.texts[i].docs {
			if d.Index != f.Document {
				continue
			}
			for _, e := range r.linter.FixEdits(d, f) {
				edit := print.TextEdit{New: string(e.Text)}
				edit.StartLine, edit.StartColumn = lineColumn(d, e.Start)
				edit.EndLine, edit.EndColumn = lineColumn(d, e.End)
				out = append(out, edit)
			}
		}
	}
	return out
}

// lineColumn turns an offset in a document into a place in its file.
func lineColumn(d manifest.Document, offset int) (line, column int) {
	before := d.Raw[:min(offset, len(d.Raw))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return d.Line + bytes.Count(before, []byte("\n")), utf8.RuneCount(before[start:]) + 1
}

// mend writes the fixes and reports what is left.
func (o *lintOptions) mend(ctx context.Context, p *Process, r *lintRun) error {
	mendedValues, err := o.mendValues(ctx, p, r)
	if err != nil {
		return err
	}
	fixed := r.linter.Fix(documents(r.texts))
	fixed.Mended = append(fixed.Mended, mendedValues...)
	r.linted = fixed.Rest
	r.config = append(r.config, fixed.Problems...)
	stream := slices.ContainsFunc(r.inputs, func(in files.Input) bool { return in.Stream })
	if stream && len(r.inputs) > 1 {
		return usagef("name files only, or standard input alone", "--fix with standard input and files")
	}
	if r.linted.Unreadable {
		w := p.Out
		if stream {
			w = p.Err
		}
		return o.report(p, r, w)
	}
	texts := make([][]byte, len(r.texts))
	for i := range r.texts {
		for _, d := range fixed.Docs {
			if d.File == r.texts[i].name {
				texts[i] = append(texts[i], d.Raw...)
			}
		}
	}
	if stream {
		if _, err := p.Out.Write(r.texts[0].enc.Encode(texts[0])); err != nil {
			return err
		}
	} else if fs := r.replace(ctx, texts); policy.HasErrors(fs) {
		return exit(p.fail(fs))
	}
	for i := range r.texts {
		r.texts[i].data = texts[i]
		r.texts[i].docs, _ = manifest.Split(r.texts[i].name, texts[i])
	}
	if !o.quiet {
		fmt.Fprintln(p.Err, "mended "+number(len(fixed.Mended), "finding"))
	}
	w := p.Out
	if stream {
		w = p.Err
	}
	return o.report(p, r, w)
}

// mendValues writes the fixes of findings about the values file into it, and loads the configuration anew.
func (o *lintOptions) mendValues(ctx context.Context, p *Process, r *lintRun) ([]policy.Finding, error) {
	if o.values == "" || o.values == "-" {
		return nil, nil
	}
	found := r.linter.Lint(documents(r.texts))
	old, err := os.ReadFile(o.values)
	if err != nil || found.Unreadable {
		return nil, nil // loading the configuration has read it, and unreadable manifests are reported later
	}
	text, mended, problems := transform.FixConfig(slashed(o.values), old, found.Findings)
	r.config = append(r.config, problems...)
	if len(mended) == 0 {
		return nil, nil
	}
	_, fs := files.Replace(ctx, files.System{}, []files.Replacement{{
		Name: slashed(o.values), Path: o.values, Content: files.Bytes(text),
	}})
	if policy.HasErrors(fs) {
		return nil, exit(p.fail(fs))
	}
	linter, fs, err := o.linter(p, r.plan, takesStdin(r.inputs))
	if err != nil || linter == nil {
		return nil, exit(p.fail(fs))
	}
	r.linter, r.config = linter, append(problems, fs...)
	return mended, nil
}

// replace writes the changed files back, all or none.
func (r *lintRun) replace(ctx context.Context, texts [][]byte) []policy.Finding {
	var list []files.Replacement
	for i, in := range r.inputs {
		if !bytes.Equal(texts[i], r.texts[i].data) {
			list = append(list, files.Replacement{
				Name: in.Name, Path: in.Path, Read: in.Info, Content: files.Bytes(r.texts[i].enc.Encode(texts[i])),
			})
		}
	}
	if len(list) == 0 {
		return nil
	}
	_, fs := files.Replace(ctx, files.System{}, list)
	return fs
}
