package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
)

// Environment is what functions know besides their arguments.
type Environment struct {
	// Env answers the function env; a name it does not hold gives the default of the call.
	Env map[string]string
	// ProxyDefaults are the ProxyConfig defaults that protoToJSON leaves out.
	ProxyDefaults *meshconfig.ProxyConfig
	// MeshProxy is the ProxyConfig of all pods without one of their own; protoToJSON prints it once. It may be nil.
	MeshProxy *meshconfig.ProxyConfig
}

// Functions gives the functions of Istio's modern templates: sprig's text functions, without those that are not
// hermetic, and Istio's own on top (istio/istio, pkg/kube/inject/template.go, 1.30; the union of 1.24 to 1.31).
func Functions(e Environment) FuncMap {
	funcs := sprigFunctions()
	common := sync.OnceValues(func() (string, error) { return protoToJSON(e.MeshProxy, e.ProxyDefaults) })
	maps.Copy(funcs, FuncMap{
		"formatDuration":      func(d *durationpb.Duration) string { return d.AsDuration().String() },
		"isset":               func(m map[string]string, key string) bool { _, ok := m[key]; return ok },
		"excludeInboundPort":  excludeInboundPort,
		"includeInboundPorts": func(cs []corev1.Container) string { return tcpPorts(cs, "") },
		"applicationPorts":    func(cs []corev1.Container) string { return tcpPorts(cs, policy.ContainerProxy) },
		"kubevirtInterfaces":  func(s string) string { return s },
		"excludeInterfaces":   func(s string) string { return s },
		"annotation":          annotation,
		"valueOrDefault":      valueOrDefault,
		"toJSON":              toJSON,
		"fromJSON":            fromJSON,
		"structToJSON":        structToJSON,
		"protoToJSON": func(m proto.Message) (string, error) {
			if pc, ok := m.(*meshconfig.ProxyConfig); ok && pc != nil && pc == e.MeshProxy {
				return common()
			}
			return protoToJSON(m, e.ProxyDefaults)
		},
		"toYaml":                 toYAML,
		"indent":                 indent,
		"directory":              directory,
		"contains":               func(needle, haystack string) bool { return strings.Contains(haystack, needle) },
		"toLower":                strings.ToLower,
		"appendMultusNetwork":    appendMultusNetwork,
		"env":                    e.env,
		"omit":                   omit,
		"strdict":                strdict,
		"toJsonMap":              func(ms ...map[string]string) string { return structToJSON(orNil(mergeMaps(ms...), len(ms))) },
		"mergeMaps":              mergeMaps,
		"omitNil":                omitNil,
		"otelResourceAttributes": otelResourceAttributes,
	})
	return funcs
}

func (e Environment) env(name, fallback string) string {
	if v, ok := e.Env[name]; ok {
		return v
	}
	return fallback
}

// excludeInboundPort appends port to the comma-separated list unless it is zero, empty or an item of it. Items are
// compared before they are trimmed, as Istio does ("80, 443" gets a second 443).
func excludeInboundPort(port any, list string) string {
	p := strings.TrimSpace(fmt.Sprint(port))
	if p == "" || p == "0" {
		return list
	}
	var out []string
	if list != "" {
		for item := range strings.SplitSeq(list, ",") {
			if item == p {
				return list
			}
			if item = strings.TrimSpace(item); item != "" {
				out = append(out, item)
			}
		}
	}
	return strings.Join(append(out, p), ",")
}

// tcpPorts lists the TCP container ports of all containers but the one called except.
func tcpPorts(cs []corev1.Container, except string) string {
	var out []string
	for i := range cs {
		if except != "" && cs[i].Name == except {
			continue
		}
		for _, p := range cs[i].Ports {
			if p.Protocol == corev1.ProtocolTCP || p.Protocol == "" {
				out = append(out, strconv.Itoa(int(p.ContainerPort)))
			}
		}
	}
	return strings.Join(out, ",")
}

func annotation(meta metav1.ObjectMeta, name string, fallback any) string {
	if v, ok := meta.Annotations[name]; ok {
		return v
	}
	return fmt.Sprint(fallback)
}

func valueOrDefault(v, fallback any) any {
	if v == nil || v == "" {
		return fallback
	}
	return v
}

func toJSON(m map[string]string) string {
	if m == nil {
		return "{}"
	}
	return structToJSON(m)
}

func fromJSON(s string) any {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return "{}"
	}
	return v
}

func structToJSON(v any) string {
	if v == nil {
		return "{}"
	}
	out, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(out)
}

// orNil keeps toJsonMap's answer to no arguments: null.
func orNil(m map[string]string, n int) any {
	if n == 0 {
		return json.RawMessage("null")
	}
	return m
}

func toYAML(v any) (string, error) {
	out, err := yaml.Marshal(v)
	return string(out), err
}

// indent moves all lines but the first by n spaces; unlike sprig's, it continues a line of the template.
func indent(n int, s string) (string, error) {
	if n < 0 || n > maxWidth {
		return "", errWidth
	}
	return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n)), nil
}

func directory(file string) string {
	dir, _ := path.Split(file)
	return dir
}

// appendMultusNetwork adds a network, name or namespace/name, to the value of k8s.v1.cni.cncf.io/networks, in JSON or
// in its short form.
func appendMultusNetwork(existing, network string) string {
	end := strings.LastIndex(existing, "]")
	switch {
	case existing == "":
		return network
	case end >= 0:
		return appendMultusJSON(existing, end, network)
	}
	for n := range strings.SplitSeq(existing, ",") {
		if strings.TrimSpace(n) == network {
			return existing
		}
	}
	return existing + ", " + network
}

// appendMultusJSON puts the network before the closing bracket at end, so that the user's own spacing stays.
func appendMultusJSON(existing string, end int, network string) string {
	var list []map[string]any
	if json.Unmarshal([]byte(existing), &list) != nil {
		return existing
	}
	namespace, name, found := strings.Cut(network, "/")
	entry := fmt.Sprintf(`, {"name": %q, "namespace": %q}`, name, namespace)
	if !found {
		namespace, name = "", network
		entry = fmt.Sprintf(`, {"name": %q}`, name)
	}
	for _, n := range list {
		if ns, _ := n["namespace"].(string); n["name"] == name && ns == namespace {
			return existing
		}
	}
	return existing[:end] + entry + existing[end:]
}

func omit(m map[string]string, keys ...string) map[string]string {
	out := maps.Clone(m)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

func strdict(kv ...string) map[string]string {
	out := make(map[string]string, (len(kv)+1)/2)
	for i := 0; i < len(kv); i += 2 {
		out[kv[i]] = ""
		if i+1 < len(kv) {
			out[kv[i]] = kv[i+1]
		}
	}
	return out
}

func mergeMaps(ms ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range ms {
		maps.Copy(out, m)
	}
	return out
}

// omitNil copies v without its null members; a map or list that loses all of them is null itself.
func omitNil(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e = omitNil(e); e != nil {
				out[k] = e
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, e := range v {
			if e = omitNil(e); e != nil {
				out = append(out, e)
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	default:
		return v
	}
}
