package study

import "github.com/cosketch/cosketch/kernel/sketch"

// Shares of the μ² of a standardised columns-side sketch. The look at the party's own values comes
// first and takes ShareBits, or ShareNumbers if there are numbers. The sums of the sketched values
// take ShareOwn. Little is enough for these: a record is no longer in them than in the sketch.
const (
	ShareBits    = 0.05
	ShareNumbers = 0.1
	ShareOwn     = 0.02
)

// OwnRows is the number of rows before those of a standardised columns sketch: the party's own
// centres and spreads of values, and the sums and sums of squares of the sketched values, with the
// count of clipped records.
const OwnRows = 4

// ownLimit bounds the number of records of own sums, so that a release surely holds them.
const ownLimit = 1 << 36

// LargestEntry returns the largest entry of a record in a columns sketch: twice as large for bits
// that are scaled by their rates.
func (s *Study) LargestEntry(index int) int64 {
	if s.StandardisedColumns(index) {
		return 2 * s.Bits.One()
	}
	return s.Bits.One()
}

// StandardisedColumns reports whether a sketch is of columns that are shifted and scaled by each
// party's own values.
func (s *Study) StandardisedColumns(index int) bool {
	sk := s.Sketches[index]
	return sk.Side == sketch.Columns && sk.Standardise
}

// OwnShare divides the μ² of such a sketch, for a party, among its three parts.
func (s *Study) OwnShare(party, index int) (rows, look, own float64) {
	look = ShareBits
	for _, c := range s.OwnColumns(party) {
		if s.Columns[c].Kind == Numeric {
			look = ShareNumbers
		}
	}
	return 1 - look - ShareOwn, look, ShareOwn
}

// describeOwn says what a party reveals of its own values beside a columns sketch.
func (s *Study) describeOwn(index int) string {
	if !s.StandardisedColumns(index) {
		return ""
	}
	return "; and noisy means and noisy sums of squares of your own columns: your program centres and scales the values by them before it sketches; and how many records were shortened, with noise"
}
