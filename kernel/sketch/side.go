package sketch

import "slices"

// Side says which dimension of the data a sketch compresses, or that it sums over records without a
// projection.
type Side string

const (
	Columns Side = "columns" // R·X, k × n: compares columns (Liu's row-wise projection)
	Records Side = "records" // X·R, m × k: compares records (Liu's column-wise projection)
	Moments Side = "moments" // Σ xxᵀ and Σ x, a row for each clip: second moments of the records
	Cells   Side = "cells"   // Σ e(x) ⊗ (w, x), a row for each cell of a partition of the space of records
	Codes   Side = "codes"   // Σ e(x) ⊗ (w, y), a row for each code point of a codebook, y being a projection of x
	Counts  Side = "counts"  // Σ e(x), one row: numbers of records by the cells of tables
	Look    Side = "look"    // one row: numbers of records by their lengths, or sums of their values and of the squares
)

// Sides returns all sides: first those that project, then those that sum.
func Sides() []Side { return append([]Side{Columns, Records}, additive()...) }

// additive returns the sides whose sketches are sums over records.
func additive() []Side { return []Side{Moments, Cells, Counts, Codes, Look} }

func (s Side) Known() bool { return slices.Contains(Sides(), s) }

// Sums reports whether a sketch of the side is a sum over records, without a projection, of a
// function of each record alone. The size of such a sketch does not grow with the number of
// records. Sketches of disjoint sets of records add up to the sketch of their union.
func (s Side) Sums() bool { return slices.Contains(additive(), s) }
