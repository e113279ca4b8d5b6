package lifecycle

import (
	"maps"
	"strings"

	"sigs.k8s.io/yaml"
)

// Fields of ProxyConfig that remedies set (istio/api, mesh/v1alpha1/proxy.proto, 1.30).
const (
	fieldHold     = "holdApplicationUntilProxyStarts"
	fieldDrain    = "terminationDrainDuration"
	fieldMetadata = "proxyMetadata"
)

// configText is the annotation proxy.istio.io/config as a tree.
type configText map[string]any

// readConfig parses the annotation; text that is not a mapping counts as empty.
func readConfig(text string) configText {
	c := configText{}
	if text == "" || yaml.Unmarshal([]byte(text), &c) != nil || c == nil {
		return configText{}
	}
	return c
}

func (c configText) hold() bool {
	on, _ := c[fieldHold].(bool)
	return on
}

// with gives a copy with one field set; c keeps its own.
func (c configText) with(field string, value any) configText {
	out := maps.Clone(c)
	out[field] = value
	return out
}

// metadata gives a copy with one entry of proxyMetadata set.
func (c configText) metadata(name, value string) configText {
	old, _ := c[fieldMetadata].(map[string]any)
	entries := map[string]any{name: value}
	for k, v := range old {
		if k != name {
			entries[k] = v
		}
	}
	return c.with(fieldMetadata, entries)
}

// text prints the annotation as YAML with sorted keys and no line break at its end.
func (c configText) text() string {
	data, err := yaml.Marshal(map[string]any(c))
	if err != nil {
		return "" // a tree that was parsed always prints
	}
	return strings.TrimSuffix(string(data), "\n")
}
