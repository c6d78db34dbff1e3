package study

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/stream"
)

// FeatureKind says how a feature is derived from a record.
type FeatureKind string

const (
	Value  FeatureKind = "value"   // a numeric or binary column's encoded value
	OneHot FeatureKind = "one-hot" // 1 if a categorical column has this value, else 0
	Square FeatureKind = "square"  // the square of one Value or OneHot feature
	Ones   FeatureKind = "ones"    // the weight Helpers.Ones in every record
)

// Feature is one entry of the derived vector that a party sketches for each record.
type Feature struct {
	Column int    // index into Study.Columns; -1 for Ones
	Value  string // the categorical value of OneHot, and of its Square; empty otherwise
	Kind   FeatureKind
}

// Features returns the derived vector of a record for a party and a sketch, by their indices, in
// the order of the sketch's columns. First come the party's values in column order; a categorical
// column has one entry per listed value. If the sketch has squares, one square per value follows in
// the same order; then ones, if it has them. In a vertical study the values are those of the
// columns that the party owns; in a horizontal one all parties have the same features.
//
// The column with role label is sketched on the columns side and in moments like any other. On the
// records side and in cells it is left out: it is the class to predict from distances, which must
// not depend on it.
func (s *Study) Features(party, index int) []Feature {
	sk := s.Sketches[index]
	var out []Feature
	for _, c := range s.OwnColumns(party) {
		column := s.Columns[c]
		switch {
		case column.Label && !sk.takesLabel():
		case column.Kind == Categorical:
			for _, v := range column.Values {
				out = append(out, Feature{Column: c, Value: v, Kind: OneHot})
			}
		default:
			out = append(out, Feature{Column: c, Kind: Value})
		}
	}
	if sk.Helpers.Squares {
		for _, f := range out[:len(out):len(out)] {
			out = append(out, Feature{Column: f.Column, Value: f.Value, Kind: Square})
		}
	}
	if sk.Helpers.Ones > 0 {
		out = append(out, Feature{Column: -1, Kind: Ones})
	}
	return out
}

// Centred reports whether the values of a sketch, by its index, are first shifted to their public
// centres. On the columns side they are if a column of ones allows the shift to be undone.
func (s *Study) Centred(index int) bool {
	sk := s.Sketches[index]
	if sk.Side == sketch.Columns {
		return sk.Helpers.Ones > 0
	}
	return sk.Side.Sums() || s.Merge(index) == Join
}

// CentreOf returns what a centred sketch subtracts from a value feature, in units in which one is
// 1. That is the middle of the bounds, or the rate that a binary column declares. It is 0 for a
// column with a centre of its own, and for one-hot entries, most of which are zero.
func (s *Study) CentreOf(f Feature, one int64) int64 {
	if f.Kind != Value {
		return 0
	}
	return s.Columns[f.Column].Scale.Central(one)
}

// Joins reports whether some sketch joins records of several parties.
func (s *Study) Joins() bool {
	for i := range s.Sketches {
		if s.Merge(i) == Join {
			return true
		}
	}
	return false
}

// AllFeatures returns the features for which R of a records-side sketch, by its index, has rows, in
// the order of the rows. These are the features of a party or, if sketches of several parties are
// joined, those of all parties in the order of the study's columns.
func (s *Study) AllFeatures(index int) []Feature {
	if s.Merge(index) != Join {
		return s.Features(0, index)
	}
	all := *s
	all.Partition = Horizontal // every party has every column
	return all.Features(0, index)
}

// FeatureIndices returns the indices of a party's features in AllFeatures.
func (s *Study) FeatureIndices(party, index int) []int {
	at := map[Feature]int{}
	for i, f := range s.AllFeatures(index) {
		at[f] = i
	}
	var out []int
	for _, f := range s.Features(party, index) {
		out = append(out, at[f])
	}
	return out
}

// RowLabels returns the labels of the rows of R for features.
func (s *Study) RowLabels(features []Feature) [][]byte {
	var labels [][]byte
	for _, f := range features {
		name := s.Columns[f.Column].Name
		if f.Kind == OneHot {
			labels = append(labels, stream.ValueLabel(name, f.Value))
		} else {
			labels = append(labels, stream.ColumnLabel(name))
		}
	}
	return labels
}

// takesLabel reports whether a sketch contains the column with role label.
func (sk Sketch) takesLabel() bool {
	row, _ := additiveOf(sk.Side)
	return sk.Side == sketch.Columns || row.label
}

// OwnColumns returns the indices of the columns that a party holds: those it owns
// in a vertical study, all of them in a horizontal one.
func (s *Study) OwnColumns(party int) []int {
	var out []int
	for i, c := range s.Columns {
		if s.Partition == Horizontal || c.Owner == s.Parties[party].Name {
			out = append(out, i)
		}
	}
	return out
}

// RecordLimit returns the most records of one party that a sketch of the study can take. Where
// records are summed, the exact sums over all parties are then sure to fit. On the records side
// rows are not summed, and only their number is bounded.
func (s *Study) RecordLimit(index int) int64 {
	sk := s.Sketches[index]
	switch {
	case sk.Side.Sums():
		return s.sumsLimit(index)
	case sk.Side == sketch.Columns:
		limit := sk.Projection.MaxTerms(s.LargestEntry(index)) / s.ExactParties()
		if sk.Standardise {
			limit = min(limit, ownLimit)
		}
		return limit
	}
	return math.MaxInt32
}

// PartyIndex returns the index of the party with this identity.
func (s *Study) PartyIndex(id protocol.PeerID) (int, bool) {
	at, ok := slices.BinarySearchFunc(s.Parties, id, func(p Party, id protocol.PeerID) int { return p.ID.Compare(id) })
	if ok {
		return at, true
	}
	for i, p := range s.Parties { // a study that was not parsed may be in another order
		if p.ID == id {
			return i, true
		}
	}
	return 0, false
}

// PartyByName returns the index of the party with this name.
func (s *Study) PartyByName(name string) (int, bool) {
	for i, p := range s.Parties {
		if p.Name == name {
			return i, true
		}
	}
	return 0, false
}

// Merge says how the parties' sketches of one kind are combined.
type Merge string

const (
	Stack Merge = "stack" // side by side: more columns, or more records
	Add   Merge = "add"   // entry by entry: the sketch of the union
	Join  Merge = "join"  // record by record, by pseudonym: the sketch of all parties' columns
)

// Merge returns the merge rule of a sketch, by its index.
func (s *Study) Merge(index int) Merge {
	records := s.Sketches[index].Side == sketch.Records
	switch {
	case s.Partition == Horizontal && !records:
		return Add
	case s.Partition == Vertical && records:
		return Join
	}
	return Stack
}
