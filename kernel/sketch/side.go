package sketch

// Side says which dimension of the data a sketch compresses, or that it sums over
// records without a projection.
type Side string

const (
	Columns Side = "columns" // R·X, k × n: compares columns (Liu's row-wise projection)
	Records Side = "records" // X·R, m × k: compares records (Liu's column-wise projection)
	Moments Side = "moments" // Σ xxᵀ and Σ x, one row: second moments of the records
	Cells   Side = "cells"   // Σ e(x) ⊗ (w, x), a row for each cell of a partition of the space of records
)

// Known reports whether s is one of the sides.
func (s Side) Known() bool {
	return s == Columns || s == Records || s.Sums()
}

// Sums reports whether a sketch of the side is a sum over records of a function of each
// record alone, without a projection: its size does not grow with the records, and
// sketches of disjoint records add up to that of their union.
func (s Side) Sums() bool { return s == Moments || s == Cells }
