package files

import "io"

// Replace makes Open give r instead of what the input's name leads to. It is for inputs that can be read once only and
// of which another reader has to know too.
func (in *Input) Replace(r io.Reader) { in.stdin, in.replaced = r, true }
