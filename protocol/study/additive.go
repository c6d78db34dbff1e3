package study

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// additive describes one side whose sketches are sums over records, without a projection. Each side
// has a file of its own. A row of package file says how such a sketch is read and checked, a row of
// protocol/sum how it is computed.
type additive struct {
	side  sketch.Side
	label bool // the column with role label is included
	// absent tells stewards what happens to absent values if records.missing is count; empty for
	// sides that do not count them.
	absent string
	// takes says that absent values are passed on unchanged, whatever is done with them.
	takes bool
	// publishes lists the keys that leave with every release.
	publishes []seed.Label

	// project fills in the projection that stands for the sketch in the study's meaning; nil: it is
	// read from the file.
	project func(s *Study, index int)

	// limit returns the number of records of a party after which an entry can reach bound.
	limit func(s *Study, index int, bound int64) int64
	// bits returns the finest resolution, up to most, that fits the sums; nil: any.
	bits func(s *Study, index int, most fixedpoint.Bits) fixedpoint.Bits

	method func(sk Sketch) string                         // in a few words
	says   func(s *Study, index int, noisy string) string // for stewards
}

// additives returns all such sides of this version, in the order in which they are listed.
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

// CountsAbsent reports whether a sketch, by its index, distinguishes absent values. In other
// sketches a substitute takes their place.
func (s *Study) CountsAbsent(index int) bool {
	row, _ := additiveOf(s.Sketches[index].Side)
	return s.Records.Missing == MissingCount && (row.absent != "" || row.takes)
}

// counting returns the rows of the sides that count absent values.
func counting() []additive {
	return slices.DeleteFunc(additives(), func(row additive) bool { return row.absent == "" })
}

// Sides returns all sides: those that project and those that sum.
func Sides() []sketch.Side {
	return append([]sketch.Side{sketch.Columns, sketch.Records}, sidesOf(additives())...)
}

// Counting returns the sides that count absent values.
func Counting() []sketch.Side { return sidesOf(counting()) }

func sidesOf(rows []additive) (out []sketch.Side) {
	for _, row := range rows {
		out = append(out, row.side)
	}
	return out
}
