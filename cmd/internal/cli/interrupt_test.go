package cli

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"
)

// TestInterrupted: a run that waits for its input ends when it is told to, and writes nothing.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	done := make(chan int)
	go func() {
		done <- Run(ctx, Process{
			Args: []string{"inject", "-f", "-"}, In: r, Out: &out, Err: &errs, Getenv: func(string) string { return "" },
		})
	}()
	if _, err := io.WriteString(w, "apiVersion: v1\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case status := <-done:
		if status != ExitInterrupted || out.Len() > 0 {
			t.Errorf("status %d, output %q, errors %q", status, out.String(), errs.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the run goes on")
	}
}
