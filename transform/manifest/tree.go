package manifest

import "go.yaml.in/yaml/v3"

// Tree gives the tree under root as it is after the changes, for callers that hold nodes and no text. It shares with
// root what stays the same, and nodes of the changes' values; root itself is not written to. The error says that a
// change leads through a scalar.
func Tree(root *yaml.Node, changes []Change) (*yaml.Node, error) {
	cs, err := collect(root, changes, false)
	if err != nil {
		return nil, err
	}
	return cs.intended(root, &cs.top), nil
}
