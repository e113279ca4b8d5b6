//go:build unix

package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A FIFO that is named is read like standard input; one that merely lies in a folder is not touched.
func TestResolveFIFO(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"d/a.yaml": "a"})
	fifo := filepath.Join(root, "d", "pipe.yaml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	inputs, _, problems := Inputs{}.Resolve([]string{filepath.Join(root, "d")})
	if len(inputs) != 1 || len(problems) != 0 {
		t.Fatalf("folder: %d inputs, %v", len(inputs), problems)
	}
	if _, _, problems = (Inputs{InPlace: true}).Resolve([]string{fifo}); len(problems) != 1 || problems[0].Code != CodeUsage {
		t.Errorf("in place: %v", problems)
	}
	inputs, _, problems = Inputs{}.Resolve([]string{fifo})
	if len(inputs) != 1 || !inputs[0].Stream {
		t.Fatalf("named: %v %v", inputs, problems)
	}
	written := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.WriteString("kind: Pod")
			err = errors.Join(err, w.Close())
		}
		written <- err
	}()
	r, err := inputs[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close(), <-written); err != nil || string(data) != "kind: Pod" {
		t.Errorf("read %q, %v", data, err)
	}
}

// A device stays what it is: output goes into it.
func TestReplaceDevice(t *testing.T) {
	t.Parallel()
	root := tree(t, nil)
	fifo := filepath.Join(root, "pipe")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	read := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile(fifo)
		read <- string(data)
	}()
	result, problems := Replace(t.Context(), System{}, []Replacement{{Name: "pipe", Path: fifo, Content: Bytes("out")}})
	if len(problems) != 0 || len(result.Written) != 1 {
		t.Fatal(result, problems)
	}
	if got := <-read; got != "out" {
		t.Errorf("the reader got %q", got)
	}
	info, err := os.Lstat(fifo)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the FIFO is %v now, %v", info.Mode(), err)
	}
}
