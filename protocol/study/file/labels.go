package file

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
)

// validateLabels checks that labels may travel with a sketch.
func (r *reader) validateLabels(s *study.Study, i int, path string) {
	sk := s.Sketches[i]
	if r.Given(path+".label_share") && (sk.Labels != study.LabelsRandomised || s.Privacy.Unit != dp.Record) {
		r.Fail(path+".label_share", "does not belong here: it divides the budget under unit record between randomised labels and the rest").Hint = "remove the key; under unit attribute a label is one more value, with the sketch's own ε"
		return
	}
	if sk.Labels == study.LabelsNone {
		return
	}
	at := path + ".labels"
	label := -1
	for c, column := range s.Columns {
		if column.Label {
			label = c
		}
	}
	switch {
	case label < 0:
		r.Fail(at, "%s, but no column is the label", sk.Labels).Hint = "write role: label in the column that classifiers are to predict"
	case len(s.Columns[label].Classes()) == 0:
		r.Fail(fmt.Sprintf("columns[%d].role", label), "a %s column has no classes that could travel as labels", s.Columns[label].Kind).Hint = "a label is binary or categorical"
	case len(s.Columns[label].Classes()) > study.MaxClasses:
		r.Fail(fmt.Sprintf("columns[%d].values", label), "lists %d, at most %d can travel as labels", len(s.Columns[label].Classes()), study.MaxClasses)
	case sk.Labels == study.LabelsPlain && s.Privacy.Unit == dp.Record:
		r.Fail(at, "plain is refused under unit record: it promises that no part of a record can be told").Hint = "take labels: randomised"
	case sk.Labels == study.LabelsRandomised && s.Privacy.Mechanism == dp.None:
		r.Fail(at, "randomised needs an ε, and mechanism none has none").Hint = "take labels: plain, or another mechanism"
	default:
		if _, err := s.Response(i); err != nil {
			r.Fail(at, "%v", err)
		}
	}
}
