package policy_test

import (
	"fmt"

	"github.com/kube-inject/inject/policy"
)

func ExampleDecide() {
	d := policy.Decide(policy.Facts{
		Namespace: "shop",
		Labels:    map[string]string{"app": "web", policy.LabelInject: "false"},
	})
	fmt.Println(d.Inject, d.Rule)
	fmt.Println(d.Reason())
	for _, s := range d.Trail {
		fmt.Println(s.Rule, s.Result)
	}
	// Output:
	// false inject-label
	// label sidecar.istio.io/inject is "false" (metadata.labels[sidecar.istio.io/inject])
	// host-network pass
	// ignored-namespace pass
	// inject-label no
	// inject-annotation not-reached
	// never-selector not-reached
	// always-selector not-reached
	// policy not-reached
}

func ExampleValidateAnnotations() {
	for _, p := range policy.ValidateAnnotations(map[string]string{
		policy.AnnotationInterceptionMode: "redirect",
	}, policy.ValidateOptions{}) {
		fmt.Println(p.Message)
		fmt.Println(p.Hint)
	}
	// Output:
	// sidecar.istio.io/interceptionMode is "redirect": it must be REDIRECT, TPROXY or NONE
	// write REDIRECT
}

func ExampleSuggest() {
	fmt.Println(policy.Suggest("sidecar.istio.io/proxyCpu", policy.Annotation))
	// Output: [sidecar.istio.io/proxyCPU]
}
