package lifecycle_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// An app that needs 8 s to stop beside a proxy that leaves after 5 s, and the first way to mend that.
func ExampleSimulate() {
	pod := lifecycle.Pod{Kind: "Deployment", Name: "web"}
	pod.Spec.InitContainers = []corev1.Container{{Name: "istio-init"}}
	pod.Spec.Containers = []corev1.Container{{Name: "web"}, {Name: "istio-proxy"}}
	options := lifecycle.Defaults()
	options.SkipStart = true
	options.AppShutdown.Default = 8 * time.Second

	for _, v := range lifecycle.Simulate(pod, options).Verdicts {
		fmt.Println(v.Severity, v.ID, v.When())
		fmt.Println(v.Message)
		fmt.Println(v.Remedies[0].Text)
		mended, err := lifecycle.Apply(pod, v.Remedies[0].Edits)
		fmt.Println(err, lifecycle.Simulate(mended, options).Has(v.ID))
	}
	// Output:
	// error outbound-lost 5s to 8s
	// proxy ends at 5s, app at 8s: the app has no network for 3s. terminationDrainDuration is 5s
	// proxy.istio.io/config terminationDrainDuration: 8s
	// <nil> false
}
