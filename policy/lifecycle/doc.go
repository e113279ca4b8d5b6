// Package lifecycle plays how one pod with an Istio sidecar starts, stops, ends as a Job and survives a crash of
// Envoy, and says where that loses traffic.
//
// It is a deterministic discrete-event model of the kubelet and of pilot-agent: no cluster, no clock, no chance. The
// pod itself says what it can (order and kind of containers, hooks, probes, grace period, the agent's settings); what
// a person has to estimate comes in [Options]. [Simulate] gives events with times and [Verdict] values with the span
// in which things go wrong, why, and manifest changes that were tried in the model before they are offered.
//
// Times are exact to the millisecond on two clocks: in [Start] zero is the moment the pod's sandbox is ready and its
// images are present, in [Stop] the moment the kubelet sees the deletion. Starting a container, sending a signal and
// the kubelet's own work take no time.
//
// Sources: Istio 1.0 to 1.3 (pilot/pkg/proxy/agent.go, pilot/pkg/proxy/envoy/watcher.go), 1.6 and 1.7
// (pkg/envoy/agent.go), 1.30 (pkg/envoy/agent.go, pilot/cmd/pilot-agent/status/server.go, app/wait.go,
// app/request.go); Kubernetes 1.33 (pkg/kubelet/kuberuntime, KEP-753, KEP-3960); Envoy
// (source/server/admin/listeners_handler.cc). Not modelled: image pulls, probe timeouts, liveness, eviction, node
// shutdown, container restart rules of Kubernetes 1.34, ephemeral containers, gateways.
package lifecycle
