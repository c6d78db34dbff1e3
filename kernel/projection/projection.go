package projection

import (
	"fmt"
	"math"
)

// Family names a distribution of R. Each has a file with its definition.
type Family string

// MaxK is the largest dimension of a projected vector.
const MaxK = 1 << 24

// Spec describes a projection matrix up to its seed.
type Spec struct {
	Family Family
	K      int // dimension of a projected vector
	S      int // Sparse: non-zeros in a row; 0 for the other families
}

// String names the projection, as in "sparse k=1024 s=1".
func (s Spec) String() string {
	if s.Family == Sparse {
		return fmt.Sprintf("%s k=%d s=%d", s.Family, s.K, s.S)
	}
	return fmt.Sprintf("%s k=%d", s.Family, s.K)
}

// Validate refuses an unknown family, a K outside 1 to MaxK, and an S that does
// not fit the family.
func (s Spec) Validate() error {
	f, err := s.family()
	if err != nil {
		return err
	}
	if s.K < 1 || s.K > MaxK {
		return fmt.Errorf("projection %s: k must be between 1 and %d", s, MaxK)
	}
	if err := f.check(s); err != nil {
		return fmt.Errorf("projection %s: %w", s, err)
	}
	return nil
}

// Scale returns the real factor that the integer rows lack: E[⟨xR, yR⟩] of the
// integer rows times Scale² is ⟨x, y⟩. It is applied after release.
// The spec is valid.
func (s Spec) Scale() float64 {
	if f, err := s.family(); err == nil {
		if u, ok := f.(uneven); ok {
			return u.scale(s)
		}
	}
	return 1 / math.Sqrt(float64(s.RowL2Squared()))
}

// RowL1 returns the exact ℓ1 norm of every integer row, or of the longest possible one
// where rows differ: the ℓ1 sensitivity to a change of one entry by one unit.
// The spec is valid.
//
// Rows differ for Achlioptas and Gaussian. The sensitivity is then not that of the rows
// that were drawn, although parties know these: it must be the same for an aggregator
// that plans without the seed, and for every R, as R counts as public.
func (s Spec) RowL1() int64 { return s.norms().l1 }

// RowL2Squared returns the exact squared ℓ2 norm of every integer row, or of the
// longest possible one where rows differ: the squared ℓ2 sensitivity to a change of
// one entry by one unit. The spec is valid.
func (s Spec) RowL2Squared() int64 { return s.norms().l2Squared }

// LongestRow returns how many times as long as usual a row of R can be: the length that
// noise has to cover over the root of the mean squared one. It is 1 where all rows are
// equally long, whatever K and S are.
func (s Spec) LongestRow() float64 {
	one := Spec{Family: s.Family, K: 1, S: 1}
	return math.Sqrt(float64(one.RowL2Squared())) * one.Scale()
}

// OrthogonalRows reports whether the rows of d columns on the records side are
// exactly orthogonal: Identity, and Hadamard that keeps all of its columns. The
// projection then is a rotation, and loses nothing. The spec is valid.
func (s Spec) OrthogonalRows(d int) bool {
	return s.Family == Identity || s.Family == Hadamard && s.K == HadamardSize(d)
}

// LargestRecordCount returns how many rows of R, each times an entry of absolute
// value at most largest, may be added before an int64 sum can reach 2^62. On the
// columns side that is a number of records, on the records side a number of
// columns. With entries of up to 14 bits that is 2^48 for signs and zeros, and 2^33 for
// Gaussian. Package sketch refuses more. The spec is valid; a largest below 1 counts as 1.
func (s Spec) LargestRecordCount(largest int64) int64 {
	return (1<<62 - 1) / max(largest, 1) / s.norms().largest
}

// ServesColumns reports whether the family has rows for records, as New needs.
func (s Spec) ServesColumns() bool {
	f, err := s.family()
	return err == nil && f.about().Columns
}

func (s Spec) norms() norms {
	f, err := s.family()
	if err != nil {
		return norms{l1: 1, l2Squared: 1, largest: 1}
	}
	return f.norms(s)
}
