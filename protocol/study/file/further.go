package file

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Further reads an analysis that is asked of a study's releases afterwards: its kind, and words
// like "clusters=3", each a key of the study file's entry with its value. Lists may be written
// without brackets, as in "on=age,smoker". Errors are those of a study file, without lines, or
// *study.NotLaterError if the parties did not agree to the kind.
func Further(s *study.Study, kind string, words []string) (study.Analysis, error) {
	r := &reader{&schema.Reader{Words: true}}
	entry := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	add := func(key string, value *yaml.Node) {
		entry.Content = append(entry.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	}
	add("kind", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: kind})
	given := map[string]bool{"kind": true}
	for _, word := range words {
		key, text, ok := strings.Cut(word, "=")
		if !ok || key == "" || key == "kind" || text == "" {
			r.Fail(kind, "%s is no option", schema.Excerpt(word)).Hint = "write KEY=VALUE, as in clusters=3"
			continue
		}
		if given[key] {
			r.Fail(kind, "%s is given twice", schema.Excerpt(key))
		}
		given[key] = true
		value, e := schema.Load([]byte(text))
		if e != nil {
			r.Fail(kind+"."+key, "%s is no value: %s", schema.Excerpt(text), e.Message)
			continue
		}
		add(key, value)
	}
	a := r.further(s, kind, entry)
	for _, e := range r.Errs {
		e.Line, e.Column = 0, 0 // there is no file
	}
	if err := r.Failure(); err != nil {
		return study.Analysis{}, err
	}
	if !slices.Contains(s.Later, a.Kind) {
		return study.Analysis{}, &study.NotLaterError{Name: s.Name, Kind: a.Kind, Later: s.Later}
	}
	return a, nil
}

// further reads and checks the entry. It first reports errors that no option could correct.
func (r *reader) further(s *study.Study, kind string, entry *yaml.Node) study.Analysis {
	if r.Failures > 0 {
		return study.Analysis{}
	}
	r.Survey(entry, kind)
	if e := analysisWords().Check(kind); e != nil {
		r.Fail(kind, "%s", e.Message).Hint = e.Hint
	} else if !slices.Contains(s.Later, study.AnalysisKind(kind)) {
		r.validateAnswer(s, study.Analysis{Kind: study.AnalysisKind(kind)}, kind)
		return study.Analysis{Kind: study.AnalysisKind(kind)}
	}
	if r.Failures > 0 {
		return study.Analysis{}
	}
	a := readAnalysis(r.Reader, schema.Item{Node: entry, Path: kind})
	if k, _ := study.KindOf(a.Kind); r.Failures == 0 {
		k.Check(r.Reader, s, a, kind)
	}
	if r.Failures == 0 {
		r.validateAnswer(s, a, kind)
	}
	return a
}
