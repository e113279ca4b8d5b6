package pod

import (
	"strings"

	"github.com/kube-inject/inject/policy"
)

// envSeparator starts each pair of the second form of the webhook's path.
const envSeparator = ":ENV:"

// ParsePath reads the proxy environment out of the path of the webhook's URL: /inject/cluster/X/net/Y, where "--slash--"
// stands for a slash in a value, or /inject/:ENV:cluster=X:ENV:net=Y. Other names become variables in upper case; a
// name without a value is left out (istio/istio, pkg/kube/inject/webhook.go, parseInjectEnvs, 1.30).
func ParsePath(path string) map[string]string {
	env := map[string]string{}
	rest, ok := strings.CutPrefix(strings.TrimSuffix(path, "/"), "/inject/")
	if !ok {
		return env
	}
	if strings.HasPrefix(rest, envSeparator) {
		for pair := range strings.SplitSeq(rest, envSeparator) {
			if name, value, found := strings.Cut(pair, "="); found && name != "" {
				env[pathVariable(name)] = value
			}
		}
		return env
	}
	parts := strings.Split(rest, "/")
	for i := 0; i+1 < len(parts); i += 2 {
		env[pathVariable(parts[i])] = strings.ReplaceAll(parts[i+1], "--slash--", "/")
	}
	return env
}

func pathVariable(name string) string {
	switch name {
	case "cluster":
		return policy.EnvClusterID
	case "net":
		return policy.EnvNetwork
	default:
		return strings.ToUpper(name)
	}
}
