package study

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/fail"
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

// Fail is what the catalogue says of it.
func (e *NotLaterError) Fail() *fail.Error { return fail.NotLater.Fail() }

// Further reads an analysis that is asked of a study's releases after they are in: its
// kind, and words like "clusters=3", each a key of the study file's entry and its value
// there. Lists may be written without brackets, as in "on=age,smoker". The errors are those
// of a study file, without lines; *NotLaterError where the parties did not agree to it.
func (s *Study) Further(kind string, words []string) (Analysis, error) {
	r := &reader{at: map[string]place{}, words: true}
	entry := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	add := func(key string, value *yaml.Node) {
		entry.Content = append(entry.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	}
	add("kind", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: kind})
	given := map[string]bool{"kind": true}
	for _, word := range words {
		key, text, ok := strings.Cut(word, "=")
		if !ok || key == "" || key == "kind" || text == "" {
			r.fail(kind, "%s is no option", excerpt(word)).Hint = "write KEY=VALUE, as in clusters=3"
			continue
		}
		if given[key] {
			r.fail(kind, "%s is given twice", excerpt(key))
		}
		given[key] = true
		value, e := load([]byte(text))
		if e != nil {
			r.fail(kind+"."+key, "%s is no value: %s", excerpt(text), e.Message)
			continue
		}
		add(key, value)
	}
	a := r.further(s, kind, entry)
	for _, e := range r.errs {
		e.Line, e.Column = 0, 0 // there is no file
	}
	if err := r.failure(); err != nil {
		return Analysis{}, err
	}
	if !slices.Contains(s.Later, a.Kind) {
		return Analysis{}, &NotLaterError{s.Name, a.Kind, s.Later}
	}
	return a, nil
}

// further reads and checks the entry. What no option could mend is said first.
func (r *reader) further(s *Study, kind string, entry *yaml.Node) Analysis {
	if r.failures > 0 {
		return Analysis{}
	}
	r.survey(entry, kind, 0)
	if e := analysisWords().check(kind); e != nil {
		r.fail(kind, "%s", e.Message).Hint = e.Hint
	} else if !slices.Contains(s.Later, AnalysisKind(kind)) {
		r.validateAnswer(s, Analysis{Kind: AnalysisKind(kind)}, kind)
		return Analysis{Kind: AnalysisKind(kind)}
	}
	if r.failures > 0 {
		return Analysis{}
	}
	a := r.analysis(item{node: entry, path: kind})
	if k, ok := kindOf(a.Kind); ok && k.check != nil && r.failures == 0 {
		k.check(r, s, a, kind)
	}
	if r.failures == 0 {
		r.validateAnswer(s, a, kind)
	}
	return a
}
