package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/manifest"
)

// outputFlags say where the result goes.
type outputFlags struct {
	output, outputFile string
	inPlace            bool
	check              bool
}

func (o *outputFlags) register(fs *pflag.FlagSet) {
	fs.StringVarP(&o.output, "output", "o", "", "`format` or file: yaml, json, json-patch[=FOLDER] or kustomize[=FOLDER]; any other name is a file, and a folder takes one file per input")
	fs.StringVar(&o.outputFile, "output-file", "", "`file` to write to, whatever its name")
	fs.BoolVarP(&o.inPlace, "in-place", "i", false, "write each file back in place")
}

// formats are the words that -o takes as a format.
func formats() []string { return []string{formatYAML, formatJSON, formatJSONPatch, formatKustomize} }

// foreignFormats are the formats of other commands; a file is hardly meant by such a word.
func foreignFormats() []string {
	return []string{"text", "sarif", "github", "gitlab", "junit", "markdown", "svg"}
}

// form gives the format of the output and where it goes: a file or folder, or empty for stdout.
func (o *outputFlags) form() (format, target string) {
	word, folder, hasFolder := strings.Cut(o.output, "=")
	switch {
	case o.output == "" || o.output == "-":
		format, target = formatYAML, o.outputFile
	case slices.Contains(formats(), o.output):
		return o.output, o.outputFile
	case hasFolder && isPatchFormat(word):
		return word, folder
	default:
		format, target = formatYAML, o.output
	}
	if strings.HasSuffix(target, ".json") && !files.IsFolder(target) {
		format = formatJSON
	}
	return format, target
}

// folderGiven tells whether patches go to a folder.
func (o *outputFlags) folderGiven() bool {
	format, target := o.form()
	return isPatchFormat(format) && (strings.Contains(o.output, "=") || target != "" && files.IsFolder(target))
}

// target tells where the output goes: a file name, or empty for stdout.
func (o *outputFlags) target() (string, error) {
	format, target := o.form()
	switch {
	case slices.Contains(foreignFormats(), o.output):
		return "", usagef("for a file of this name write ./"+o.output, "-o %s is a format of another command", o.output)
	case o.outputFile != "" && o.output != "" && !slices.Contains(formats(), o.output):
		return "", usagef("give one of them", "--output and --output-file are both given")
	case strings.HasSuffix(o.output, "=") && isPatchFormat(format):
		return "", usagef("write -o "+format+"=FOLDER", "-o %s names no folder", o.output)
	}
	return target, nil
}

// checkUsage refuses combinations that make no sense.
func (o *outputFlags) checkUsage() error {
	target, err := o.target()
	if err != nil {
		return err
	}
	if o.inPlace && target != "" {
		return usagef("use one of them", "-i writes each file in place, so it cannot go with an output file")
	}
	if format, _ := o.form(); o.inPlace && format != formatYAML {
		return usagef("leave -i out", "-i writes manifests in place, so it cannot go with -o %s", format)
	}
	if o.inPlace && o.check {
		return usagef("use one of them", "--check writes nothing, so it cannot go with -i")
	}
	return nil
}

// sink takes the output of the inputs one after the other, and writes it when all went well.
type sink interface {
	// begin starts the output of an input.
	begin(in *files.Input)
	// write takes what became of a document, in UTF-8; enc is what the stream is encoded as.
	write(enc manifest.Encoding, r transform.Result) error
	// commit writes it all; findings say what went wrong or is worth knowing.
	commit(ctx context.Context) ([]policy.Finding, error)
	// close frees what the sink holds.
	close()
}

// openSink makes the sink that the flags ask for.
func (o *outputFlags) openSink(p *Process, inputs []files.Input) (sink, []policy.Finding) {
	target, err := o.target()
	if err != nil {
		return nil, problem(files.CodeUsage, err.Error(), "")
	}
	format, _ := o.form()
	switch {
	case o.check:
		return &changedNames{process: p}, nil
	case format != formatYAML:
		if target != "" && !o.folderGiven() {
			if f := files.Conflict(inputs, target); f != nil {
				return nil, []policy.Finding{*f}
			}
		}
		return o.openFormat(p, format, target), nil
	case o.inPlace:
		return &perFile{process: p, inputs: inputs}, nil
	case target != "" && files.IsFolder(target):
		targets, fs := files.FolderTargets(inputs, target)
		if policy.HasErrors(fs) {
			return nil, fs
		}
		return &perFile{process: p, inputs: inputs, targets: targets}, nil
	case target != "":
		if f := files.Conflict(inputs, target); f != nil {
			return nil, []policy.Finding{*f}
		}
	}
	return &single{process: p, target: target, spool: files.Spool{Dir: p.TempDir}}, nil
}

// single joins all inputs into one output.
type single struct {
	process *Process
	target  string
	spool   files.Spool
	joiner  manifest.Joiner
	fresh   bool
}

func (s *single) begin(*files.Input) { s.fresh = true }

func (s *single) write(enc manifest.Encoding, r transform.Result) error {
	raw := r.Raw
	if s.fresh && len(raw) > 0 {
		s.fresh = false
		glue, drop, err := s.joiner.Begin(raw, looksJSON(raw), enc)
		if err != nil {
			return usagef("run once for each encoding", "%v", err)
		}
		if _, err := s.spool.Write(enc.Encode(glue)); err != nil {
			return err
		}
		raw = raw[drop:]
	}
	s.joiner.Wrote(raw)
	_, err := s.spool.Write(enc.Encode(raw))
	return err
}

// looksJSON tells whether the first thing in a text is a JSON object.
func looksJSON(raw []byte) bool {
	raw = bytes.TrimLeft(raw, "\ufeff \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

func (s *single) close() { _ = s.spool.Close() }

func (s *single) commit(ctx context.Context) ([]policy.Finding, error) {
	if s.target == "" {
		_, err := s.spool.WriteTo(s.process.Out)
		return nil, err
	}
	result, fs := files.Replace(ctx, files.System{}, []files.Replacement{{
		Name: slashed(s.target), Path: s.target, Content: &s.spool,
	}})
	return append(fs, result.Notices...), nil
}

// perFile writes each input's output to a file of its own: the input itself, or one below a folder.
type perFile struct {
	process *Process
	inputs  []files.Input
	targets []string
	spools  []*files.Spool
}

func (f *perFile) begin(*files.Input) {
	f.spools = append(f.spools, &files.Spool{Dir: f.process.TempDir, Limit: files.DefaultSpoolLimit / 16})
}

func (f *perFile) write(enc manifest.Encoding, r transform.Result) error {
	_, err := f.spools[len(f.spools)-1].Write(enc.Encode(r.Raw))
	return err
}

func (f *perFile) close() {
	for _, s := range f.spools {
		_ = s.Close()
	}
}

func (f *perFile) commit(ctx context.Context) ([]policy.Finding, error) {
	var rs []files.Replacement
	for i, s := range f.spools {
		in := &f.inputs[i]
		r := files.Replacement{Name: in.Name, Path: in.Path, Read: in.Info, Content: s}
		if f.targets != nil {
			r = files.Replacement{Name: filepath.ToSlash(f.targets[i]), Path: f.targets[i], Content: s}
		}
		rs = append(rs, r)
	}
	result, fs := files.Replace(ctx, files.System{}, rs)
	return append(fs, result.Notices...), nil
}

// changedNames writes the names of the inputs that would change, one a line, and nothing else: --check.
type changedNames struct {
	process *Process
	names   []string
	current string
}

func (c *changedNames) begin(in *files.Input) { c.current = in.Name }

func (c *changedNames) write(_ manifest.Encoding, r transform.Result) error {
	if r.Changed && (len(c.names) == 0 || c.names[len(c.names)-1] != c.current) {
		c.names = append(c.names, c.current)
	}
	return nil
}

func (c *changedNames) commit(context.Context) ([]policy.Finding, error) {
	var text strings.Builder
	for _, n := range c.names {
		text.WriteString(n + "\n")
	}
	_, err := io.WriteString(c.process.Out, text.String())
	return nil, err
}

func (*changedNames) close() {}

// differences keeps the texts of changed files, before and after.
type differences struct{ list []difference }

// difference is one file: its text and what goes where in it.
type difference struct {
	name  string
	old   []byte
	edits []print.Edit
}

func (d *differences) begin(in *files.Input) { d.list = append(d.list, difference{name: in.Name}) }

func (d *differences) write(_ manifest.Encoding, r transform.Result) error {
	f := &d.list[len(d.list)-1]
	at := len(f.old)
	f.old = append(f.old, r.Source...)
	if r.Changed {
		f.edits = append(f.edits, print.Edit{Start: at, End: len(f.old), New: r.Raw})
	}
	return nil
}

func (*differences) commit(context.Context) ([]policy.Finding, error) { return nil, nil }
func (*differences) close()                                           {}
