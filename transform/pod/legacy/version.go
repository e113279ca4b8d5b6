package legacy

import meshconfig "istio.io/api/mesh/v1alpha1"

// Version is the Istio release whose injector is followed.
type Version int

// The two releases with the flat format that are supported. The zero value is 1.7.
const (
	V17 Version = iota
	V16
)

// String gives the minor release, such as "1.7".
func (v Version) String() string {
	if v == V16 {
		return "1.6"
	}
	return "1.7"
}

// behaviour is what differs between the releases in the order of work (istio/istio, pkg/kube/inject/inject.go and
// pkg/config/mesh/mesh.go, 1.6.14 and 1.7.8).
type behaviour struct {
	// hold: global.proxy.holdApplicationUntilProxyStarts puts istio-proxy first.
	hold bool
	// startupProbes: startup probes are rewritten besides readiness and liveness probes.
	startupProbes bool
	// prometheusMerge: the prometheus.io annotations are pointed at the proxy.
	prometheusMerge bool
	// zerosCount: a zero in the mesh file's defaultConfig overrides the default.
	zerosCount bool
	// protoDefaults: protoToJSON also leaves out the default control plane policy and termination drain duration.
	protoDefaults bool
	authPolicy    meshconfig.AuthenticationPolicy
	// terminationDrain is the default in seconds; zero leaves it unset.
	terminationDrain int64
}

func (v Version) behaviour() behaviour {
	if v == V16 {
		return behaviour{authPolicy: meshconfig.AuthenticationPolicy_NONE}
	}
	return behaviour{
		hold: true, startupProbes: true, prometheusMerge: true, zerosCount: true, protoDefaults: true,
		authPolicy: meshconfig.AuthenticationPolicy_MUTUAL_TLS, terminationDrain: 5,
	}
}
