// Package sum describes the sketches that are sums over records, without a projection: their shape,
// sensitivity and construction. Each has a row in a file of its own; plans, builders and audits
// treat all rows alike.
package sum

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Row describes the sketches of one side. Its functions take a study and the index of a sketch.
type Row struct {
	Side sketch.Side
	// AtReadBits says that records are added with the study's ReadBits, as they are read; else with its
	// Bits.
	AtReadBits bool

	// Shape returns the shape of the released sketch.
	Shape func(s *study.Study, index int) (rows, cols int64)
	// Sensitivity returns that of one record's change, under unit record, for records clipped to a
	// length in integer units. Without noise there is none.
	Sensitivity func(s *study.Study, index int, clip int64) (dp.Sensitivity, error)
	Open        func(o Options) (Adder, error)
	// Measure returns a counter of the records that Open's adder would clip; it sums nothing. It
	// needs no Root. Measure is nil if records are never clipped.
	Measure func(o Options) (Lengths, error)
	// Largest returns roughly the most that a record adds to an entry, in units of 2^Bits, if
	// records are clipped to a length and have this squared length.
	Largest func(s *study.Study, index int, clip int64, square float64) float64

	// Extremes returns changes of a record that move the sketch as far as any, for audits.
	Extremes func(s *study.Study, index int) []Change
	// DisjointEntries returns how many entries, from the first on, two records need not share: 0 if each
	// record moves all.
	DisjointEntries func(s *study.Study, index int) int
}

// Options configure an adder.
type Options struct {
	Study *study.Study // Required
	Index int          // Required. index of the sketch in the study
	Root  seed.Keys    // Required by Row.Open
	// Clips are the lengths that records are clipped to. Empty: they are not clipped.
	Clips   []int64
	Chosen  bool              // moments: the party chooses one of Clips, so there are sums for each and counts of lengths
	Move    []sketch.Standard // moments: how entries are shifted and scaled; nil: not at all
	Limit   int64             // Required. most records that may be added
	Workers int
}

// clip returns the first of Clips, or 0 if records are not clipped.
func (o Options) clip() int64 {
	if len(o.Clips) == 0 {
		return 0
	}
	return o.Clips[0]
}

// Adder sums records. It ignores record ids: what a record adds depends on its values only.
type Adder interface {
	// Add adds m × d encoded values, all features of each record. On an error it adds none.
	Add(x []int64) error
	Records() int64
	Clipped() int64 // number of clipped records
	Sketch() sketch.Sketch
}

// Lengths counts records as an Adder does.
type Lengths interface {
	Add(x []int64) error
	Clipped() int64
}

// Change is a record's encoded values, at the study's Bits, in two neighbouring data sets. Nil
// stands for no record.
type Change struct{ Without, With []int64 }

// Rows returns the rows of all sides in this version.
func Rows() []Row { return []Row{moments(), cells(), counts(), codes(), look()} }

// RowOf returns the row of a side; ok is false if the side does not sum over records.
func RowOf(side sketch.Side) (row Row, ok bool) {
	for _, row := range Rows() {
		if row.Side == side {
			return row, true
		}
	}
	return Row{}, false
}

// ends returns the smallest and largest of a column's encoded values.
func ends(c study.Column, bits fixedpoint.Bits) (least, greatest int64) {
	one := bits.One()
	return one - c.Scale.Range(bits), one
}
