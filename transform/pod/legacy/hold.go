package legacy

import "github.com/kube-inject/inject/policy"

// holdValue gives global.proxy.holdApplicationUntilProxyStarts of the values, nil where it is not set.
func (e *Engine) holdValue() any {
	global, _ := e.values["global"].(map[string]any)
	proxy, _ := global["proxy"].(map[string]any)
	return proxy["holdApplicationUntilProxyStarts"]
}

// hold tells whether istio-proxy starts first: 1.7 reads it from the values, and only a boolean counts.
func (e *Engine) hold() bool {
	hold, _ := e.holdValue().(bool)
	return hold && e.behaviour.hold
}

// holdInVain warns where the value is there and does nothing.
func (e *Engine) holdInVain() []policy.Finding {
	f := policy.Finding{Code: CodeHold, Severity: policy.Warning, Field: "global.proxy.holdApplicationUntilProxyStarts"}
	switch hold := e.holdValue().(type) {
	case nil:
		return nil
	case bool:
		if !hold || e.behaviour.hold {
			return nil
		}
		f.Message = "Istio " + e.version.String() + " does not hold the application: istio-proxy is put last"
	default:
		f.Message = "the value is no boolean and has no effect"
		f.Hint = "write true or false without quotes"
	}
	return []policy.Finding{f}
}
