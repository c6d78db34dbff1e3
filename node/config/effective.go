package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Setting is one value with which a node runs, and its origin.
type Setting struct {
	Key    string `json:"key"` // keys of nested mappings joined by dots: log.level
	Value  string `json:"value"`
	Origin string `json:"origin"` // FILE:LINE, environment NAME, or default
}

// FromDefault is the origin of a setting that is in no file.
const FromDefault = "default"

// PartySettings returns the settings of the site file at path and of the environment, in the file's
// order, followed by the defaults of all others. It reads the file like LoadParty, and refuses what
// LoadParty refuses.
func PartySettings(path string) ([]Setting, error) {
	if _, err := LoadParty(path); err != nil {
		return nil, err
	}
	usual, err := usualFile(path, DefaultPartyPaths)
	if err != nil {
		return nil, err
	}
	return settings("site file", sniff.Party, path, usual, partyVariables, PartyKeys())
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
	return settings("configuration file", sniff.Aggregator, path, usual, aggregatorVariables, AggregatorKeys())
}

// MisspeltForParty returns warnings of environment variables without effect that look like a
// party's settings or like those of flags.
func MisspeltForParty(flags []string) []string { return misspelt(partyVariables, PartyKeys(), flags) }

// MisspeltForAggregator is MisspeltForParty for an aggregator.
func MisspeltForAggregator(flags []string) []string {
	return misspelt(aggregatorVariables, AggregatorKeys(), flags)
}

func settings(what string, kind sniff.Kind, path, fallback, program string, keys []schema.Row) ([]Setting, error) {
	file, root, err := load(what, kind, path, fallback)
	if err == nil {
		root, err = file.environment(program, root, keys)
	}
	if err != nil {
		return nil, err
	}
	out := file.leaves(nil, "", root)
	for _, leaf := range schema.Leaves(keys) {
		set := func(s Setting) bool { return s.Key == leaf.Name }
		if !slices.ContainsFunc(out, set) {
			out = append(out, Setting{Key: leaf.Name, Value: cmp.Or(leaf.Unset, leaf.Default), Origin: FromDefault})
		}
	}
	return out, nil
}

// leaves appends the values of a mapping and of its nested ones.
func (s source) leaves(to []Setting, prefix string, n *yaml.Node) []Setting {
	if n == nil || n.Tag == "!!null" {
		return to
	}
	if n.Kind != yaml.MappingNode {
		origin := fmt.Sprintf("%s:%d", s.path, n.Line)
		if name := s.variables[prefix]; name != "" {
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

// flow writes a scalar or a list on one line.
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
