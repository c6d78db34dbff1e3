package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/schema"
)

// SetReading adds to the site file at path how a dataset is read. It returns the dataset's lines
// about reading. An error leaves the file unchanged.
func SetReading(path, name string, more dataset.Reading) (lines string, err error) {
	p, err := LoadParty(path)
	if err != nil {
		return "", err
	}
	d, err := p.dataset(name)
	if err != nil {
		return "", err
	}
	all := (dataset.Reading{CSV: d.Source.CSV, Words: d.Source.Words}).With(more)
	lines = "datasets:\n  " + scalar(name) + ":\n"
	for _, e := range readingEntries(dataset.Source{CSV: all.CSV, Words: all.Words}) {
		lines += "    " + e.flow() + "\n"
	}
	return lines, edit(path, lines, func(text string) (string, error) { return setReading(path, text, name, more) })
}

func (p Party) dataset(name string) (Dataset, error) {
	d, exists := p.Datasets[name]
	if !exists {
		return d, fmt.Errorf("dataset %q is not in %s%s", name, p.Path, suggestion(name, sortedKeys(p.Datasets)))
	}
	return d, nil
}

// readingEntries are the entries of a dataset about how it is read.
func readingEntries(s dataset.Source) (out []entry) {
	if s.CSV != (dataset.Dialect{}) {
		out = append(out, entry{name: "csv", value: s.CSV.YAML()})
	}
	if len(s.Words.Missing) > 0 {
		out = append(out, entry{name: "missing", value: list(s.Words.Missing)})
	}
	var columns []string
	for _, column := range sortedKeys(s.Words.Values) {
		var values []string
		for _, value := range sortedKeys(s.Words.Values[column]) {
			values = append(values, scalar(value)+": "+mapped(s.Words.Values[column][value]))
		}
		columns = append(columns, scalar(column)+": {"+strings.Join(values, ", ")+"}")
	}
	if columns != nil {
		out = append(out, entry{name: "values", value: "{" + strings.Join(columns, ", ") + "}"})
	}
	return out
}

// mapped writes what a value is read as. Numbers need no quotes: all values are texts here.
func mapped(to string) string {
	if schema.Decimal(to) {
		return to
	}
	return scalar(to)
}

// setReading returns the text of a site file with more added to how a dataset is read.
func setReading(path, text, name string, more dataset.Reading) (string, error) {
	p, _, err := partyOf(path, text)
	if err != nil {
		return "", err
	}
	d, err := p.dataset(name)
	if err != nil {
		return "", err
	}
	all := (dataset.Reading{CSV: d.Source.CSV, Words: d.Source.Words}).With(more)
	d.Source.CSV, d.Source.Words = all.CSV, all.Words
	if err := d.Source.CSV.Check(); err != nil {
		return "", err
	}
	p.Datasets[name] = d
	for _, e := range readingEntries(d.Source) {
		// Every insertion moves what follows, so the text is parsed again.
		_, root, err := partyOf(path, text)
		if err != nil {
			return "", err
		}
		_, datasets := lookup(root, "datasets")
		key, value := lookup(datasets, name)
		if _, there := lookup(value, e.name); there != nil {
			text, err = replaceFlow(text, there, e.value)
		} else {
			text, err = insert(text, key, value, e)
		}
		if err != nil {
			return "", err
		}
	}
	return text, confirm(path, text, p)
}

// replaceFlow replaces a value in braces or brackets on one line.
func replaceFlow(text string, there *yaml.Node, value string) (string, error) {
	at, ok := offset(text, there.Line, there.Column)
	if !ok || there.Style&yaml.FlowStyle == 0 {
		return "", errEdit
	}
	depth, quote := 0, byte(0)
	for i := at; i < len(text) && text[i] != '\n'; i++ {
		switch b := text[i]; {
		case quote == '"' && b == '\\':
			i++
		case quote != 0 && b == quote:
			quote = 0
		case quote != 0:
		case b == '"' || b == '\'':
			quote = b
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return text[:at] + value + text[i+1:], nil
			}
		}
	}
	return "", errEdit
}
