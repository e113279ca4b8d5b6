package legacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	meshconfig "istio.io/api/mesh/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/kube-inject/inject/policy"
)

// ParseMesh reads a mesh configuration file of the time over the release's defaults and validates the result.
// Fields are overrides; defaultConfig is merged field by field, where 1.6 does not count a zero. Empty text gives
// the defaults. Fields that have been removed since are read; a field that nobody knows is a warning.
//
// Findings carry line and column within text, and no file name. When one of them is an error the mesh is nil.
func ParseMesh(text []byte, v Version) (*Mesh, []policy.Finding) {
	keys, err := object(text)
	if err != nil {
		return nil, []policy.Finding{yamlFinding(CodeMesh, "the mesh configuration", err)}
	}
	m := DefaultMesh(v)
	var ps []problem
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		ps = append(ps, m.set(key, keys[key], v)...)
	}
	if !anyError(ps) {
		ps = append(ps, m.validate()...)
	}
	fs := findings(ps, text)
	if anyError(ps) {
		return nil, fs
	}
	return m, fs
}

// problem is a finding before its line is looked up.
type problem struct {
	path     []string
	severity policy.Severity
	message  string
	hint     string
}

func anyError(ps []problem) bool {
	return slices.ContainsFunc(ps, func(p problem) bool { return p.severity == policy.Error })
}

func findings(ps []problem, text []byte) []policy.Finding {
	if len(ps) == 0 {
		return nil
	}
	places := newPlaces(text)
	out := make([]policy.Finding, 0, len(ps))
	for _, p := range ps {
		code := CodeMesh
		if p.severity != policy.Error {
			code = CodeMeshField
		}
		out = append(out, policy.Finding{
			Code: code, Severity: p.severity, Position: places.of(p.path), Field: strings.Join(p.path, "."),
			Message: p.message, Hint: p.hint,
		})
	}
	return policy.SortFindings(out)
}

// object reads YAML (as YAML 1.1, like Istio of that time) or JSON that must be a mapping; empty text is an empty one.
func object(text []byte) (map[string]json.RawMessage, error) {
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	var keys map[string]json.RawMessage
	if raw[0] != '{' {
		return nil, fmt.Errorf("expected a mapping, found %s", kindOf(raw))
	}
	return keys, json.Unmarshal(raw, &keys)
}

func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "a mapping"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "nothing"
	}
	return "a number"
}

// set applies one top-level key.
func (m *Mesh) set(key string, raw json.RawMessage, v Version) []problem {
	path := []string{key}
	fd := fieldOf(m.MeshConfig.ProtoReflect().Descriptor(), key)
	switch {
	case string(raw) == "null":
		return nil
	case fd != nil && fd.Name() == "default_config":
		return m.DefaultConfig.merge(raw, path, v.behaviour().zerosCount)
	case fd != nil:
		return decode(m.MeshConfig, fd, raw, path)
	}
	before := m.Removed
	one, _ := json.Marshal(map[string]json.RawMessage{camel(key): raw})
	dec := json.NewDecoder(bytes.NewReader(one))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m.Removed); err == nil {
		return nil
	} else if strings.Contains(err.Error(), "unknown field") {
		return []problem{unknown(path, "Istio "+v.String()+" ignores it")}
	}
	m.Removed = before
	if camel(key) == "sdsUdsPath" {
		return []problem{{path: path, severity: policy.Error, message: "expected a string, found " + kindOf(raw)}}
	}
	return []problem{{path: path, severity: policy.Warning, message: "a value of another type was expected; it is ignored"}}
}

func unknown(path []string, why string) problem {
	return problem{
		path: path, severity: policy.Warning,
		message: "no such field; " + why,
		hint:    "check the spelling, or remove it",
	}
}

// fieldOf finds a field by the name that JSON gives it or by the one of the protocol buffer.
func fieldOf(md protoreflect.MessageDescriptor, key string) protoreflect.FieldDescriptor {
	if fd := md.Fields().ByJSONName(key); fd != nil {
		return fd
	}
	return md.Fields().ByName(protoreflect.Name(key))
}

// message is a generated type of istio.io/api: its UnmarshalJSON merges into the message, key by key, and takes
// durations in any of Go's spellings (1m0s), as Istio did then. protojson does neither.
type message interface {
	proto.Message
	json.Unmarshaler
}

// decode sets one field from its JSON; unknown fields below it are warnings.
func decode(m message, fd protoreflect.FieldDescriptor, raw json.RawMessage, path []string) []problem {
	one, _ := json.Marshal(map[string]json.RawMessage{fd.JSONName(): raw})
	if err := m.UnmarshalJSON(one); err != nil {
		return []problem{{path: path, severity: policy.Error, message: badValue(err, fd, raw)}}
	}
	if fd.Message() == nil || fd.IsMap() {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return unknownBelow(fd.Message(), v, path)
}

// badValue says what is wrong with a value without the words of the decoder.
func badValue(err error, fd protoreflect.FieldDescriptor, raw json.RawMessage) string {
	if text, ok := strings.CutPrefix(err.Error(), "bad Duration: time: "); ok {
		return text + " (write a number with a unit, such as 45s)"
	}
	if fd.Enum() != nil {
		var names []string
		for i := range fd.Enum().Values().Len() {
			names = append(names, string(fd.Enum().Values().Get(i).Name()))
		}
		return fmt.Sprintf("%s is none of %s", raw, strings.Join(names, ", "))
	}
	return "cannot read " + kindOf(raw) + " here"
}

// unknownBelow lists the keys of v that md has no field for.
func unknownBelow(md protoreflect.MessageDescriptor, v any, path []string) []problem {
	if strings.HasPrefix(string(md.FullName()), "google.protobuf.") {
		return nil
	}
	var out []problem
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			out = append(out, unknownBelow(md, e, append(slices.Clone(path), fmt.Sprint(i)))...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := append(slices.Clone(path), key)
			fd := fieldOf(md, key)
			switch {
			case fd == nil:
				out = append(out, unknown(at, "it is ignored"))
			case fd.Message() != nil && !fd.IsMap():
				out = append(out, unknownBelow(fd.Message(), v[key], at)...)
			}
		}
	}
	return out
}

// camel gives the JSON name of a field named as in the protocol buffer; a JSON name stays.
func camel(key string) string {
	head, rest, _ := strings.Cut(key, "_")
	for part := range strings.SplitSeq(rest, "_") {
		if part != "" {
			head += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return head
}

// lastProxyField is the highest number of a ProxyConfig field in the API of 1.7 (terminationDrainDuration). A later
// field means nothing to a proxy of that time and must not reach its PROXY_CONFIG.
const lastProxyField = 29

// merge applies a defaultConfig or a pod's proxy.istio.io/config. A field present overrides, a nested message or a
// map as a whole; zeros tells whether a zero does too.
func (p *ProxyConfig) merge(raw json.RawMessage, path []string, zeros bool) []problem {
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		return []problem{{path: path, severity: policy.Error, message: "a proxy configuration must be a mapping, found " + kindOf(raw)}}
	}
	into := p
	if !zeros {
		into = &ProxyConfig{ProxyConfig: &meshconfig.ProxyConfig{}}
	}
	var ps []problem
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if string(keys[key]) != "null" {
			ps = append(ps, into.set(key, keys[key], append(slices.Clone(path), key))...)
		}
	}
	if into != p {
		p.overlay(into)
	}
	return ps
}

// overlay merges what is not zero, as proto.Merge does: 1.6 read defaultConfig this way.
func (p *ProxyConfig) overlay(over *ProxyConfig) {
	proto.Merge(p.ProxyConfig, over.ProxyConfig)
	if over.ServiceCluster != "" {
		p.ServiceCluster = over.ServiceCluster
	}
	if over.Concurrency != 0 {
		p.Concurrency = over.Concurrency
	}
	if d := over.ParentShutdownDuration; d != nil && d.AsDuration() != 0 {
		p.ParentShutdownDuration = d
	}
}

// set applies one key.
func (p *ProxyConfig) set(key string, raw json.RawMessage, path []string) []problem {
	md := p.ProxyConfig.ProtoReflect().Descriptor()
	switch name := camel(key); name {
	case "concurrency", "serviceCluster", "parentShutdownDuration":
		// Today's type takes the value apart, in a message of its own; a duration is read as the drain duration.
		if name == "parentShutdownDuration" {
			name = "drainDuration"
		}
		var one meshconfig.ProxyConfig
		ps := decode(&one, fieldOf(md, name), raw, path)
		switch {
		case len(ps) > 0:
			return ps
		case name == "concurrency":
			p.Concurrency = Concurrency(one.GetConcurrency().GetValue())
		case name == "serviceCluster":
			p.ServiceCluster = one.GetServiceCluster()
		default:
			p.ParentShutdownDuration = one.DrainDuration
		}
		return nil
	case "connectTimeout":
		return nil // had moved to the mesh level by then, and charts of 1.6 still wrote it
	}
	fd := fieldOf(md, key)
	switch {
	case fd == nil:
		return []problem{unknown(path, "it is ignored")}
	case fd.Number() > lastProxyField:
		return []problem{{
			path: path, severity: policy.Warning,
			message: "newer than Istio 1.7, whose proxy would not understand it; it is ignored",
		}}
	}
	return decode(p.ProxyConfig, fd, raw, path)
}
