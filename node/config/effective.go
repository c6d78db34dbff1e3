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
	Origin string `json:"origin"` // FILE:LINE, environment NAME, or default
}

// FromDefault is the origin of a setting that no file has.
const FromDefault = "default"

// PartySettings returns what the site file at path and the environment set, in the file's
// order, and after it the defaults of what they leave out. The file is read as LoadParty reads it, and refused
// where that refuses it.
func PartySettings(path string) ([]Setting, error) {
	if _, err := LoadParty(path); err != nil {
		return nil, err
	}
	usual, err := usualFile(path, DefaultPartyPaths)
	if err != nil {
		return nil, err
	}
	return settings("site file", sniff.Party, path, usual, partyVariables, partyDefaults())
}

// AggregatorSettings is PartySettings for an aggregator's configuration file.
func AggregatorSettings(path string) ([]Setting, error) {
	if _, err := LoadAggregator(path); err != nil {
		return nil, err
	}
	usual, err := usualFile(path, DefaultAggregatorPaths)
	if err != nil {
		return nil, err
	}
	return settings("configuration file", sniff.Aggregator, path, usual, aggregatorVariables, aggregatorDefaults())
}

// MisspeltForParty says of environment variables that look like a party's settings, and are
// none, that they change nothing.
func MisspeltForParty() []string { return misspelt(partyVariables, partyDefaults()) }

// MisspeltForAggregator is MisspeltForParty for an aggregator.
func MisspeltForAggregator() []string { return misspelt(aggregatorVariables, aggregatorDefaults()) }

// setting is a key and its default.
type setting struct {
	key, value string
	list       bool
}

func logDefaults() []setting {
	return []setting{{key: "log.level", value: "info"}, {key: "log.format", value: "text on a terminal, else json"}}
}

// partyDefaults are of the keys that are not below a dataset or a study.
func partyDefaults() []setting {
	return append([]setting{
		{key: "approval.second", value: "nobody", list: true},
		{key: "network.roots", value: "the system's"},
		{key: "metrics", value: "off"},
	}, logDefaults()...)
}

// aggregatorDefaults are of all keys, as the template shows them.
func aggregatorDefaults() []setting {
	return append([]setting{
		{key: "listen", value: "[" + strings.Join(DefaultListen(), ", ") + "]", list: true},
		{key: "limits.connections", value: "1024"},
		{key: "limits.connections_per_address", value: "256"},
		{key: "limits.calls_per_party", value: "32"},
		{key: "limits.memory_mib", value: "512"},
		{key: "analysis.memory_mib", value: fmt.Sprint(DefaultMemory >> 20)},
		{key: "uploads.study_mib", value: fmt.Sprint(DefaultUploads >> 20)},
		{key: "uploads.free_mib", value: fmt.Sprint(DefaultFree >> 20)},
		{key: "http.listen", value: "off"},
		{key: "http.tokens", value: "always"},
		{key: "http.hosts", value: "none", list: true},
		{key: "http.behind_proxy", value: "false"},
		{key: "http.tls.cert", value: "none"},
		{key: "http.tls.key", value: "none"},
		{key: "http.connections", value: "256"},
		{key: "http.streams", value: "64"},
	}, logDefaults()...)
}

func settings(what string, kind sniff.Kind, path, fallback, program string, defaults []setting) ([]Setting, error) {
	file, root, err := load(what, kind, path, fallback)
	if err == nil {
		root, err = file.environment(program, root, defaults)
	}
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
		origin := fmt.Sprintf("%s:%d", s.path, n.Line)
		if name, ok := s.variables[n]; ok {
			origin = "environment " + name
		}
		return append(to, Setting{Key: prefix, Value: flow(n), Origin: origin})
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
