package file

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// additive is how sketches of one side that sums over records are read and checked. Each stands in a file of its
// own; what a study knows of them is in package study.
type additive struct {
	side sketch.Side
	keys schema.Keys[study.Sketch] // its own
	// complete fills in the defaults of its keys; nil: they have none.
	complete func(r *reader, s *study.Study, index int)
	// check refuses a study, horizontal and with a column in the sketch, in which it cannot be made.
	check func(r *reader, s *study.Study, index int)
}

// additives are all that this version has. The keys of the first stand in the middle of a sketch's meaning, those of
// others at its end.
func additives() []additive {
	return []additive{ofMoments(), ofCells(), ofCounts(), ofCodes(), ofLook()}
}

// additiveOf returns the row of a side; ok is false for one that does not sum over records.
func additiveOf(side sketch.Side) (row additive, ok bool) {
	for _, row := range additives() {
		if row.side == side {
			return row, true
		}
	}
	return additive{}, false
}

// rows are its keys, which belong to no other side.
func (row additive) rows() (out schema.Keys[study.Sketch]) {
	for _, key := range row.keys {
		own := key.Not
		key.Not = func(sk *study.Sketch) string {
			if sk.Side != row.side && sk.Side != "" {
				return "it belongs to side " + string(row.side)
			}
			if own != nil {
				return own(sk)
			}
			return ""
		}
		out = append(out, key)
	}
	return out
}
