package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/cmd/internal/print"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
)

// fnOptions is what the KRM function runs with. All else stands in the functionConfig, where kustomize and kpt keep it.
type fnOptions struct {
	verbose bool
}

func newFn(p *Process) *cobra.Command {
	var o fnOptions
	cmd := &cobra.Command{
		Use:   "fn < RESOURCELIST",
		Short: "Inject as a KRM function, for kustomize and kpt",
		Long: `Reads a ResourceList from standard input and writes it back with a sidecar in every pod template
that asks for it, and with results. What to inject is the list's functionConfig: ` + transform.FunctionAPIVersion + `
` + transform.FunctionKind + `, or a ConfigMap; without one the embedded profile. With mode: Validate nothing
changes, and what is wrong becomes results.

Results of severity warning and error go to standard error too, as kustomize build hides results.`,
		Example: `  # kustomize runs it from the transformers: of a kustomization, but only with both flags
  kustomize build --enable-alpha-plugins --enable-exec overlays/prod

  # on the files of a package, in place
  kustomize fn run --enable-exec package/`,
		Args: cobra.NoArgs,
		RunE: asCommand(func(*cobra.Command) error { return o.run(p) }),
	}
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "results of severity info on standard error too")
	return cmd
}

func (o *fnOptions) run(p *Process) error {
	if p.InTerminal {
		return usagef("kustomize, kpt and other orchestrators start it; for manifests use inject -f FILE",
			"inject fn reads a ResourceList from standard input, which is a terminal")
	}
	input, err := io.ReadAll(p.In)
	if err != nil {
		return usagef("", "cannot read standard input: %s", reason(err))
	}
	// The list is one document, so memory follows it: the collector must not be held to what suffices for streams.
	debug.SetMemoryLimit(functionMemory + functionMemoryPerByte*int64(len(input)))
	out := transform.Function{Files: functionFiles{}}.Run(files.StdinName, input)
	if err := o.report(p, out); err != nil {
		return err
	}
	if _, err := p.Out.Write(out.Raw); err != nil {
		return err
	}
	return exit(int(out.Status))
}

// functionMemory is what a run may take before memory is collected at any price, and functionMemoryPerByte what each byte
// of the list adds: its tree, and an answer several times its size.
const (
	functionMemory        = 64 << 20
	functionMemoryPerByte = 128
)

// report repeats the results in one line each.
func (o *fnOptions) report(p *Process, out transform.FunctionOutput) error {
	if out.Quiet && len(out.Raw) > 0 {
		return nil
	}
	for _, f := range out.Findings {
		if f.Severity == policy.Info && !o.verbose {
			continue
		}
		if _, err := fmt.Fprintln(p.Err, functionLine(f)); err != nil {
			return err
		}
	}
	return nil
}

// functionLine is severity: Kind/namespace/name: message [rule].
func functionLine(f policy.Finding) string {
	where := f.Resource.Kind
	name := f.Resource.Name
	if name == "" && f.Resource.GenerateName != "" {
		name = f.Resource.GenerateName + "*"
	}
	for _, part := range []string{f.Resource.Namespace, name} {
		if part != "" {
			where += "/" + part
		}
	}
	if where == "" {
		where = "inject fn"
	}
	message := transform.ResultMessage(f)
	if f.Field != "" {
		message = f.Field + ": " + message
	}
	return print.Clean(fmt.Sprintf("%s: %s: %s [%s]", f.Severity, where, message, f.Code))
}

// functionFiles reads what a functionConfig names. Paths start at the working directory: kustomize starts a function in
// the folder of the kustomization that lists it.
type functionFiles struct{}

// ReadFile gives the content of a file.
func (functionFiles) ReadFile(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, reason(err))
	}
	return data, nil
}

// ReadFolder gives the files of a profile folder.
func (functionFiles) ReadFolder(name string) (map[string][]byte, []policy.Finding) {
	return readFolder(filepath.FromSlash(name))
}

// isFunctionCall tells whether the program was started as a function without being told: no arguments, and a
// ResourceList on standard input. Orchestrators that cannot pass arguments do that. What was looked at stays to be read.
func isFunctionCall(p *Process, cmd *cobra.Command, args []string) bool {
	if p.InTerminal || len(args) > 0 || cmd.Flags().NFlag() > 0 || p.In == nil {
		return false
	}
	in := bufio.NewReaderSize(p.In, 4096)
	p.In = peeked{in, p.In}
	// An error comes again when the input is read.
	head, _ := in.Peek(in.Size())
	return transform.LooksLikeResourceList(head)
}

// peeked is standard input of which the first bytes have been looked at.
type peeked struct {
	io.Reader
	origin io.Reader
}

// Stat gives what the input is, where it is a file.
func (p peeked) Stat() (fs.FileInfo, error) {
	if f, ok := p.origin.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}
