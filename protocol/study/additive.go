package study

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// additive is what a study knows of one side whose sketches are sums over records, without a
// projection. Each stands in a file of its own. How it is read and checked is a row of package file, and what is
// done with such sketches one of protocol/sum.
type additive struct {
	side  sketch.Side
	label bool // the column with role label takes part
	// absent says, to stewards, what becomes of absent values where records.missing is count; empty for what does
	// not count them.
	absent string
	// takes says that absent values are taken as they are, whatever becomes of them.
	takes bool
	// publishes lists the keys that leave with every release.
	publishes []seed.Label

	// project fills in the projection that stands for it in the study's meaning; nil: it is read.
	project func(s *Study, index int)

	// limit is after how many records of a party an entry can reach bound.
	limit func(s *Study, index int, bound int64) int64
	// bits is the finest resolution, of at most this one, that its sums have room for; nil: any.
	bits func(s *Study, index int, most fixedpoint.Bits) fixedpoint.Bits

	method func(sk Sketch) string                         // in a few words
	says   func(s *Study, index int, noisy string) string // to stewards
}

// additives are all that this version has, in the order in which they are listed.
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

// CountsAbsent reports whether a sketch, by its index, tells absent values apart; elsewhere something takes
// their place.
func (s *Study) CountsAbsent(index int) bool {
	row, _ := additiveOf(s.Sketches[index].Side)
	return s.Records.Missing == MissingCount && (row.absent != "" || row.takes)
}

// counting are the rows of what counts absent values.
func counting() []additive {
	return slices.DeleteFunc(additives(), func(row additive) bool { return row.absent == "" })
}

// Sides are those that project and those that sum.
func Sides() []sketch.Side {
	return append([]sketch.Side{sketch.Columns, sketch.Records}, sidesOf(additives())...)
}

// Counting are the sides that count absent values.
func Counting() []sketch.Side { return sidesOf(counting()) }

func sidesOf(rows []additive) (out []sketch.Side) {
	for _, row := range rows {
		out = append(out, row.side)
	}
	return out
}
