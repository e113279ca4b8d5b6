// Command inject puts a service-mesh sidecar into Kubernetes manifests, offline.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/term"

	"github.com/kube-inject/inject/cmd/internal/cli"
)

func main() {
	// A short-lived process with little live data does better with fewer collections; memory stays bounded by the limit.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(64 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the run to stop, a second one ends it.
	context.AfterFunc(ctx, stop)
	status := cli.Run(ctx, cli.Process{
		Args: os.Args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Getenv:      os.Getenv,
		TempDir:     os.TempDir(),
	})
	stop()
	os.Exit(status)
}
