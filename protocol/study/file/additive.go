package file

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// additive describes how sketches of one side that sums over records are read and checked. Each
// side has a file of its own; package study has the model.
type additive struct {
	side sketch.Side
	keys schema.Keys[study.Sketch] // the side's own keys
	// complete fills in the defaults of its keys; nil: there are none.
	complete func(r *reader, s *study.Study, index int)
	// check refuses a study that cannot have the sketch. The study is horizontal, and the sketch
	// has a column.
	check func(r *reader, s *study.Study, index int)
}

// additives returns all such sides of this version. The keys of the first are in the middle of a
// sketch's meaning, those of the others at its end.
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

// rows returns its keys, which belong to no other side.
func (row additive) rows() (out schema.Keys[study.Sketch]) {
	for _, key := range row.keys {
		own := key.Forbidden
		key.Forbidden = func(sk *study.Sketch) string {
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
