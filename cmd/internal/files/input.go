package files

import (
	"io"
	"io/fs"
	"os"

	"github.com/kube-inject/inject/policy"
)

// StdinName is how messages name standard input.
const StdinName = "<stdin>"

// Input is one named source of manifests.
type Input struct {
	// Name is what messages print: forward slashes, no leading "./", relative where that was possible.
	Name string
	// Path is what the operating system is asked for; empty for standard input.
	Path string
	// Rel is where the output of this input goes below the folder of -o DIR/; always a local path.
	Rel string
	// JSON says that the name ends in .json, so that the content must be strict JSON.
	JSON bool
	// Stream says that the input can be read once only and cannot be replaced: standard input, a FIFO, a device.
	Stream bool
	// Info describes the file when it was found, and after Open the very file that was opened. It is nil for a
	// standard input that is no file.
	Info fs.FileInfo

	stdin io.Reader
	// replaced says that stdin stands for the input whatever its path.
	replaced bool
}

// Open gives the input's bytes. For a file it also renews Info from the handle, so that a later check compares with
// the file that was read and not with one that has since taken its name. The error is the system's own;
// [Input.Problem] makes it a finding.
func (in *Input) Open() (io.ReadCloser, error) {
	if in.Path == "" || in.replaced {
		return io.NopCloser(in.stdin), nil
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, joinClose(err, f)
	}
	in.Info = info
	return f, nil
}

// Problem is the finding for an error that came from Open or from reading.
func (in *Input) Problem(err error) policy.Finding {
	return ioProblem(in.Name, "read", err)
}

// joinClose closes c after a failure; the failure is what the caller must hear of.
func joinClose(err error, c io.Closer) error {
	_ = c.Close()
	return err
}
