package file

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// additive is how sketches of one side that sums over records are read and checked. Each stands in a file of its
// own; what a study knows of them is in package study.
type additive struct {
	side  sketch.Side
	keys  []string // its own
	takes string   // all that it takes, for people
	read  func(o object, sk *study.Sketch)
	// complete fills in the defaults of its keys; nil: they have none.
	complete func(r *reader, s *study.Study, index int)
	// check refuses a study, horizontal and with a column in the sketch, in which it cannot be made.
	check func(r *reader, s *study.Study, index int)
	// encode adds to the study's meaning what a sketch has of its own keys, where it has any; nil: nothing.
	encode func(e *schema.Encoder, sk study.Sketch)
}

// additives are all that this version has.
func additives() []additive { return []additive{ofMoments(), ofCells(), ofCounts()} }

// additiveOf returns the row of a side; ok is false for one that does not sum over records.
func additiveOf(side sketch.Side) (row additive, ok bool) {
	for _, row := range additives() {
		if row.side == side {
			return row, true
		}
	}
	return additive{}, false
}
