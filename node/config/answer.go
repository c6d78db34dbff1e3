package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol"
)

// Answer says how a party answers a study. What it leaves out stays as in the site file.
type Answer struct {
	Dataset string            // required: a dataset of the site file
	Columns map[string]string // maps the study's names of columns to the data's, where they differ
	Release ReleaseMode
}

// UseDataset writes into the site file at path how the party answers a study. The file must have
// the dataset. It returns the written lines. An error leaves the file unchanged.
func UseDataset(path string, study protocol.StudyID, a Answer) (lines string, err error) {
	lines = a.lines(study)
	return lines, edit(path, lines, func(text string) (string, error) { return useDataset(path, text, study, a) })
}

// Check refuses a column that the study does not ask of this party.
func (a Answer) Check(columns []string) error {
	for _, name := range sortedKeys(a.Columns) {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("%q is no column that the study asks of this party%s; those are %s", name, suggestion(name, columns), strings.Join(columns, ", "))
		}
	}
	return nil
}

// lines are the lines that a person would write.
func (a Answer) lines(study protocol.StudyID) string {
	return fmt.Sprintf("studies:\n  %s:\n    %s\n", study, strings.Join(a.fields(), "\n    "))
}

// fields are the fields of a study's entry.
func (a Answer) fields() []string {
	out := []string{"dataset: " + scalar(a.Dataset)}
	var columns []string
	for _, name := range sortedKeys(a.Columns) {
		columns = append(columns, scalar(name)+": "+scalar(a.Columns[name]))
	}
	if columns != nil {
		out = append(out, "columns: {"+strings.Join(columns, ", ")+"}")
	}
	if a.Release != "" {
		out = append(out, "release: "+string(a.Release))
	}
	return out
}

// useDataset returns the text of a site file with the answer to a study added or changed.
func useDataset(path, text string, study protocol.StudyID, a Answer) (string, error) {
	p, root, err := partyOf(path, text)
	if err != nil {
		return "", err
	}
	if _, known := p.Datasets[a.Dataset]; !known {
		return "", fmt.Errorf("dataset %q is not in %s%s", a.Dataset, p.Path, suggestion(a.Dataset, sortedKeys(p.Datasets)))
	}
	site, exists := p.Studies[study]
	if !exists {
		site = StudySite{Columns: map[string]string{}, Release: ReleaseAuto}
	}
	site.Dataset = a.Dataset
	maps.Copy(site.Columns, a.Columns)
	if a.Release != "" {
		site.Release = a.Release
	}
	p.Studies[study] = site
	if !exists {
		text, err = insertTop(text, root, "studies", entry{name: study.String(), lines: a.fields()})
	} else {
		text, err = changeStudy(path, text, study, a)
	}
	if err != nil {
		return "", err
	}
	return text, confirm(path, text, p)
}

// changeStudy changes a study's existing entry, one value at a time.
func changeStudy(path, text string, study protocol.StudyID, a Answer) (string, error) {
	id := study.String()
	text, err := changeField(path, text, "dataset", a.Dataset, "studies", id)
	if err == nil && a.Release != "" {
		text, err = changeField(path, text, "release", string(a.Release), "studies", id)
	}
	for _, name := range sortedKeys(a.Columns) {
		if err == nil {
			text, err = changeField(path, text, name, a.Columns[name], "studies", id, "columns")
		}
	}
	return text, err
}

// changeField sets a field of the mapping at place, replacing its value, if any. Only the last key
// of place may be missing.
func changeField(path, text, name, value string, place ...string) (string, error) {
	_, at, err := partyOf(path, text)
	if err != nil {
		return "", errEdit
	}
	field := entry{name: scalar(name), value: scalar(value)}
	var key *yaml.Node
	for i, step := range place {
		next, inner := lookup(at, step)
		if next == nil && i < len(place)-1 {
			return "", errEdit
		}
		if next == nil {
			return insert(text, key, at, entry{name: step, value: "{" + field.flow() + "}"})
		}
		key, at = next, inner
	}
	switch _, there := lookup(at, name); {
	case there == nil:
		return insert(text, key, at, field)
	case there.Kind == yaml.ScalarNode && there.Value == value:
		return text, nil
	default:
		return replaceScalar(text, there, field.value)
	}
}
