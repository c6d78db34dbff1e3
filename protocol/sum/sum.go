// Package sum knows the sketches that are sums over records, without a projection: their shape, their
// sensitivity and how they are built. Each has a row in a file of its own; what plans, builders and audits do
// is the same for all.
package sum

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Row is what is known of one side. A study and the index of one of its sketches say of which sketch.
type Row struct {
	Side sketch.Side
	// Fine says that records are added as they are read, at the study's ReadBits; else at its Bits.
	Fine bool

	// Shape is that of the released sketch.
	Shape func(s *study.Study, index int) (rows, cols int64)
	// Sensitivity is of one record's change, under unit record, where records are cut to a length in
	// integer units. Without noise there is none.
	Sensitivity func(s *study.Study, index int, clip int64) (dp.Sensitivity, error)
	Open        func(o Options) (Adder, error)
	// Measure returns what counts records that Open's adder would cut, and sums nothing. It needs no Root.
	// Nil where records are never cut.
	Measure func(o Options) (Lengths, error)
	// Largest is about what a record adds to an entry at most, if cut to a length and of this squared
	// length, in units of 2^Bits.
	Largest func(s *study.Study, index int, clip int64, square float64) float64

	// Extremes are changes of a record that move the sketch as far as any, which audits try.
	Extremes func(s *study.Study, index int) []Change
	// Apart is how many entries, from the first, two records need not have in common: 0 where each record
	// moves all.
	Apart func(s *study.Study, index int) int
}

// Options describe an adder to be opened.
type Options struct {
	Study *study.Study // Required
	Index int          // Required. of its sketches
	Root  seed.Keys    // Required by Row.Open
	// Clips are the lengths that records are cut to. Empty: they are not cut.
	Clips   []int64
	Chosen  bool              // moments: the party chooses one of Clips, so there are sums for each and counts of lengths
	Move    []sketch.Standard // moments: how entries are moved and scaled; nil: they are not
	Limit   int64             // Required. records that may be added
	Workers int
}

// clip is the only one; 0 where records are not cut.
func (o Options) clip() int64 {
	if len(o.Clips) == 0 {
		return 0
	}
	return o.Clips[0]
}

// Adder sums records. Record ids have no part in it: what a record adds is a function of its values alone.
type Adder interface {
	// Add takes m × d encoded values, all features of each record. It adds all or, with an error, none.
	Add(x []int64) error
	Records() int64
	Clipped() int64 // how many of them were cut
	Sketch() sketch.Sketch
}

// Lengths counts records as an Adder does.
type Lengths interface {
	Add(x []int64) error
	Clipped() int64
}

// Change is a record's encoded values, at the study's Bits, in two neighbouring data sets. Nil stands for no
// record at all.
type Change struct{ Without, With []int64 }

// Rows are all that this version has.
func Rows() []Row { return []Row{moments(), cells(), counts(), codes(), look()} }

// RowOf returns the row of a side; ok is false for one that does not sum over records.
func RowOf(side sketch.Side) (row Row, ok bool) {
	for _, row := range Rows() {
		if row.Side == side {
			return row, true
		}
	}
	return Row{}, false
}

// ends are the least and the greatest of a column's encoded values.
func ends(c study.Column, bits fixedpoint.Bits) (least, greatest int64) {
	one := bits.One()
	return one - c.Scale.Range(bits), one
}
