package files

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kube-inject/inject/policy"
)

// Codes of the findings that this package gives.
const (
	// CodeUsage marks an argument that makes no sense, whatever is on the disk.
	CodeUsage = "E_USAGE"
	// CodeNoInput says that a name, folder or pattern leads to no file.
	CodeNoInput = "E_NOINPUT"
	// CodeURL refuses an address: the tool works offline.
	CodeURL = "E_URL"
	// CodeIO is a failed operation on a file.
	CodeIO = "E_IO"
	// CodeChanged says that a file is not any more what was read from it.
	CodeChanged = "E_CHANGED"
	// CodeConflict says that an output would overwrite an input, or two outputs each other.
	CodeConflict = "E_CONFLICT"
	// CodeHardLink warns that other names of a replaced file keep the old content.
	CodeHardLink = "W_HARDLINK"
	// CodeOwner warns that a replaced file has another owner than before.
	CodeOwner = "W_OWNER"
	// CodeSameFile is the notice about a file that was named twice.
	CodeSameFile = "I_SAMEFILE"
)

// problem is an error about a file as a whole; hint may be empty.
func problem(code, file, message, hint string) policy.Finding {
	return policy.Finding{
		Code: code, Severity: policy.Error, Position: policy.Position{File: file}, Message: message, Hint: hint,
	}
}

// ioProblem says which step failed on which file, with the system's reason and without the path that Go repeats.
func ioProblem(file, step string, err error) policy.Finding {
	return problem(CodeIO, file, fmt.Sprintf("cannot %s: %v", step, reason(err)), "")
}

// reason is the innermost cause of a file error: "permission denied" instead of "open /a/b: permission denied".
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
