package legacy

// Codes of the findings of this package; those of rendering are package template's.
const (
	// CodeMesh: a mesh configuration that cannot be read or is not valid.
	CodeMesh = "E_MESH"
	// CodeMeshField: a field of the mesh configuration that is ignored.
	CodeMeshField = "W_MESH_FIELD"
	// CodeConfig: an injection configuration without a template.
	CodeConfig = "E_LEGACY_CONFIG"
	// CodeAnnotation: an annotation of the pod template with a value that Istio refuses.
	CodeAnnotation = "E_ANNOTATION"
	// CodeRendered: the template's output is no SidecarInjectionSpec.
	CodeRendered = "E_TEMPLATE_OUTPUT"
	// CodeRenderedEmpty: the template's output injects nothing.
	CodeRenderedEmpty = "E_TEMPLATE_EMPTY"
	// CodeRenderedField: a field of the template's output that has no effect.
	CodeRenderedField = "W_TEMPLATE_FIELD"
	// CodeRenderedNothing: a call of the template function render that gave nothing.
	CodeRenderedNothing = "W_TEMPLATE_RENDER"
	// CodeClash: the template brings a name that the pod already has.
	CodeClash = "E_NAME_CLASH"
	// CodeHasProxy: the pod holds an istio-proxy of its own and is left as it is.
	CodeHasProxy = "W_HAS_PROXY"
	// CodeNoContainers: the pod has no containers and is left as it is.
	CodeNoContainers = "W_NO_CONTAINERS"
	// CodeStatus: a status annotation that cannot be read.
	CodeStatus = "W_STATUS"
	// CodeLost: something of the user's own that this format overwrites for good, or that stripping cannot bring back.
	CodeLost = "W_NOT_RESTORED"
	// CodeHold: a value that asks to hold the application and has no effect.
	CodeHold = "W_HOLD"
	// CodeProbePort: a probe whose port has a name that its container does not have.
	CodeProbePort = "W_PROBE_PORT"
)
