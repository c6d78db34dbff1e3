package file

import (
	"crypto/sha256"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// version is the format of study files that this program reads: the value of their first key.
const version = "study/2"

// first is the previous format, whose defaults gave other answers. It is refused.
const first = "study/1"

// Parse reads, completes and validates a study file. Its error is a schema.Errors that lists
// everything wrong in the first stage that found anything: text, YAML, single values, and
// consistency.
func Parse(source []byte) (*study.Study, error) {
	if e := checkSource(source); e != nil {
		return nil, schema.Errors{e}
	}
	root, e := schema.Document(source)
	if e != nil {
		return nil, schema.Errors{e}
	}
	if root == nil {
		return nil, schema.Errors{{Line: 1, Column: 1, Message: "the file is empty", Hint: "a study file begins with cosketch: " + version}}
	}
	r := &reader{&schema.Reader{}}
	if !r.Survey(root, "") {
		return nil, r.Failure()
	}
	if !r.ofThisVersion(root) {
		return nil, r.Failure()
	}
	s := &study.Study{}
	studyKeys().Read(r.Reader, schema.Item{Node: root}, s)
	if err := r.Failure(); err != nil {
		return nil, err
	}
	r.complete(s)
	r.validate(s)
	if err := r.Failure(); err != nil {
		return nil, err
	}
	slices.SortFunc(s.Parties, func(a, b study.Party) int { return a.ID.Compare(b.ID) })
	s.ID = sha256.Sum256(source)
	s.Source = slices.Clone(source)
	s.Meaning = meaning(s)
	return s, nil
}

// ofThisVersion refuses what is not a study file, or is one of another version.
func (r *reader) ofThisVersion(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode || len(root.Content) == 0 || root.Content[0].Value != "cosketch" {
		r.Fail("", "not a study file").Hint = "its first key is cosketch: " + version
		return false
	}
	switch v := root.Content[1]; {
	case v.Value == first:
		r.Fail("cosketch", "the file is of the first version, %s, whose defaults gave other answers", first).Hint = "draft the study anew with aggregator study draft: this program reads " + version
	case v.Kind != yaml.ScalarNode || v.Value != version:
		r.Fail("cosketch", "%s is another format", schema.Describe(v)).Hint = "this program reads " + version
	}
	return r.Failures == 0
}
