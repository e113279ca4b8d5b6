package transform

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
)

// Batch is what became of some consecutive documents of a stream.
type Batch struct {
	// Encoding is how the stream was encoded; Raw of the results is UTF-8 all the same.
	Encoding manifest.Encoding
	Results  []Result
	// Documents counts those among the results that a person would count, so text before the first does not.
	Documents int
}

const (
	// batchBytes is how much text of unremarkable documents makes one unit of work.
	batchBytes = 64 << 10
	// windowPerWorker bounds the work that is read ahead.
	windowPerWorker = 4
)

// Stream injects the documents of r, named file in messages, with that many workers, and hands the results to emit in
// input order; an error of emit ends the stream and is returned. What cannot be read ends it too: a [policy.Finding]
// for text that is no UTF-8 or UTF-16, else the reader's error. Memory is bounded by the largest document times the
// number of workers.
func (in *Injector) Stream(ctx context.Context, file string, r io.Reader, workers int, emit func(Batch) error) error {
	return stream(ctx, file, r, workers, in.Document, emit)
}

// job is one unit of work and the place where its result appears.
type job struct {
	docs  []manifest.Document
	batch Batch
	done  chan struct{}
}

// stream runs work over the documents of r. One goroutine reads, workers work, and the caller's emits in order: each
// job is put into a queue when it is read, and taken out of it when it is done.
func stream(ctx context.Context, file string, r io.Reader, workers int, work func(manifest.Document) Result,
	emit func(Batch) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := make(chan *job, workers)
	queue := make(chan *job, windowPerWorker*workers)
	var readErr error
	go func() {
		defer close(queue)
		defer close(jobs)
		readErr = read(ctx, manifest.NewReader(file, r), func(j *job) bool {
			select {
			case queue <- j:
			case <-ctx.Done():
				return false
			}
			select {
			case jobs <- j:
				return true
			case <-ctx.Done():
				close(j.done)
				return false
			}
		})
	}()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				j.run(work)
			}
		})
	}
	var err error
	for j := range queue {
		<-j.done
		if err == nil && ctx.Err() == nil {
			if err = emit(j.batch); err != nil {
				cancel()
			}
		}
	}
	wg.Wait()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return readErr
}

// read cuts the stream into jobs and hands them to give, until that says no more.
func read(ctx context.Context, r *manifest.Reader, give func(*job) bool) error {
	j := &job{done: make(chan struct{})}
	size := 0
	flush := func() bool {
		if len(j.docs) == 0 {
			return true
		}
		j.batch.Encoding = r.Encoding()
		ok := give(j)
		j, size = &job{done: make(chan struct{})}, 0
		return ok
	}
	for ctx.Err() == nil {
		d, err := r.Next()
		if err != nil {
			flush()
			if err == io.EOF {
				return nil
			}
			return err
		}
		j.docs = append(j.docs, d)
		size += len(d.Raw)
		if size >= batchBytes && !flush() {
			break
		}
	}
	return nil
}

func (j *job) run(work func(manifest.Document) Result) {
	defer close(j.done)
	j.batch.Results = make([]Result, len(j.docs))
	for i, d := range j.docs {
		j.batch.Results[i] = guarded(d, work)
		if d.Index > 0 {
			j.batch.Documents++
		}
	}
	j.docs = nil
}

// guarded turns a panic into an error about the document that caused it.
func guarded(d manifest.Document, work func(manifest.Document) Result) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = Result{Raw: d.Raw, Findings: []policy.Finding{{
				Code: "E_INTERNAL", Severity: policy.Error, Document: d.Index,
				Position: policy.Position{File: d.File, Line: d.Line},
				Message:  fmt.Sprintf("inject failed on this document: %v", p),
				Hint:     "this is a defect of inject: please report it with this document",
			}}}
		}
	}()
	r = work(d)
	r.Source = d.Raw
	return r
}
