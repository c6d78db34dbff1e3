package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Change is a value that differs between two study files.
type Change struct {
	Key    string `json:"key"`    // like privacy.epsilon, or columns[age].bounds
	Before string `json:"before"` // "(left out)" if the file does not have the key
	After  string `json:"after"`
}

// leftOut stands for a value that a file does not have.
const leftOut = "(left out)"

// Diff returns the differences between two files, by key; comments and order do not count. Parties,
// columns and other entries with a name are matched by it. It is also a difference if one file
// leaves a value out and the other gives its default.
func Diff(before, after *study.Study) []Change {
	a, b := leaves(before), leaves(after)
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, both := a[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	changes := []Change{}
	for _, key := range keys {
		was, is := leftOut, leftOut
		if v, there := a[key]; there {
			was = v
		}
		if v, there := b[key]; there {
			is = v
		}
		if was != is {
			changes = append(changes, Change{key, was, is})
		}
	}
	return changes
}

// leaves returns the values of a study's file by key.
func leaves(s *study.Study) map[string]string {
	out := map[string]string{}
	root, err := schema.Load(s.Source)
	if err == nil { // always nil: it was parsed before
		collect(out, "", root)
	}
	return out
}

func collect(out map[string]string, key string, n *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			collect(out, strings.TrimPrefix(key+"."+n.Content[i].Value, "."), n.Content[i+1])
		}
	case n.Kind == yaml.SequenceNode && slices.ContainsFunc(n.Content, func(e *yaml.Node) bool { return e.Kind == yaml.MappingNode }):
		seen := map[string]int{}
		for _, entry := range n.Content {
			name := nameOf(entry)
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s %d", name, seen[name])
			}
			collect(out, fmt.Sprintf("%s[%s]", key, name), entry)
		}
	case n.Kind == yaml.SequenceNode:
		out[key] = inline(n)
	default:
		out[key] = n.Value
	}
}

// inline writes a scalar, or a list of scalars and lists, in one line.
func inline(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		return n.Value
	}
	entries := make([]string, len(n.Content))
	for i, entry := range n.Content {
		entries[i] = inline(entry)
	}
	return "[" + strings.Join(entries, ", ") + "]"
}

// nameOf returns what identifies an entry of a list: its name, or else its side or kind.
func nameOf(entry *yaml.Node) string {
	for _, by := range []string{"name", "side", "kind"} {
		for i := 0; entry.Kind == yaml.MappingNode && i+1 < len(entry.Content); i += 2 {
			if entry.Content[i].Value == by {
				return entry.Content[i+1].Value
			}
		}
	}
	return entry.Value
}
