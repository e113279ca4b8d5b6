package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
)

// inputFlags name the manifests.
type inputFlags struct {
	files     []string
	recursive bool
	jobs      int
}

func (f *inputFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.files, "filename", "f", nil, "`file`, folder, pattern or - (stdin) with manifests; may be repeated")
	fs.BoolVarP(&f.recursive, "recursive", "R", false, "go into subfolders")
	fs.IntVar(&f.jobs, "jobs", 0, "`number` of documents to work on at once (default: number of processors)")
	mustHide(fs, "jobs")
}

func mustHide(fs *pflag.FlagSet, name string) {
	if err := fs.MarkHidden(name); err != nil {
		panic("no flag to hide: " + name)
	}
}

func (f *inputFlags) workers() int {
	if f.jobs > 0 {
		return f.jobs
	}
	return runtime.GOMAXPROCS(0)
}

// resolve gives the inputs, or the findings that keep the run from starting.
func (f *inputFlags) resolve(p *Process, args []string, inPlace bool) ([]files.Input, []policy.Finding, []policy.Finding) {
	in := files.Inputs{Stdin: p.In, StdinTerminal: p.InTerminal, Recursive: f.recursive, InPlace: inPlace}
	return in.Resolve(append(append([]string(nil), f.files...), args...))
}

// feed runs work over one input and hands the batches to emit. A finding says why it cannot be read.
func feed(ctx context.Context, in *files.Input, workers int, injector streamer, emit func(transform.Batch) error) (*policy.Finding, error) {
	r, err := in.Open()
	if err != nil {
		f := in.Problem(err)
		return &f, nil
	}
	err = injector.Stream(ctx, in.Name, r, workers, emit)
	if closeErr := r.Close(); err == nil && closeErr != nil {
		f := in.Problem(closeErr)
		return &f, nil
	}
	var f policy.Finding
	var pathErr *os.PathError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &f):
		return &f, nil
	case errors.As(err, &pathErr):
		f = in.Problem(err)
		return &f, nil
	}
	return nil, err
}

// streamer is what a run does with a stream: inject, uninject or only look.
type streamer interface {
	Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(transform.Batch) error) error
}

// isClosedPipe tells whether whoever read our output went away.
func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// exists tells whether a name leads to anything.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
