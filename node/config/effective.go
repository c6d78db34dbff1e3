package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/sniff"
)

// Setting is one value that a node runs with, and where it comes from.
type Setting struct {
	Key    string `json:"key"` // of nested mappings joined by dots: log.level
	Value  string `json:"value"`
	Origin string `json:"origin"` // FILE:LINE, or default
}

// FromDefault is the origin of a setting that no file has.
const FromDefault = "default"

// PartySettings returns what the site file at path sets, in its order, and after it the
// defaults of what it leaves out. The file is read as LoadParty reads it, and refused
// where that refuses it.
func PartySettings(path string) ([]Setting, error) {
	if _, err := LoadParty(path); err != nil {
		return nil, err
	}
	paths, err := DefaultPartyPaths()
	if err != nil {
		return nil, err
	}
	return settings("site file", sniff.Party, path, paths.Config, partyDefaults())
}

// AggregatorSettings is PartySettings for an aggregator's configuration file.
func AggregatorSettings(path string) ([]Setting, error) {
	if _, err := LoadAggregator(path); err != nil {
		return nil, err
	}
	paths, err := DefaultAggregatorPaths()
	if err != nil {
		return nil, err
	}
	return settings("configuration file", sniff.Aggregator, path, paths.Config, aggregatorDefaults())
}

// setting is a key and its default.
type setting struct{ key, value string }

func logDefaults() []setting {
	return []setting{{"log.level", "info"}, {"log.format", "text on a terminal, else json"}}
}

// partyDefaults are of the keys that are not below a dataset or a study.
func partyDefaults() []setting {
	return append([]setting{{"approval.second", "nobody"}, {"network.roots", "the system's"}, {"metrics", "off"}}, logDefaults()...)
}

// aggregatorDefaults are of all keys, as the template shows them.
func aggregatorDefaults() []setting {
	return append([]setting{
		{"listen", "[" + strings.Join(DefaultListen(), ", ") + "]"},
		{"limits.connections", "1024"},
		{"limits.connections_per_address", "256"},
		{"limits.calls_per_party", "32"},
		{"limits.memory_mib", "512"},
		{"analysis.memory_mib", fmt.Sprint(DefaultMemory >> 20)},
		{"http.listen", "off"},
		{"http.tokens", "unless_loopback"},
		{"http.behind_proxy", "false"},
		{"http.streams", "64"},
	}, logDefaults()...)
}

func settings(what string, kind sniff.Kind, path, fallback string, defaults []setting) ([]Setting, error) {
	file, root, err := load(what, kind, path, fallback)
	if err != nil {
		return nil, err
	}
	out := file.leaves(nil, "", root)
	for _, d := range defaults {
		set := func(s Setting) bool { return s.Key == d.key }
		if !slices.ContainsFunc(out, set) {
			out = append(out, Setting{Key: d.key, Value: d.value, Origin: FromDefault})
		}
	}
	return out, nil
}

// leaves appends the values of a mapping and of those in it.
func (s source) leaves(to []Setting, prefix string, n *yaml.Node) []Setting {
	if n == nil || n.Tag == "!!null" {
		return to
	}
	if n.Kind != yaml.MappingNode {
		return append(to, Setting{Key: prefix, Value: flow(n), Origin: fmt.Sprintf("%s:%d", s.path, n.Line)})
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if prefix != "" {
			key = prefix + "." + key
		}
		to = s.leaves(to, key, n.Content[i+1])
	}
	return to
}

// flow spells a scalar or a list on one line.
func flow(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return strings.Join(strings.Fields(n.Value), " ")
	}
	entries := make([]string, len(n.Content))
	for i, entry := range n.Content {
		entries[i] = flow(entry)
	}
	return "[" + strings.Join(entries, ", ") + "]"
}
