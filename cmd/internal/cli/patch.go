package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/manifest"
	"github.com/kube-inject/inject/transform/workload"
)

// The formats of -o.
const (
	formatYAML      = "yaml"
	formatJSON      = "json"
	formatJSONPatch = "json-patch"
	formatKustomize = "kustomize"
)

// patches tells whether the format says what changes instead of what comes out.
func isPatchFormat(format string) bool { return format == formatJSONPatch || format == formatKustomize }

// formatted makes what works on documents work in the format that the flags ask for.
func (o *outputFlags) formatted(d documentStreamer, registry workload.Registry) streamer {
	switch format, _ := o.form(); {
	case isPatchFormat(format):
		return transform.Patcher{Documents: d, Registry: registry}
	case format == formatJSON:
		return transform.JSONPrinter{Documents: d}
	}
	return d
}

// documentStreamer is an injector or uninjector.
type documentStreamer interface {
	streamer
	transform.Documents
}

// openFormat makes the sink of a format other than YAML.
func (o *outputFlags) openFormat(p *Process, format, target string) sink {
	if format == formatJSON {
		return &jsonObjects{process: p, target: target, spool: files.Spool{Dir: p.TempDir}}
	}
	return &patches{process: p, format: format, target: target, folder: o.folderGiven()}
}

// jsonObjects writes a stream of JSON objects.
type jsonObjects struct {
	process *Process
	target  string
	spool   files.Spool
}

func (*jsonObjects) begin(*files.Input) {}
func (s *jsonObjects) close()           { _ = s.spool.Close() }

func (s *jsonObjects) write(_ manifest.Encoding, r transform.Result) error {
	_, err := s.spool.Write(r.Raw)
	return err
}

func (s *jsonObjects) commit(ctx context.Context) ([]policy.Finding, error) {
	return writeOut(ctx, s.process, s.target, &s.spool)
}

// writeOut writes to a file, or to standard output where there is none.
func writeOut(ctx context.Context, p *Process, target string, content *files.Spool) ([]policy.Finding, error) {
	if target == "" {
		_, err := content.WriteTo(p.Out)
		return nil, err
	}
	result, fs := files.Replace(ctx, files.System{}, []files.Replacement{{Name: slashed(target), Path: target, Content: content}})
	return append(fs, result.Notices...), nil
}

// patches collects what changes in each object.
type patches struct {
	process        *Process
	format, target string
	// folder says that target is a folder that takes a file per object.
	folder bool
	list   []transform.Patch
}

func (*patches) begin(*files.Input) {}
func (*patches) close()             {}

func (s *patches) write(_ manifest.Encoding, r transform.Result) error {
	s.list = append(s.list, r.Patches...)
	return nil
}

func (s *patches) commit(ctx context.Context) ([]policy.Finding, error) {
	outputs, fs := s.outputs()
	if policy.HasErrors(fs) {
		return fs, nil
	}
	if !s.folder {
		var spool files.Spool
		if _, err := spool.Write(outputs[0].text); err != nil {
			return nil, err
		}
		return writeOut(ctx, s.process, s.target, &spool)
	}
	rs := make([]files.Replacement, len(outputs))
	for i, o := range outputs {
		var spool files.Spool
		if _, err := spool.Write(o.text); err != nil {
			return nil, err
		}
		path := filepath.Join(s.target, o.name)
		rs[i] = files.Replacement{Name: slashed(path), Path: path, Content: &spool}
	}
	result, fs := files.Replace(ctx, files.System{}, rs)
	return append(fs, result.Notices...), nil
}

// patchFile is a file of a folder of patches.
type patchFile struct {
	name string
	text []byte
}

// outputs gives the files to write; without a folder it is one, and its name does not count.
func (s *patches) outputs() ([]patchFile, []policy.Finding) {
	if s.format == formatKustomize {
		text, fs := transform.Component(s.list)
		return []patchFile{{"kustomization.yaml", text}}, fs
	}
	if s.folder {
		out := make([]patchFile, len(s.list))
		for i, p := range s.list {
			out[i] = patchFile{patchName(i, p.Target), line(transform.PatchText(p.Ops, ""))}
		}
		return out, nil
	}
	// One object's patch is what kubectl patch takes; several need to say whose they are.
	switch len(s.list) {
	case 0:
		return []patchFile{{"", []byte("[]\n")}}, nil
	case 1:
		return []patchFile{{"", line(transform.PatchText(s.list[0].Ops, ""))}}, nil
	}
	return []patchFile{{"", line(transform.PatchList(s.list))}}, nil
}

func line(text []byte) []byte { return append(text, '\n') }

// patchName is NNNN-kind-name.json, in letters that every file system takes.
func patchName(i int, t transform.PatchTarget) string {
	name := t.Name
	if name == "" {
		name = strings.TrimSuffix(t.GenerateName, "-")
	}
	safe := func(text string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.':
				return r
			}
			return '-'
		}, strings.ToLower(text))
	}
	return fmt.Sprintf("%04d-%s-%s.json", i+1, safe(t.Kind), safe(name))
}
