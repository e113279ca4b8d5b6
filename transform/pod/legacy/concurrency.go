package legacy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// concurrency gives istio-proxy as many threads as it may use CPUs, unless its arguments say how many: the limit,
// else the request, rounded up (istio/istio, pkg/kube/inject/inject.go, applyConcurrency, 1.7.8).
func concurrency(r *run) bool {
	i := indexOf(r.spec.Containers, policy.ContainerProxy)
	if i < 0 {
		return false
	}
	proxy := &r.spec.Containers[i]
	if slices.ContainsFunc(proxy.Args, func(arg string) bool {
		return arg == "--concurrency" || strings.HasPrefix(arg, "--concurrency=")
	}) {
		return false
	}
	for _, cpu := range []int64{proxy.Resources.Limits.Cpu().MilliValue(), proxy.Resources.Requests.Cpu().MilliValue()} {
		if n := (cpu + 999) / 1000; n > 0 {
			proxy.Args = append(proxy.Args, "--concurrency", strconv.FormatInt(n, 10))
			return true
		}
	}
	return false
}
