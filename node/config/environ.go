package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
)

// Every key that can occur only once in a file, so none below a dataset or a study, has an
// environment variable that wins over the file: AGGREGATOR_HTTP_LISTEN is http: listen. A list is
// written with commas. Empty variables are ignored. A value is read as if it were in the file:
// relative paths are relative to the file.

// Prefixes of the variables.
const (
	partyVariables      = "PARTY"
	aggregatorVariables = "AGGREGATOR"
)

// variable is the environment variable of a key.
func variable(program, key string) string {
	return program + "_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// environment puts the values of environment variables into the file's mappings, and remembers the
// variable of each.
func (s *source) environment(program string, root *yaml.Node, known []schema.Row) (*yaml.Node, error) {
	s.variables = make(map[string]string)
	for _, one := range schema.Leaves(known) {
		name := variable(program, one.Name)
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
		if one.List {
			value = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
			for entry := range strings.SplitSeq(text, ",") {
				value.Content = append(value.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(entry)})
			}
		}
		if root == nil || root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
			root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		}
		if setPath(root, strings.Split(one.Name, "."), value) == nil {
			return nil, fmt.Errorf("reading environment variable %s: in %s, a key above its own is not a mapping", name, s.path)
		}
		s.variables[one.Name] = name
	}
	return root, nil
}

// setPath sets a value at a path below a mapping, creating mappings on the way. It returns the node
// with the value, or nil if something on the way is not a mapping.
func setPath(n *yaml.Node, path []string, value *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	key, there := lookup(n, path[0])
	if key == nil {
		there = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[0]}, there)
	}
	if len(path) == 1 {
		*there = *value
		return there
	}
	if there.Kind == yaml.ScalarNode && there.Tag == "!!null" {
		*there = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	return setPath(there, path[1:], value)
}

// misspelt returns warnings of environment variables that look like a setting's and have no effect.
func misspelt(program string, known []schema.Row, flags []string) (out []string) {
	var names []string
	for _, one := range schema.Leaves(known) {
		flags = append(flags, variable(program, one.Name))
	}
	for _, name := range flags {
		names = append(names, strings.TrimPrefix(name, program+"_"))
	}
	for _, pair := range os.Environ() {
		variable, _, _ := strings.Cut(pair, "=")
		name, ours := strings.CutPrefix(variable, program+"_")
		if !ours || slices.Contains(names, name) {
			continue
		}
		if meant := schema.Closest(name, names); meant != "" {
			out = append(out, fmt.Sprintf("environment variable %s is no setting (did you mean %s_%s?)", variable, program, meant))
		}
	}
	slices.Sort(out)
	return out
}
