package config

import "encoding/json"

// Document gives what was said over the defaults (file and --set-mesh together) as JSON, for an engine that reads the
// mesh config by rules of its own; nil where nothing was said.
func (m *Mesh) Document() []byte {
	if m.tree == nil {
		return nil
	}
	text, err := json.Marshal(m.tree.root)
	if err != nil {
		return nil
	}
	return text
}
