package cli

import (
	"context"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/pod"
)

// lookOnly reads the manifests of a run that has failed already, and files the errors in them: one run tells everything that
// is wrong, so that nobody mends the configuration only to meet the next error. Without a configuration it looks at what the
// manifests are by themselves.
func (o *injectOptions) lookOnly(ctx context.Context, t *tally, inputs []files.Input, compiled *transform.Compiled) error {
	s, fs := o.setup()
	if policy.HasErrors(fs) {
		return nil
	}
	options := transform.Options{Engine: untouched{}, Registry: s.Registry, Namespace: o.namespace, Strict: o.strict}
	if compiled != nil {
		options = compiled.Options
	}
	in := transform.New(options)
	for i := range inputs {
		f, err := feed(ctx, &inputs[i], o.workers(), in, func(b transform.Batch) error {
			for _, r := range b.Results {
				t.findings(policy.Errors(r.Findings))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if f != nil {
			t.findings([]policy.Finding{*f})
		}
	}
	return nil
}

// untouched is the engine that injects nothing.
type untouched struct{}

// Inject gives the pod as it is.
func (untouched) Inject(in pod.Input) (*pod.Output, []policy.Finding) {
	return &pod.Output{Template: in.Template}, nil
}
