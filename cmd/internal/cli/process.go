package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
)

// Exit statuses. One is never used for what is broken, two and more never for what was found.
const (
	// ExitDone: what was asked is done.
	ExitDone = 0
	// ExitFound: diff, lint, lifecycle --at-most or --check found something.
	ExitFound = 1
	// ExitFailed: wrong usage or bad input; nothing was written.
	ExitFailed = 2
	// ExitInterrupted: stopped by a signal; nothing was written.
	ExitInterrupted = 130
	// ExitClosedPipe: whoever read the output went away.
	ExitClosedPipe = 141
)

// Process is all that a command knows of the process it runs in.
type Process struct {
	// Args are the words of the command line, the program's name first.
	Args     []string
	In       io.Reader
	Out, Err io.Writer
	// InTerminal, OutTerminal and ErrTerminal tell which streams are terminals.
	InTerminal, OutTerminal, ErrTerminal bool
	// Getenv gives an environment variable; only NO_COLOR and TERM are asked.
	Getenv func(string) string
	// TempDir is where output that does not fit into memory waits; empty keeps all of it in memory.
	TempDir string
}

// Run runs the command line and gives the exit status.
func Run(ctx context.Context, p Process) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(p.Err, "inject: this is a bug, please report it: %v\nversion: %s\ncommand: %s\n%s",
				r, Version(), strings.Join(p.Args, " "), debug.Stack())
			status = ExitFailed
		}
	}()
	if p.In != nil {
		p.In = &interruptible{ctx: ctx, r: p.In}
	}
	args, problems := files.ExpandFlags(p.Args[1:])
	if len(problems) > 0 {
		return p.fail(problems)
	}
	root := newRoot(&p)
	root.SetArgs(args)
	return p.status(root.ExecuteContext(ctx))
}

// failed is the error of a command that has printed what there is to say.
type failed struct{ status int }

func (f failed) Error() string { return fmt.Sprintf("exit status %d", f.status) }

// exit makes a status an error for cobra; done is none.
func exit(status int) error {
	if status == ExitDone {
		return nil
	}
	return failed{status}
}

// usageError is a command line that cannot be run as it stands.
type usageError struct{ message, hint string }

func (u usageError) Error() string { return u.message }

func usagef(hint, format string, args ...any) error {
	return usageError{fmt.Sprintf(format, args...), hint}
}

// status turns the end of a command into an exit status, and says what nobody has said yet.
func (p *Process) status(err error) int {
	var done failed
	var usage usageError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &done):
		return done.status
	case isClosedPipe(err):
		return ExitClosedPipe
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &usage):
		return p.fail([]policy.Finding{{Code: files.CodeUsage, Severity: policy.Error, Message: usage.message, Hint: usage.hint}})
	}
	var f policy.Finding
	if errors.As(err, &f) {
		return p.fail([]policy.Finding{f})
	}
	return p.fail([]policy.Finding{{Code: files.CodeUsage, Severity: policy.Error, Message: err.Error(), Hint: p.helpHint()}})
}

func (p *Process) helpHint() string { return "see " + p.name() + " --help" }

// name is how usage lines call the program: as a kubectl plugin it is called kubectl inject.
func (p *Process) name() string {
	if strings.HasPrefix(filepath.Base(p.Args[0]), "kubectl-") {
		return "kubectl inject"
	}
	return "inject"
}

// fail prints findings and gives the status of a failed run.
func (p *Process) fail(fs []policy.Finding) int {
	if err := print.Findings(p.Err, fs, print.Options{Style: p.style("auto")}); err != nil {
		return ExitFailed
	}
	return ExitFailed
}

// style decides about colour on stderr.
func (p *Process) style(mode string) print.Style {
	return p.styleFor(mode, p.ErrTerminal)
}

func asCommand(run func(cmd *cobra.Command) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error { return run(cmd) }
}
