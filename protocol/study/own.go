package study

import "github.com/cosketch/cosketch/kernel/sketch"

// Shares of a columns-side sketch's μ² where it is standardised: of the look at the party's own
// values that comes first, with numbers twice as much as without, and of the sums of what is
// sketched then. These are exact with little: a record is no longer than it is in the sketch.
const (
	ShareBits    = 0.05
	ShareNumbers = 0.1
	ShareOwn     = 0.02
)

// OwnRows is how many rows stand before those of a standardised sketch of columns: the own
// centres and spreads of values, and the sums and sums of squares of what was sketched of them, with
// the count of records that were not sketched as they are.
const OwnRows = 4

// ownLimit is of how many records own sums are surely less than what a release can have.
const ownLimit = 1 << 36

// LargestEntry is that of a record in a sketch of columns: bits that are scaled by their rates go to
// twice what others do.
func (s *Study) LargestEntry(index int) int64 {
	if s.StandardisedColumns(index) {
		return 2 * s.Bits.One()
	}
	return s.Bits.One()
}

// StandardisedColumns reports whether a sketch is of columns that are moved and scaled by each
// party's own values.
func (s *Study) StandardisedColumns(index int) bool {
	sk := s.Sketches[index]
	return sk.Side == sketch.Columns && sk.Standardise
}

// OwnShare is the part of such a sketch's μ² that each of its three parts has, at a party.
func (s *Study) OwnShare(party, index int) (rows, look, own float64) {
	look = ShareBits
	for _, c := range s.OwnColumns(party) {
		if s.Columns[c].Kind == Numeric {
			look = ShareNumbers
		}
	}
	return 1 - look - ShareOwn, look, ShareOwn
}

// describeOwn says what a party tells of its own values beside a sketch of columns.
func (s *Study) describeOwn(index int) string {
	if !s.StandardisedColumns(index) {
		return ""
	}
	return "; and noisy means and noisy sums of squares of your own columns: your program centres and scales the values by them before it sketches; and how many records were shortened, with noise"
}
