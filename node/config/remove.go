package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// RemoveDataset removes a dataset from the site file at path, with the entries of the studies that
// it answers. An error leaves the file unchanged.
func RemoveDataset(path, name string) error {
	return edit(path, "", func(text string) (string, error) { return removeDataset(path, text, name) })
}

// removeDataset returns the text of a site file without a dataset.
func removeDataset(path, text, name string) (string, error) {
	p, _, err := partyOf(path, text)
	if err != nil {
		return "", err
	}
	if _, exists := p.Datasets[name]; !exists {
		return "", fmt.Errorf("dataset %q is not in %s%s", name, p.Path, suggestion(name, sortedKeys(p.Datasets)))
	}
	delete(p.Datasets, name)
	if text, err = removeEntry(path, text, "datasets", name); err != nil {
		return "", err
	}
	for id, site := range p.Studies {
		if site.Dataset != name {
			continue
		}
		delete(p.Studies, id)
		if text, err = removeEntry(path, text, "studies", id.String()); err != nil {
			return "", err
		}
	}
	return text, confirm(path, text, p)
}

// removeEntry removes an entry from the mapping under a key of the file: its lines, and those indented
// below it. Comments above it stay. text need not be a valid site file.
func removeEntry(path, text, section, name string) (string, error) {
	root, err := source{what: "site file", path: path}.document([]byte(text))
	if err != nil {
		return "", errEdit
	}
	_, mapping := lookup(root, section)
	key, _ := lookup(mapping, name)
	if key == nil || mapping.Style&yaml.FlowStyle != 0 {
		return "", errEdit
	}
	lines := strings.SplitAfter(text, "\n")
	first, end := key.Line-1, key.Line
	for at := end; at < len(lines); at++ {
		inner := strings.TrimLeft(lines[at], " ")
		if strings.TrimSpace(inner) == "" || inner[0] == '#' {
			continue // belongs to what follows, unless an indented line follows
		}
		if len(lines[at])-len(inner) < key.Column {
			break
		}
		end = at + 1
	}
	return strings.Join(lines[:first], "") + strings.Join(lines[end:], ""), nil
}
