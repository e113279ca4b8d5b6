package legacy

import (
	"encoding/json"
	"strings"

	"github.com/kube-inject/inject/transform/template"
)

// shared lists the functions whose meaning has not changed since.
const shared = "formatDuration isset excludeInboundPort includeInboundPorts kubevirtInterfaces applicationPorts " +
	"annotation valueOrDefault toJSON fromJSON structToJSON toYaml indent directory contains toLower env"

// functions gives the template functions of 1.6 and 1.7 (istio/istio, pkg/kube/inject/inject.go, 1.7.8), and no
// others. R answers render.
func functions(v Version, env map[string]string, r *rendering) template.FuncMap {
	modern := template.Functions(template.Environment{Env: env})
	funcs := template.FuncMap{}
	for name := range strings.FieldsSeq(shared) {
		funcs[name] = modern[name]
	}
	funcs["toJson"] = funcs["toJSON"]
	funcs["protoToJSON"] = func(m json.Marshaler) (string, error) { return protoToJSON(m, v) }
	funcs["render"] = r.nested
	return funcs
}
