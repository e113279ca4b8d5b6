package profile

import _ "embed" // the templates are files

// Names of the built-in templates.
const (
	Sidecar    = "sidecar"
	Gateway    = "gateway"
	GRPCAgent  = "grpc-agent"
	GRPCSimple = "grpc-simple"
)

var (
	//go:embed common.tmpl
	commonText string
	//go:embed sidecar.tmpl
	sidecarText string
	//go:embed gateway.tmpl
	gatewayText string
	//go:embed grpc-agent.tmpl
	grpcAgentText string
	//go:embed grpc-simple.tmpl
	grpcSimpleText string
)

// Templates gives the built-in templates by name, in a map of the caller's own. Each text stands alone: those that share
// blocks have them in front.
func Templates() map[string]string {
	return map[string]string{
		Sidecar:    commonText + sidecarText,
		Gateway:    commonText + gatewayText,
		GRPCAgent:  commonText + grpcAgentText,
		GRPCSimple: grpcSimpleText,
	}
}
