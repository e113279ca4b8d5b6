// Package pod turns a pod template into the injected one: types in, types out.
//
// An [Engine] is one configuration, its templates parsed once. [Engine.Inject] strips an earlier injection, renders the
// selected templates, lays them over the pod by Kubernetes' merge keys, puts the user's own settings of injected
// containers back on top and runs the ordered steps of Istio's injector (pkg/kube/inject, 1.30). What it gives also
// says what it did, so that reports, explain and lint never work it out a second time.
package pod
