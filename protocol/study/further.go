package study

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
)

// NotLaterError refuses a kind of analysis that a study's parties did not agree to: the
// study file's later lists those that may be asked of its releases afterwards.
type NotLaterError struct {
	Name  string // of the study
	Kind  AnalysisKind
	Later []AnalysisKind
}

func (e *NotLaterError) Error() string {
	if len(e.Later) == 0 {
		return fmt.Sprintf("study %q admits no analysis beside its own: its parties approved an empty list under later", e.Name)
	}
	var names []string
	for _, k := range e.Later {
		names = append(names, string(k))
	}
	return fmt.Sprintf("%s is not among what study %q admits beside its own analyses; its parties approved, under later: %s", e.Kind, e.Name, strings.Join(names, ", "))
}

// Further reads an analysis that is asked of a study's releases after they are in: its
// kind, and words like "clusters=3", each a key of the study file's entry and its value
// there. Lists may be written without brackets, as in "on=age,smoker". The errors are those
// of a study file, without lines; *NotLaterError where the parties did not agree to it.
func Further(s *Study, kind string, words []string) (Analysis, error) {
	r := &reader{schema.Reader{Words: true}}
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
		return Analysis{}, err
	}
	if !slices.Contains(s.Later, a.Kind) {
		return Analysis{}, &NotLaterError{s.Name, a.Kind, s.Later}
	}
	return a, nil
}

// further reads and checks the entry. What no option could mend is said first.
func (r *reader) further(s *Study, kind string, entry *yaml.Node) Analysis {
	if r.Failures > 0 {
		return Analysis{}
	}
	r.Survey(entry, kind)
	if e := analysisWords().Check(kind); e != nil {
		r.Fail(kind, "%s", e.Message).Hint = e.Hint
	} else if !slices.Contains(s.Later, AnalysisKind(kind)) {
		r.validateAnswer(s, Analysis{Kind: AnalysisKind(kind)}, kind)
		return Analysis{Kind: AnalysisKind(kind)}
	}
	if r.Failures > 0 {
		return Analysis{}
	}
	a := r.analysis(schema.Item{Node: entry, Path: kind})
	if e := entryOf(a.Kind); e.check != nil && r.Failures == 0 {
		e.check(r, s, a, kind)
	}
	if r.Failures == 0 {
		r.validateAnswer(s, a, kind)
	}
	return a
}
