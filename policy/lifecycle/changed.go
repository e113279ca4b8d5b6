package lifecycle

import (
	"slices"
	"time"
)

// Changed gives the options that differ from [Defaults], and both versions always, under the camelCase names of the
// JSON report ("appShutdown"). Durations are texts; those by container are an object with "*" for all others.
func (o Options) Changed() map[string]any {
	d := Defaults()
	out := map[string]any{"kubernetes": o.Kubernetes.String(), "istio": o.Istio.String()}
	if o.SidecarContainers != nil {
		out["featureGateSidecarContainers"] = *o.SidecarContainers
	}
	for name, pair := range map[string][2]time.Duration{
		"proxyReady":       {o.ProxyReady, d.ProxyReady},
		"appReady":         {o.AppReady, d.AppReady},
		"requestsInFlight": {o.RequestsInFlight, d.RequestsInFlight},
		"connectionsOpen":  {o.ConnectionsOpen, d.ConnectionsOpen},
		"endpointLag":      {o.EndpointLag, d.EndpointLag},
		"appDuration":      {o.AppDuration, d.AppDuration},
		"horizon":          {o.Horizon, d.Horizon},
	} {
		if pair[0] != pair[1] {
			out[name] = FormatDuration(pair[0])
		}
	}
	o.InitDuration.changed(out, "initDuration", d.InitDuration.Default)
	o.AppShutdown.changed(out, "appShutdown", d.AppShutdown.Default)
	if o.AppOutbound != d.AppOutbound {
		out["appOutbound"] = o.AppOutbound
	}
	if o.AppExitCode != d.AppExitCode {
		out["appExitCode"] = o.AppExitCode
	}
	if o.AppQuitsProxy {
		out["appQuitsProxy"] = true
	}
	o.changedLists(out)
	return out
}

func (p PerContainer) changed(out map[string]any, name string, usual time.Duration) {
	if len(p.ByName) == 0 {
		if p.Default != usual {
			out[name] = FormatDuration(p.Default)
		}
		return
	}
	each := map[string]string{"*": FormatDuration(p.Default)}
	for k, v := range p.ByName {
		each[k] = FormatDuration(v)
	}
	out[name] = each
}

func (o Options) changedLists(out map[string]any) {
	if len(o.InitNetwork) > 0 {
		out["initNetwork"] = slices.Clone(o.InitNetwork)
	}
	if len(o.ProxyExits) > 0 {
		var exits []string
		for _, e := range o.ProxyExits {
			exits = append(exits, e.Kind.String()+"@"+FormatDuration(e.At))
		}
		out["proxyExit"] = exits
	}
	if len(o.HotRestarts) > 0 {
		var times []string
		for _, t := range o.HotRestarts {
			times = append(times, FormatDuration(t))
		}
		out["hotRestartAt"] = times
	}
	if len(o.Hooks) > 0 {
		hooks := map[string]string{}
		for k, v := range o.Hooks {
			hooks[k] = FormatDuration(v)
		}
		out["hook"] = hooks
	}
	switch {
	case o.SkipStart && !o.SkipStop:
		out["phases"] = []string{string(Stop)}
	case o.SkipStop && !o.SkipStart:
		out["phases"] = []string{string(Start)}
	}
}
